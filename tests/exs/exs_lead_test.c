/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which thread does the work of connections: waiting threads of the program, the library's thread
 * if none waits, and no thread if there is no connection. One connection that alone is busy does
 * not keep others from being served. Where the program leads all the time, the library's thread
 * rests.
 */
#include "exs_kit.h"

#include "support/time_limit.h"

#include <dirent.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS  300
#define THREADS 3

/* ---- Nobody waits --------------------------------------------------------------------------- */

/* The program sleeps in poll, as with its own event loop. */
static void test_descriptor(void)
{
    exs_qhandle_t queue = exs_qcreate(4);
    const struct timeval none = {0, 0};
    struct pollfd descriptor = {.fd = exs_qfd(queue), .events = POLLIN};
    struct exs_pair pair;
    exs_event_t event;
    char octet = 0;

    CHECK(descriptor.fd >= 0);
    exs_pair_open(&pair, SOCK_STREAM);
    for (char i = 1; i <= 20; i++) {
        CHECK_STARTS(exs_recv(pair.server, &octet, 1, 0, queue, NULL, EXS_MHANDLE_UNREGISTERED));
        CHECK_STARTS(
            exs_send(pair.client, &i, 1, EXS_UNSIGNALED, NULL, NULL, EXS_MHANDLE_UNREGISTERED));
        CHECK_RESULT(1, poll(&descriptor, 1, 20000));
        CHECK_RESULT(1, exs_qdequeue(queue, &event, 1, &none));
        CHECK(event.exs_evt_errno == 0 && octet == i);
    }
    exs_pair_close(&pair);
    CHECK_STARTS(exs_qdelete(queue));
}

/* ---- Several wait --------------------------------------------------------------------------- */

struct end {
    int fd;
    bool first;
    int wait;
};

static void *play(void *argument)
{
    const struct end *end = argument;
    exs_qhandle_t queue = exs_qcreate(4);
    int ball = 0;

    CHECK(queue != EXS_QHANDLE_INVALID);
    CHECK_STARTS(exs_qmodify(queue, EXS_QATTR_WAIT, end->wait));
    for (int i = 0; i < ROUNDS; i++) {
        if (end->first || i > 0)
            CHECK_STARTS(exs_send(end->fd, &i, sizeof(i), EXS_UNSIGNALED | EXS_CREDIT_WAIT, NULL,
                                  NULL, EXS_MHANDLE_UNREGISTERED));
        CHECK_STARTS(exs_recv(end->fd, &ball, sizeof(ball), MSG_WAITALL, queue, NULL,
                              EXS_MHANDLE_UNREGISTERED));
        (void)exs_kit_expect(queue, EXS_EVT_RECV, 0);
        CHECK_EQ(end->first ? i + 1 : i, ball);
    }
    if (!end->first)
        CHECK_RESULT(sizeof(int), exs_write(end->fd, &(int){ROUNDS}, sizeof(int)));
    CHECK_STARTS(exs_qdelete(queue));
    return NULL;
}

/* Each thread waits for a peer in another thread. The thread that leads does the work of all. */
static void test_threads(const int *waits)
{
    struct exs_pair pairs[THREADS];
    struct end ends[2 * THREADS];
    pthread_t threads[2 * THREADS];

    for (int i = 0; i < 2 * THREADS; i++) {
        if (i % 2 == 0)
            exs_pair_open(&pairs[i / 2], SOCK_STREAM);
        ends[i] = (struct end){.fd = i % 2 ? pairs[i / 2].server : pairs[i / 2].client,
                               .first = i % 2 == 0,
                               .wait = waits[i / 2]};
    }
    for (int i = 0; i < 2 * THREADS; i++)
        CHECK_EQ(0, pthread_create(&threads[i], NULL, play, &ends[i]));
    for (int i = 0; i < 2 * THREADS; i++)
        CHECK_EQ(0, pthread_join(threads[i], NULL));
    for (int i = 0; i < THREADS; i++)
        exs_pair_close(&pairs[i]);
}

/* ---- One connection is busy ----------------------------------------------------------------- */

