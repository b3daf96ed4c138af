/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process forks, and its connections go on by themselves: for those who only wait for data, and
 * for octets that are still to be sent.
 */
#include "hooks/sdp_hooks_kit.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define WAIT_MS 5000

static char buffer[1 << 16];
static pid_t idle_child;

/* ---- Waiting -------------------------------------------------------------------------------- */

/* Forks a child that keeps its copies and uses none. */
static void fork_idle(void)
{
    idle_child = fork();
    if (idle_child == 0)
        for (;;)
            (void)pause();
}

static void end_idle(void)
{
    (void)kill(idle_child, SIGKILL);
    (void)waitpid(idle_child, NULL, 0);
}

static int set_with(int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = 5};
    int set = epoll_create1(EPOLL_CLOEXEC);

    SAY(epoll_ctl(set, EPOLL_CTL_ADD, fd, &event));
    return set;
}

static void say_event(const char *what, int set, int limit_ms)
{
    struct epoll_event event = {0, {.u64 = 0}};
    int result = epoll_wait(set, &event, 1, limit_ms);

    sdp_hooks_note("%s: %d %#x %llu", what, result, event.events,
                   (unsigned long long)event.data.u64);
}

static void exchange(const struct sdp_hooks_pair *pair)
{
    SAY(send(pair->client, "ab", 2, 0));
    SAY(recv(pair->server, buffer, 2, MSG_WAITALL));
}

/* As a server with an event loop that saves its data in a child. */
static void set_waits(void)
{
    struct sdp_hooks_pair pair;
    int set;

    sdp_hooks_open(&pair);
    exchange(&pair);
    set = set_with(pair.server);
    fork_idle();
    SAY(send(pair.client, "x", 1, 0));
    say_event("the set", set, WAIT_MS);
    SAY(recv(pair.server, buffer, 2, 0));
    end_idle();
    SAY(close(set));
    sdp_hooks_close(&pair);
}

/* A loop that never sleeps. */
static void set_is_asked(void)
{
    struct sdp_hooks_pair pair;
    struct epoll_event event;
    int count = 0;
    int set;

    sdp_hooks_open(&pair);
    exchange(&pair);
    set = set_with(pair.server);
    fork_idle();
    SAY(send(pair.client, "x", 1, 0));
    for (int i = 0; i < WAIT_MS && count == 0; i++) {
        count = epoll_wait(set, &event, 1, 0);
        (void)poll(NULL, 0, count == 0);
    }
    sdp_hooks_note("%d", count);
    SAY(recv(pair.server, buffer, 2, 0));
    end_idle();
    SAY(close(set));
    sdp_hooks_close(&pair);
}

static void set_in_set_waits(void)
{
    struct sdp_hooks_pair pair;
    int inner;
    int outer;

    sdp_hooks_open(&pair);
    exchange(&pair);
    inner = set_with(pair.server);
    outer = set_with(inner);
    fork_idle();
    SAY(send(pair.client, "x", 1, 0));
    say_event("the outer set", outer, WAIT_MS);
    SAY(recv(pair.server, buffer, 2, 0));
    end_idle();
    SAY(close(outer));
    SAY(close(inner));
    sdp_hooks_close(&pair);
}

static void polled_set(void)
{
    struct sdp_hooks_pair pair;
    int set;

    sdp_hooks_open(&pair);
    exchange(&pair);
    set = set_with(pair.server);
    fork_idle();
    SAY(send(pair.client, "x", 1, 0));
    sdp_hooks_await("the set", set, POLLIN, POLLIN);
    end_idle();
    SAY(close(set));
    sdp_hooks_close(&pair);
}

/* ---- Threads that sleep while another one forks ---------------------------------------------- */

struct sleeper {
    int fd;
    bool is_set;
    _Atomic pid_t thread;
    int result;
};

static void *sleep_on(void *argument)
{
    struct sleeper *sleeper = argument;
    struct pollfd polls = {.fd = sleeper->fd, .events = POLLIN};
    struct epoll_event event;

    sleeper->thread = gettid();
    sleeper->result =
        sleeper->is_set ? epoll_wait(sleeper->fd, &event, 1, -1) : poll(&polls, 1, -1);
    return NULL;
}

