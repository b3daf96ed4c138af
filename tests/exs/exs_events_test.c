/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each started call has exactly one event, however it ends: sends, receives, messages, files and
 * polls in random order that are cancelled, shut down or closed while they are open, by both ends
 * or by a peer that is killed. Afterwards nothing refers to queue and memory.
 */
#include "exs_kit.h"
#include "support/time_limit.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALLS  400
#define LARGE  100000
#define MEMORY ((size_t)LARGE * (CALLS + 1))
#define LONG   1000 /* rounds with ITAPI_TEST_LONG */
#ifdef __SANITIZE_THREAD__
#define ROUNDS 6
#else
#define ROUNDS 40
#endif

/* A call from its start to its event. */
struct call {
    int type;
    int events;
    bool quiet; /* success raises no event */
    bool started;
    exs_iovec_t pieces[2];
    exs_msghdr_t message;
    exs_xferfile_t file;
    exs_pollfd_t set;
};

struct storm {
    exs_qhandle_t queue;
    exs_mhandle_t mhandle;
    char *memory; /* the data that all send, and room for each call */
    int file;
    struct call calls[CALLS];
    int count;
    int owed; /* number of events of calls that are not quiet */
    unsigned seed;
};

static unsigned draw(struct storm *storm, unsigned below)
{
    storm->seed = storm->seed * 1103515245U + 12345U;
    return (storm->seed >> 8) % below;
}

/* ---- Calls ---------------------------------------------------------------------------------- */

static size_t draw_length(struct storm *storm)
{
    switch (draw(storm, 4)) {
    case 0:
        return draw(storm, 3);
    case 1:
        return draw(storm, 3000);
    default:
        return draw(storm, LARGE);
    }
}

static ssize_t start(struct storm *storm, int fd, struct call *call)
{
    const struct timeval limit = {0, (suseconds_t)draw(storm, 3000)};
    exs_mhandle_t mhandle = draw(storm, 2) ? storm->mhandle : EXS_MHANDLE_UNREGISTERED;
    int flags = call->quiet ? EXS_UNSIGNALED : 0;
    size_t length = draw_length(storm);
    char *own = storm->memory + (size_t)(1 + storm->count) * LARGE;
    char *at = call->type == EXS_EVT_SENDMSG ? storm->memory : own;

    switch (call->type) {
    case EXS_EVT_SEND:
        return exs_send(fd, storm->memory, length, flags, storm->queue, call, mhandle);
    case EXS_EVT_RECV:
        flags |= draw(storm, 3) ? 0 : MSG_WAITALL;
        return exs_recv(fd, own, length, flags, storm->queue, call, mhandle);
    case EXS_EVT_SENDMSG:
    case EXS_EVT_RECVMSG:
        call->pieces[0] = (exs_iovec_t){at, length / 3, mhandle};
        call->pieces[1] = (exs_iovec_t){at + length / 3, length / 2, mhandle};
        call->message = (exs_msghdr_t){.exs_msg_iov = call->pieces, .exs_msg_iovlen = 2};
        if (call->type == EXS_EVT_SENDMSG)
            return exs_sendmsg(fd, &call->message, flags, storm->queue, call);
        return exs_recvmsg(fd, &call->message, flags, storm->queue, call);
    case EXS_EVT_SENDFILE:
        call->file = (exs_xferfile_t){EXS_FDVEC, {.exs_fdv = {storm->file, draw(storm, LARGE), 0}}};
        return exs_sendfile(fd, &call->file, 1, flags, storm->queue, call);
    default:
        call->quiet = false;
        call->set = (exs_pollfd_t){.exs_fd = fd, .exs_events = EXS_POLLIN};
        return exs_poll(&call->set, 1, 0, draw(storm, 2) ? &limit : NULL, storm->queue, call);
    }
}

/* Returns true for an error with which a call may fail in a storm. */
static bool is_excused(int error)
{
    return error == EBUSY || error == EPIPE || error == ECONNRESET || error == ENOTCONN ||
           error == EBADF;
}