/* The peer echoes on two connections. A copy of this process would have only one of its threads. */
static void echo(int port)
{
    struct sockaddr_in address = exs_kit_address(port);
    exs_qhandle_t queue = exs_qcreate(4);
    int fds[2];
    char octets[2];

    for (int i = 0; i < 2; i++) {
        fds[i] = exs_socket(PF_INET, SOCK_STREAM, 0);
        CHECK_STARTS(exs_blocking_connect(fds[i], (struct sockaddr *)&address, sizeof(address)));
        CHECK_STARTS(exs_recv(fds[i], &octets[i], 1, 0, queue, (void *)(intptr_t)i,
                              EXS_MHANDLE_UNREGISTERED));
    }
    for (;;) {
        exs_event_t event = exs_kit_expect(queue, EXS_EVT_RECV, 0);
        int i = (int)(intptr_t)event.exs_evt_ahandle;

        if (event.exs_evt_union.exs_evt_xfer.exs_evt_length == 0)
            _exit(0);
        CHECK_STARTS(
            exs_send(fds[i], &octets[i], 1, EXS_UNSIGNALED, NULL, NULL, EXS_MHANDLE_UNREGISTERED));
        CHECK_STARTS(exs_recv(fds[i], &octets[i], 1, 0, queue, (void *)(intptr_t)i,
                              EXS_MHANDLE_UNREGISTERED));
    }
}

static pid_t start_echo(int port)
{
    char text[20];
    pid_t child = fork();

    CHECK(child >= 0);
    if (child > 0)
        return child;
    (void)snprintf(text, sizeof(text), "%d", port);
    (void)execl("/proc/self/exe", "echo", text, NULL);
    _exit(127);
}

static void start_round(int fd, exs_qhandle_t queue)
{
    static char sent = 7;
    static char received[2];

    CHECK_STARTS(exs_recv(fd, &received[fd % 2], 1, 0, queue, (void *)(intptr_t)fd,
                          EXS_MHANDLE_UNREGISTERED));
    CHECK_STARTS(exs_send(fd, &sent, 1, EXS_UNSIGNALED, NULL, NULL, EXS_MHANDLE_UNREGISTERED));
}

/* Ping-pongs: the leader polls the only busy connection by itself. */
static void keep_busy(int fd, exs_qhandle_t queue)
{
    exs_event_t event;

    for (int i = 0; i < ROUNDS; i++) {
        start_round(fd, queue);
        event = exs_kit_expect(queue, EXS_EVT_RECV, 0);
        CHECK_EQ(fd, event.exs_evt_socket);
    }
}

/* After one connection was busy, the other one is served, as is a thread that sleeps. */
static void test_alone(int wait)
{
    const struct timeval short_time = {0, 20000};
    exs_qhandle_t queue = exs_qcreate(4);
    int port;
    int listener = exs_kit_listen(SOCK_STREAM, &port);
    pid_t child = start_echo(port);
    exs_event_t event;
    int fds[2];

    CHECK_STARTS(exs_qmodify(queue, EXS_QATTR_WAIT, wait));
    for (int i = 0; i < 2; i++)
        fds[i] = exs_blocking_accept(listener, NULL, NULL);
    for (int i = 0; i < 4; i++) {
        keep_busy(fds[i % 2], queue);
        start_round(fds[(i + 1) % 2], queue);
        event = exs_kit_expect(queue, EXS_EVT_RECV, 0);
        CHECK_EQ(fds[(i + 1) % 2], event.exs_evt_socket);
        keep_busy(fds[i % 2], queue);
        CHECK_RESULT(0, exs_qdequeue(queue, &event, 1, &short_time));
        start_round(fds[i % 2], queue);
        (void)exs_kit_expect(queue, EXS_EVT_RECV, 0);
    }
    keep_busy(fds[0], queue);
    CHECK_STARTS(exs_close(fds[0], EXS_BLOCK, EXS_QHANDLE_INVALID, NULL));
    CHECK_EQ(child, waitpid(child, NULL, 0));
    CHECK_STARTS(exs_close(fds[1], EXS_BLOCK | EXS_DONTLINGER, EXS_QHANDLE_INVALID, NULL));
    CHECK_STARTS(exs_blocking_close(listener));
    CHECK_STARTS(exs_qdelete(queue));
}