/* Three of them: one does the work of the connections, and the others sleep without it. */
static void sleepers_go_on(void)
{
    struct sdp_hooks_pair pairs[3];
    struct sleeper sleepers[3] = {{.is_set = false}, {.is_set = true}, {.is_set = false}};
    pthread_t threads[3];

    for (unsigned i = 0; i < 3; i++) {
        sdp_hooks_open(&pairs[i]);
        exchange(&pairs[i]);
        sleepers[i].fd = sleepers[i].is_set ? set_with(pairs[i].server) : pairs[i].server;
        (void)pthread_create(&threads[i], NULL, sleep_on, &sleepers[i]);
        sdp_hooks_await_asleep(&sleepers[i].thread);
    }
    fork_idle();
    for (unsigned i = 0; i < 3; i++)
        SAY(send(pairs[i].client, "x", 1, 0));
    for (unsigned i = 0; i < 3; i++) {
        (void)pthread_join(threads[i], NULL);
        sdp_hooks_note("%d", sleepers[i].result);
    }
    end_idle();
    SAY(close(sleepers[1].fd));
    for (unsigned i = 0; i < 3; i++)
        sdp_hooks_close(&pairs[i]);
}

static void signal_comes(void)
{
    const struct timespec limit = {.tv_sec = WAIT_MS / 1000};
    struct sdp_hooks_pair pair;
    sigset_t io;

    (void)sigemptyset(&io);
    (void)sigaddset(&io, SIGIO);
    (void)sigprocmask(SIG_BLOCK, &io, NULL);
    sdp_hooks_open(&pair);
    exchange(&pair);
    SAY(fcntl(pair.server, F_SETOWN, getpid()));
    SAY(fcntl(pair.server, F_SETFL, O_ASYNC | O_NONBLOCK));
    fork_idle();
    while (sigtimedwait(&io, NULL, &(struct timespec){0}) > 0)
        continue; /* those from before */
    SAY(send(pair.client, "x", 1, 0));
    sdp_hooks_note("%d", sigtimedwait(&io, NULL, &limit) == SIGIO);
    end_idle();
    sdp_hooks_close(&pair);
}

/* ---- Octets that wait ------------------------------------------------------------------------ */

enum act {
    NOTHING, /* it is not forked at all */
    SLEEPS,
    CLOSES, /* and sleeps */
    ENDS,
    CLOSES_AND_ENDS,
    BECOMES_ANOTHER
};

/* Three processes: a writer with a child, and a reader that reads late. */
struct late {
    struct sdp_hooks_pair pair;
    int told[2]; /* a pipe from the writer, which carries a struct written */
    int go[2];   /* and one to the reader, which carries the number of octets */
    bool shuts;
    enum act child;
    enum act parent;
};

struct written {
    size_t total;
    pid_t child;
};

static char octet_at(size_t position)
{
    return (char)(position * 31 + position / 4099);
}

static void read_late(const struct late *late)
{
    size_t total = 0;
    size_t got = 0;
    size_t good = 0;
    ssize_t result = 1;

    (void)!recv(late->pair.client, buffer, 1, 0);
    (void)close(late->pair.server);
    (void)!read(late->go[0], &total, sizeof(total));
    while (got < total && (result = recv(late->pair.client, buffer, sizeof(buffer), 0)) > 0)
        for (ssize_t i = 0; i < result; i++, got++)
            good += buffer[i] == octet_at(got);
    if (got < total)
        sdp_hooks_say("receive", result);
    sdp_hooks_note("%s, %s", got == total ? "all octets" : "octets are missing",
                   good == got ? "right" : "wrong");
    if (late->shuts)
        sdp_hooks_note("the end: %d", (int)recv(late->pair.client, buffer, 1, 0));
    _exit(0);
}

/* Writes until there has been no room for a while. */
static size_t fill(int fd)
{
    struct pollfd polls = {.fd = fd, .events = POLLOUT};
    size_t total = 0;

    while (poll(&polls, 1, 100) == 1) {
        ssize_t sent;

        for (size_t i = 0; i < sizeof(buffer); i++)
            buffer[i] = octet_at(total + i);
        sent = send(fd, buffer, sizeof(buffer), MSG_DONTWAIT);
        total += sent > 0 ? (size_t)sent : 0;
    }
    return total;
}

static void do_act(enum act act, int fd)
{
    if (act == CLOSES || act == CLOSES_AND_ENDS)
        (void)close(fd);
    if (act == BECOMES_ANOTHER)
        (void)execlp("true", "true", (char *)NULL);
    if (act == ENDS || act == CLOSES_AND_ENDS)
        exit(0);
    for (;;)
        (void)pause();
}