static void start_one(struct storm *storm, int fd)
{
    static const int types[] = {EXS_EVT_SEND,    EXS_EVT_SEND,    EXS_EVT_RECV, EXS_EVT_RECV,
                                EXS_EVT_SENDMSG, EXS_EVT_RECVMSG, EXS_EVT_POLL, EXS_EVT_SENDFILE};
    struct call *call = &storm->calls[storm->count];

    *call = (struct call){.type = types[draw(storm, 8)], .quiet = draw(storm, 5) == 0};
    if (start(storm, fd, call) != 0) {
        if (!is_excused(errno))
            CHECK_FAIL("call %d does not start: %s", call->type, strerror(errno));
        return;
    }
    call->started = true;
    storm->count++;
    storm->owed += !call->quiet;
}

/* The shutdown waits for sends that the peer may never read. */
static void start_shutdown(struct storm *storm, int fd)
{
    struct call *call = &storm->calls[storm->count];

    *call = (struct call){.type = EXS_EVT_SHUTDOWN, .started = true};
    CHECK_STARTS(exs_shutdown(fd, SHUT_RDWR, 0, storm->queue, call));
    storm->count++;
    storm->owed++;
}

static void act(struct storm *storm, int fd)
{
    unsigned what = draw(storm, 40);

    if (what == 0)
        (void)exs_cancel(fd, EXS_CAF_FILDES, NULL);
    else if (what == 1 && storm->count > 0)
        (void)exs_cancel(fd, EXS_CAF_AHANDLE, &storm->calls[draw(storm, (unsigned)storm->count)]);
    else
        start_one(storm, fd);
}

/* ---- The account ---------------------------------------------------------------------------- */

static bool is_kind(const struct call *call, int type)
{
    return type == call->type || (type == EXS_EVT_SENDTIMEOUT && call->type == EXS_EVT_SEND) ||
           (type == EXS_EVT_RECVTIMEOUT && call->type == EXS_EVT_RECV);
}

static void settle(struct storm *storm, const exs_event_t *event)
{
    struct call *call = event->exs_evt_ahandle;

    CHECK(call >= storm->calls && call < storm->calls + storm->count);
    CHECK(call->started && is_kind(call, event->exs_evt_type));
    CHECK_EQ(0, call->events);
    call->events++;
    if (call->quiet)
        CHECK(event->exs_evt_errno != 0);
    else
        storm->owed--;
}

static void take_some(struct storm *storm)
{
    const struct timeval none = {0, 0};
    exs_event_t events[8];
    int count = exs_qdequeue(storm->queue, events, 8, &none);

    CHECK(count >= 0);
    for (int i = 0; i < count; i++)
        settle(storm, &events[i]);
}

/*
 * Takes all owed events. Then nothing refers to queue and memory. A quiet call ends without an
 * event, so that may happen a moment later.
 */
static void take_all(struct storm *storm)
{
    int limit_ms = time_limit_ms(10000);

    while (storm->owed > 0) {
        exs_event_t event = exs_kit_event(storm->queue);

        settle(storm, &event);
    }
    for (take_some(storm); exs_qdelete(storm->queue) != 0; take_some(storm)) {
        CHECK_EQ(EBUSY, errno);
        CHECK(limit_ms-- > 0);
        (void)usleep(1000);
    }
    CHECK_EQ(0, storm->owed);
    CHECK_STARTS(exs_mderegister(storm->mhandle, 0));
}

/* ---- Storms --------------------------------------------------------------------------------- */

static void open_storm(struct storm *storm, unsigned seed)
{
    storm->seed = seed;
    storm->count = storm->owed = 0;
    storm->queue = exs_qcreate(1);
    storm->mhandle = exs_mregister(storm->memory, MEMORY, 0);
    CHECK(storm->queue != EXS_QHANDLE_INVALID && storm->mhandle != EXS_MHANDLE_INVALID);
}

static void end_blocking(struct storm *storm, int fd)
{
    int flags = EXS_BLOCK | (draw(storm, 2) ? EXS_DONTLINGER : 0);

    /* The other end's close may have reset this socket. It is closed anyway. */
    if (exs_close(fd, flags, EXS_QHANDLE_INVALID, NULL) != 0)
        CHECK_EQ(ECONNRESET, errno);
}