/* ---- Nothing happens ------------------------------------------------------------------------ */

static long switches(void)
{
    struct rusage usage;

    CHECK_STARTS(getrusage(RUSAGE_SELF, &usage));
    return usage.ru_nvcsw;
}

/* A thread that polled every millisecond would wake some 500 times. */
static void test_silence(void)
{
    exs_qhandle_t queue = exs_qcreate(4);
    const struct timeval half_a_second = {0, 500000};
    struct exs_pair pair;
    exs_event_t event;
    long before;

    exs_pair_open(&pair, SOCK_STREAM);
    before = switches();
    CHECK_RESULT(0, exs_qdequeue(queue, &event, 1, &half_a_second));
    CHECK(switches() - before < 200);
    exs_pair_close(&pair);
    CHECK_STARTS(exs_qdelete(queue));
}

/* ---- The program leads all the time --------------------------------------------------------- */

static uint64_t now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Returns how often the library's own thread has slept: neither this one nor the IA's. */
static long service_sleeps(void)
{
    DIR *tasks = opendir("/proc/self/task");
    const struct dirent *task;
    long sleeps = -1;

    CHECK(tasks);
    while ((task = readdir(tasks)) != NULL) {
        char path[300], name[32] = "", line[128];
        FILE *file;
        long found = -1;

        (void)snprintf(path, sizeof(path), "/proc/self/task/%s/status", task->d_name);
        file = atoi(task->d_name) != getpid() ? fopen(path, "re") : NULL;
        while (file && fgets(line, sizeof(line), file))
            if (sscanf(line, "Name: %31s", name) != 1)
                (void)sscanf(line, "voluntary_ctxt_switches: %ld", &found);
        if (file)
            (void)fclose(file);
        if (found >= 0 && strncmp(name, "itapi:", 6) != 0)
            sleeps = found;
    }
    (void)closedir(tasks);
    return sleeps;
}

/*
 * Each look of the library's thread costs this one a switch, so there is less than one in two
 * milliseconds. Where other programs take the processor, some windows have more.
 */
static void test_rest(void)
{
    exs_qhandle_t queue = exs_qcreate(4);
    const struct timeval none = {0, 0};
    uint64_t limit = now_ns() + (uint64_t)time_limit_ms(20000) * 1000000;
    struct exs_pair pair;
    uint64_t begin, now;
    exs_event_t event;
    long before;

    exs_pair_open(&pair, SOCK_STREAM);
    do {
        CHECK((begin = now_ns()) < limit);
        before = service_sleeps();
        CHECK(before >= 0);
        do {
            CHECK_RESULT(0, exs_qdequeue(queue, &event, 1, &none));
            now = now_ns();
        } while (now - begin < 100000000);
    } while (service_sleeps() - before > (long)((now - begin) / 2000000));
    exs_pair_close(&pair);
    CHECK_STARTS(exs_qdelete(queue));
}

int main(int argc, char **argv)
{
    CHECK_STARTS(exs_init(EXS_VERSION1));
    if (argc == 2)
        echo(atoi(argv[1]));
    test_descriptor();
    test_threads((const int[]){EXS_WAIT_ADAPTIVE, EXS_WAIT_ADAPTIVE, EXS_WAIT_ADAPTIVE});
    test_threads((const int[]){EXS_WAIT_ADAPTIVE, EXS_WAIT_NOTIFY, EXS_WAIT_NOTIFY});
    test_threads((const int[]){EXS_WAIT_BUSY_POLL, EXS_WAIT_ADAPTIVE, EXS_WAIT_NOTIFY});
    test_alone(EXS_WAIT_BUSY_POLL);
    test_alone(EXS_WAIT_ADAPTIVE);
    test_silence();
    test_rest();
    return 0;
}