static void write_early(const struct late *late)
{
    struct written written = {.child = -1};
    int fd = late->pair.server;
    int status;

    (void)close(late->pair.client);
    (void)!send(fd, "x", 1, 0);
    written.total = fill(fd);
    if (late->shuts)
        (void)shutdown(fd, SHUT_WR);
    if (late->child != NOTHING)
        written.child = fork();
    if (written.child == 0)
        do_act(late->child, fd);
    if (late->child > CLOSES)
        (void)waitpid(written.child, &status, 0);
    (void)!write(late->told[1], &written, sizeof(written));
    do_act(late->parent, fd);
}

static void end_reader(pid_t reader)
{
    struct pollfd polls = {.fd = (int)syscall(SYS_pidfd_open, reader, 0), .events = POLLIN};

    if (poll(&polls, 1, 2 * WAIT_MS) != 1)
        sdp_hooks_note("the reader hangs");
    (void)close(polls.fd);
    (void)kill(reader, SIGKILL);
    (void)waitpid(reader, NULL, 0);
}

/* The scene says whether the reader gets all. */
static void pass_late(struct late late)
{
    struct written written = {.child = -1};
    pid_t reader;
    pid_t writer;

    sdp_hooks_open(&late.pair);
    (void)!(pipe(late.go) + pipe(late.told));
    reader = fork();
    if (reader == 0)
        read_late(&late);
    writer = fork();
    if (writer == 0)
        write_early(&late);
    sdp_hooks_close(&late.pair);
    (void)!read(late.told[0], &written, sizeof(written));
    if (late.parent > CLOSES)
        (void)waitpid(writer, NULL, 0);
    (void)!write(late.go[1], &written.total, sizeof(written.total));
    end_reader(reader);
    if (late.parent <= CLOSES) {
        (void)kill(writer, SIGKILL);
        (void)waitpid(writer, NULL, 0);
    }
    if (late.child != NOTHING && late.child <= CLOSES)
        (void)kill(written.child, SIGKILL);
}

static void both_sleep(void)
{
    pass_late((struct late){.child = SLEEPS, .parent = SLEEPS});
}

static void shut_before(void)
{
    pass_late((struct late){.shuts = true, .child = SLEEPS, .parent = SLEEPS});
}

static void parent_closes(void)
{
    pass_late((struct late){.child = SLEEPS, .parent = CLOSES});
}

static void child_closes(void)
{
    pass_late((struct late){.child = CLOSES, .parent = SLEEPS});
}

static void both_close(void)
{
    pass_late((struct late){.shuts = true, .child = CLOSES_AND_ENDS, .parent = CLOSES});
}

static void both_end(void)
{
    pass_late((struct late){.shuts = true, .child = ENDS, .parent = ENDS});
}

static void parent_ends(void)
{
    pass_late((struct late){.child = SLEEPS, .parent = ENDS});
}

static void child_ends(void)
{
    pass_late((struct late){.child = ENDS, .parent = SLEEPS});
}

static void child_is_another(void)
{
    pass_late((struct late){.child = BECOMES_ANOTHER, .parent = SLEEPS});
}

static void parent_is_another(void)
{
    pass_late((struct late){.child = SLEEPS, .parent = BECOMES_ANOTHER});
}

/* No fork. As with TCP, the peer gets all, however late it reads. */
static void writer_ends(void)
{
    pass_late((struct late){.shuts = true, .child = NOTHING, .parent = ENDS});
}

static void writer_closes(void)
{
    pass_late((struct late){.child = NOTHING, .parent = CLOSES_AND_ENDS});
}

static void writer_is_another(void)
{
    pass_late((struct late){.child = NOTHING, .parent = BECOMES_ANOTHER});
}

const struct sdp_hooks_named sdp_hooks_forks[] = {{"set_waits", set_waits},
                                                  {"set_is_asked", set_is_asked},
                                                  {"set_in_set_waits", set_in_set_waits},
                                                  {"polled_set", polled_set},
                                                  {"sleepers_go_on", sleepers_go_on},
                                                  {"signal_comes", signal_comes},
                                                  {"both_sleep", both_sleep},
                                                  {"shut_before", shut_before},
                                                  {"parent_closes", parent_closes},
                                                  {"child_closes", child_closes},
                                                  {"both_close", both_close},
                                                  {"both_end", both_end},
                                                  {"parent_ends", parent_ends},
                                                  {"child_ends", child_ends},
                                                  {"child_is_another", child_is_another},
                                                  {"parent_is_another", parent_is_another},
                                                  {"writer_ends", writer_ends},
                                                  {"writer_closes", writer_closes},
                                                  {"writer_is_another", writer_is_another},
                                                  {NULL, NULL}};