/*
 * Both ends are in this process. One may be shut down first. Both are closed in the middle of the
 * storm.
 */
static void test_both(struct storm *storm, unsigned seed, int type)
{
    struct exs_pair pair;
    int shut = -1;

    open_storm(storm, seed);
    exs_pair_open(&pair, type);
    if (draw(storm, 3) == 0)
        shut = (int)draw(storm, CALLS);
    for (int i = 0; i < 2 * CALLS && storm->count < CALLS; i++) {
        act(storm, draw(storm, 2) ? pair.client : pair.server);
        if (i == shut)
            start_shutdown(storm, pair.client);
        if (draw(storm, 3) == 0)
            take_some(storm);
    }
    /* Lingering would need a peer that receives, but the other end does not. */
    CHECK_STARTS(exs_close(pair.client, EXS_BLOCK | EXS_DONTLINGER, EXS_QHANDLE_INVALID, NULL));
    end_blocking(storm, pair.server);
    CHECK_STARTS(exs_blocking_close(pair.listener));
    take_all(storm);
}

/* The other end is a process that does the same until it is killed. */
static void peer_process(struct storm *storm, int port, int type)
{
    struct sockaddr_in address = exs_kit_address(port);
    int fd;

    CHECK_STARTS(exs_init(EXS_VERSION1));
    open_storm(storm, (unsigned)port);
    fd = exs_socket(PF_INET, type, 0);
    CHECK_STARTS(exs_blocking_connect(fd, (struct sockaddr *)&address, sizeof(address)));
    for (;;) {
        if (storm->count == CALLS)
            (void)pause();
        act(storm, fd);
        take_some(storm);
    }
}

/* Starts a separate program: a copy of this process would have only one of its threads. */
static pid_t start_peer(int port, int type)
{
    char port_text[20];
    char type_text[20];
    pid_t child = fork();

    CHECK(child >= 0);
    if (child > 0)
        return child;
    (void)snprintf(port_text, sizeof(port_text), "%d", port);
    (void)snprintf(type_text, sizeof(type_text), "%d", type);
    (void)execl("/proc/self/exe", "peer", port_text, type_text, NULL);
    _exit(127);
}

static void test_killed(struct storm *storm, unsigned seed, int type)
{
    int port;
    int listener = exs_kit_listen(type, &port);
    pid_t child = start_peer(port, type);
    int fd;

    open_storm(storm, seed);
    fd = exs_blocking_accept(listener, NULL, NULL);
    CHECK(fd >= 0);
    for (unsigned i = 0, last = draw(storm, CALLS); i < last && storm->count < CALLS; i++) {
        act(storm, fd);
        take_some(storm);
    }
    CHECK_STARTS(kill(child, SIGKILL));
    CHECK_EQ(child, waitpid(child, NULL, 0));
    if (draw(storm, 2))
        for (int i = 0; i < 50 && storm->count < CALLS; i++)
            act(storm, fd);
    end_blocking(storm, fd);
    CHECK_STARTS(exs_blocking_close(listener));
    take_all(storm);
}

int main(int argc, char **argv)
{
    static struct storm storm;
    unsigned rounds = getenv("ITAPI_TEST_LONG") ? LONG : exs_kit_slow() ? 4 : ROUNDS;
    char name[40];

    CHECK_STARTS(exs_init(EXS_VERSION1));
    storm.memory = malloc(MEMORY);
    storm.file = memfd_create("file", MFD_CLOEXEC);
    CHECK(storm.memory && ftruncate(storm.file, LARGE) == 0);
    if (argc == 3)
        peer_process(&storm, atoi(argv[1]), atoi(argv[2]));
    for (unsigned i = 0; i < rounds; i++) {
        int type = i % 2 ? SOCK_SEQPACKET : SOCK_STREAM;

        (void)snprintf(name, sizeof(name), "seed %u", i);
        check_context(name);
        test_both(&storm, i, type);
        test_killed(&storm, i + rounds, type);
    }
    free(storm.memory);
    (void)close(storm.file);
    return 0;
}
