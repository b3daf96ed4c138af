/* SPDX-License-Identifier: BSD-2-Clause */
/* Extended Sockets: streams and packets, all kinds of calls, blocking ones too. */
#include "faults/faults_scenario.h"

#include <arpa/inet.h>
#include <errno.h>
#include <exs.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CALLS  512u
#define LARGE  (200u * 1024)
#define FILE_K (64u * 1024)

const enum fault_call scenario_unreached[] = {FAULT_DUPLICATE, FAULT_DATAGRAM, FAULT_CALLS};

const bool scenario_pools = true;
const bool scenario_repeats = true;

static const char *stage = "";
static bool strict;

const char *scenario_stage(void)
{
    return stage;
}

/* ---- Calls and their events ------------------------------------------------------------------ */

/* The failures that exs.h names, as far as a fault of the system or a lost connection explains. */
static const struct find_result documented[] = {
    {NULL, {ENOMEM, 0}},
    {"exs_socket", {EMFILE, ENFILE, ENOBUFS, 0}},
    {"exs_bind", {EADDRINUSE, 0}},
    {"exs_listen", {EADDRINUSE, ENOBUFS, 0}},
    {"exs_accept", {EMFILE, ENFILE, ENOBUFS, ECANCELED, ECONNRESET, 0}},
    {"exs_connect",
     {ECONNREFUSED, ETIMEDOUT, EHOSTUNREACH, ENETUNREACH, ECONNRESET, EPROTO, ENOBUFS, ECANCELED,
      0}},
    {"exs_send", {ENOTCONN, EPIPE, ECONNRESET, ECANCELED, 0}},
    {"exs_recv", {ENOTCONN, ECONNRESET, ECANCELED, 0}},
    {"exs_sendmsg", {ENOTCONN, EPIPE, ECONNRESET, ECANCELED, 0}},
    {"exs_recvmsg", {ENOTCONN, ECONNRESET, ECANCELED, 0}},
    {"exs_sendfile", {ENOTCONN, EPIPE, ECONNRESET, ECANCELED, EIO, EMFILE, ENOENT, ENOSPC, 0}},
    {"exs_poll", {ECANCELED, 0}},
    {"exs_shutdown", {ENOTCONN, ECONNRESET, 0}},
    {"exs_close", {ECONNRESET, 0}},
    {"exs_qdequeue", {EINTR, 0}},
    {"exs_qfd", {EMFILE, ENFILE, 0}},
    {NULL, {0}},
};

/* A started call. */
struct call {
    const char *name;
    bool due;
    unsigned events;
    int error;
    size_t length;
    int socket; /* of an accept */
};

static struct call calls[CALLS];
static unsigned call_count;
static exs_qhandle_t queue;

static void failed(const char *call, int error)
{
    find_failure(call, error, strerror(error), documented, strict);
}

/* Checks a call that returns at once. */
static bool good(const char *call, long result)
{
    if (result != -1)
        return true;
    failed(call, errno);
    return false;
}

static struct call *next_call(const char *name)
{
    struct call *call = &calls[call_count++ % CALLS];

    *call = (struct call){.name = name, .socket = -1};
    return call;
}

/* The call has returned. Returns NULL if no event follows. */
static struct call *started(struct call *call, long result)
{
    call->due = good(call->name, result);
    return call->due ? call : NULL;
}

#define START(function, ...) started_from(#function, function(__VA_ARGS__))
#define HANDLE               ((exs_ahandle_t)next_call(""))

/* For START: the handle was the last one made. */
static struct call *started_from(const char *name, long result)
{
    struct call *call = &calls[(call_count - 1) % CALLS];

    call->name = name;
    return started(call, result);
}

static void take(const exs_event_t *event)
{
    struct call *call = event->exs_evt_ahandle;

    if (call->events++ != 0 || !call->due)
        find_say("%s: event %u, which is not due", call->name, call->events);
    call->due = false;
    call->error = event->exs_evt_errno;
    switch (event->exs_evt_type) {
    case EXS_EVT_ACCEPT:
        call->socket = event->exs_evt_union.exs_evt_accept.exs_evt_new_socket;
        break;
    case EXS_EVT_SENDMSG:
    case EXS_EVT_RECVMSG:
        call->length = event->exs_evt_union.exs_evt_xfermsg.exs_evt_length;
        break;
    case EXS_EVT_SENDFILE:
        call->length = event->exs_evt_union.exs_evt_xferfile.exs_evt_length;
        break;
    default:
        call->length = event->exs_evt_union.exs_evt_xfer.exs_evt_length;
    }
    if (call->error != 0 && call->error != ECANCELED)
        failed(call->name, call->error);
}

static void look(void)
{
    struct timeval time = {0, 5000};
    exs_event_t events[16];
    int count = exs_qdequeue(queue, events, 16, &time);

    if (good("exs_qdequeue", count)) {
        for (int i = 0; i < count; i++)
            take(&events[i]);
    }
}

/* Waits for the event of the call; NULL: there is none. Returns true if it is a success. */
static bool await(const struct call *call)
{
    uint64_t end_us = find_now_us() + find_limit_us();

    while (call && call->due) {
        look();
        if (find_now_us() > end_us) {
            find_say("never: the event of %s", call->name);
            return false;
        }
    }
    return call && call->error == 0;
}

/* Waits for the first event of two accepts. */
static void await_either(const struct call *one, const struct call *other)
{
    uint64_t end_us = find_now_us() + find_limit_us();

    while (one->due && other->due) {
        look();
        if (find_now_us() > end_us) {
            find_say("never: the event of %s", one->name);
            return;
        }
    }
}

static const struct call *bystander_receive; /* outstanding until its send does not fail */

/* All events but that one. */
static bool await_all(void)
{
    for (unsigned i = 0; i < CALLS; i++) {
        if (calls[i].due && &calls[i] != bystander_receive && !await(&calls[i]) && calls[i].due)
            return false;
    }
    return true;
}

/* ---- Sockets --------------------------------------------------------------------------------- */

/* Sockets whose close has failed: closed when no fault is left. */
static int unclosed[64];
static unsigned unclosed_count;

static void close_socket(int fd)
{
    if (fd >= 0 && !START(exs_close, fd, 0, queue, HANDLE) && unclosed_count < 64)
        unclosed[unclosed_count++] = fd;
}

static void close_rest(void)
{
    for (unsigned i = 0; i < unclosed_count; i++) {
        if (exs_close(unclosed[i], EXS_BLOCK | EXS_DONTLINGER, NULL, NULL) != 0)
            find_say("exs_close: %s, and no fault is left", strerror(errno));
    }
    unclosed_count = 0;
}

struct pair {
    int listener, client, server;
};

static bool listen_open(struct pair *pair, int type, struct sockaddr_in *address)
{
    socklen_t length = sizeof(*address);

    pair->listener = exs_socket(PF_INET, type, 0);
    *address =
        (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    return good("exs_socket", pair->listener) &&
           good("exs_bind", exs_bind(pair->listener, (struct sockaddr *)address, length)) &&
           good("exs_listen", exs_listen(pair->listener, 4)) &&
           good("exs_getsockname",
                exs_getsockname(pair->listener, (struct sockaddr *)address, &length));
}

/*
 * A client whose first attempt was lost may connect anew, as an older peer: so two are accepted,
 * and the last one counts. The new attempt may arrive before the first accept has learned of its
 * loss. That accept then waits on, and the other one has the connection.
 */
static bool pair_connect(struct pair *pair, const struct sockaddr_in *address)
{
    exs_acceptaddr_t elements[2] = {{.exs_ahandle = next_call("exs_accept")},
                                    {.exs_ahandle = next_call("exs_accept")}};
    bool accepts = good("exs_accept", exs_accept(pair->listener, elements, 2, 0, queue));
    bool connected;

    if (!accepts)
        return false; /* the client would wait in the backlog */
    for (unsigned i = 0; i < 2; i++)
        ((struct call *)elements[i].exs_ahandle)->due = true;
    connected = await(START(exs_connect, pair->client, (const struct sockaddr *)address,
                            sizeof(*address), 0, NULL, queue, HANDLE));
    if (connected)
        await_either(elements[0].exs_ahandle, elements[1].exs_ahandle);
    (void)good("exs_cancel", exs_cancel(pair->listener, EXS_CAF_FILDES, NULL));
    for (unsigned i = 0; i < 2; i++) {
        if (!await(elements[i].exs_ahandle))
            continue;
        close_socket(pair->server);
        pair->server = ((struct call *)elements[i].exs_ahandle)->socket;
    }
    return connected && pair->server >= 0;
}

static bool pair_open(struct pair *pair, int type)
{
    struct sockaddr_in address;

    *pair = (struct pair){-1, -1, -1};
    if (!listen_open(pair, type, &address))
        return false;
    pair->client = exs_socket(PF_INET, type, 0);
    return good("exs_socket", pair->client) && pair_connect(pair, &address);
}

static void pair_close(const struct pair *pair)
{
    close_socket(pair->client);
    close_socket(pair->server);
    close_socket(pair->listener);
    if (unclosed_count == 0) /* or else their calls end later */
        (void)await_all();
}

/* ---- Traffic --------------------------------------------------------------------------------- */

static unsigned char from[LARGE], to[LARGE];
static exs_mhandle_t from_handle, to_handle;
static int file = -1;
static unsigned seed;

static bool is_right(const struct call *receive, size_t length)
{
    if (receive->length == length && find_is_filled(to, length, seed))
        return true;
    find_say("%s: %zu octets, not the %zu that were sent", receive->name, receive->length, length);
    return false;
}

/* The receive is posted before the send, or behind it. */
static bool move(const struct pair *pair, size_t length, bool first, bool registered)
{
    exs_mhandle_t source = registered ? from_handle : EXS_MHANDLE_UNREGISTERED;
    exs_mhandle_t sink = registered ? to_handle : EXS_MHANDLE_UNREGISTERED;
    struct call *receive = NULL, *send;

    find_fill(from, length, ++seed);
    memset(to, 0, length);
    if (first)
        receive = START(exs_recv, pair->server, to, length, MSG_WAITALL, queue, HANDLE, sink);
    send = START(exs_send, pair->client, from, length, 0, queue, HANDLE, source);
    if (!first)
        receive = START(exs_recv, pair->server, to, length, MSG_WAITALL, queue, HANDLE, sink);
    if (send && !receive) /* a packet waits for a receive */
        (void)exs_cancel(pair->client, EXS_CAF_FILDES, NULL);
    if (!await(send))
        return false;
    return await(receive) && is_right(receive, length);
}

static bool move_vectors(const struct pair *pair)
{
    exs_iovec_t parts[2] = {{from, 100, EXS_MHANDLE_UNREGISTERED},
                            {from + 100, 3000, EXS_MHANDLE_UNREGISTERED}};
    exs_iovec_t whole = {to, 3100, EXS_MHANDLE_UNREGISTERED};
    exs_msghdr_t out = {.exs_msg_iov = parts, .exs_msg_iovlen = 2};
    exs_msghdr_t in = {.exs_msg_iov = &whole, .exs_msg_iovlen = 1};
    struct call *receive, *send;
    bool right;

    find_fill(from, 3100, ++seed);
    receive = START(exs_recvmsg, pair->server, &in, MSG_WAITALL, queue, HANDLE);
    send = START(exs_sendmsg, pair->client, &out, 0, queue, HANDLE);
    right = await(send) && await(receive) && is_right(receive, 3100);
    if (!right) /* the vectors are in use until their events */
        (void)exs_cancel(pair->server, EXS_CAF_FILDES, NULL);
    if (!right)
        (void)exs_cancel(pair->client, EXS_CAF_FILDES, NULL);
    return await_all() && right;
}

static bool move_file(const struct pair *pair)
{
    char path[64];
    exs_xferfile_t parts[2] = {
        {EXS_FDVEC, {.exs_fdv = {file, 0, FILE_K}}},
        {EXS_PATHVEC, {.exs_pathv = {path, 0, FILE_K}}},
    };
    struct call *send, *receive;
    bool right;

    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
    send = START(exs_sendfile, pair->client, parts, 2, 0, queue, HANDLE);
    receive = START(exs_recv, pair->server, to, 2 * FILE_K, MSG_WAITALL, queue, HANDLE,
                    EXS_MHANDLE_UNREGISTERED);
    right = await(send) && await(receive) && receive->length == 2 * FILE_K;
    if (right && (!find_is_filled(to, FILE_K, 77) || !find_is_filled(to + FILE_K, FILE_K, 77)))
        find_say("the file is not what was sent");
    if (!right)
        (void)exs_cancel(pair->client, EXS_CAF_FILDES, NULL);
    (void)await(send);
    return right;
}

/* Ends the poll before its elements leave the stack. */
static bool await_ready(const struct pair *pair, struct call *poll, const struct call *send)
{
    bool sent = await(send);

    if (poll && !sent)
        (void)exs_cancel(pair->server, EXS_CAF_AHANDLE, (exs_ahandle_t)poll);
    return await(poll) && sent;
}

static bool wait_ready(const struct pair *pair)
{
    exs_pollfd_t fds = {.exs_fd = pair->server, .exs_events = EXS_POLLIN};
    struct timeval limit = {5, 0};
    struct call *poll = START(exs_poll, &fds, 1, 0, &limit, queue, HANDLE);
    struct call *receive;

    find_fill(from, 10, ++seed);
    if (!await_ready(
            pair, poll,
            START(exs_send, pair->client, from, 10, 0, queue, HANDLE, EXS_MHANDLE_UNREGISTERED)))
        return false;
    receive = START(exs_recv, pair->server, to, 10, 0, queue, HANDLE, EXS_MHANDLE_UNREGISTERED);
    return await(receive) && is_right(receive, 10);
}

static bool cancel_receive(const struct pair *pair)
{
    struct call *receive =
        START(exs_recv, pair->client, to, 100, 0, queue, HANDLE, EXS_MHANDLE_UNREGISTERED);

    if (receive)
        (void)good("exs_cancel", exs_cancel(pair->client, EXS_CAF_FILDES, NULL));
    (void)await(receive);
    return receive && receive->error == ECANCELED;
}

static bool move_blocking(const struct pair *pair)
{
    ssize_t got;

    find_fill(from, 1000, ++seed);
    memset(to, 0, 1000);
    if (!good("exs_send", exs_write(pair->client, from, 1000)))
        return false;
    got = exs_blocking_recv(pair->server, to, 1000, MSG_WAITALL, EXS_MHANDLE_UNREGISTERED);
    if (!good("exs_recv", got))
        return false;
    if ((strict && got != 1000) || !find_is_filled(to, (size_t)got, seed))
        find_say("exs_blocking_recv: %zd octets, not what was sent", got);
    return got == 1000;
}

static bool shut_down(const struct pair *pair)
{
    struct call *receive =
        START(exs_recv, pair->server, to, 100, 0, queue, HANDLE, EXS_MHANDLE_UNREGISTERED);

    if (!await(START(exs_shutdown, pair->client, SHUT_WR, 0, queue, HANDLE)))
        return false;
    if (await(receive) && receive->length != 0)
        find_say("%zu octets at the end of the stream", receive->length);
    return true;
}

static void stream(const struct pair *pair)
{
    bool up = move(pair, 24, true, true) && move(pair, LARGE, true, true) &&
              move(pair, LARGE, false, true) && move(pair, LARGE, true, false) &&
              move_vectors(pair) && move_file(pair) && wait_ready(pair) && cancel_receive(pair) &&
              move_blocking(pair) && shut_down(pair);

    if (strict && !up)
        find_say("the traffic has ended early");
}

static void packets(const struct pair *pair)
{
    bool up = move(pair, 24, true, true) && move(pair, LARGE, true, true) &&
              move(pair, 4000, false, false) && move_vectors(pair);

    if (strict && !up)
        find_say("the traffic has ended early");
}

/* ---- The bystander --------------------------------------------------------------------------- */

static struct pair bystander;
static unsigned char bystander_data[2][500];

/* A call of the bystander may fail for lack of memory only; what has begun succeeds. */
static void bystander_ping(bool last)
{
    const char *during = stage;
    bool was_strict = strict;
    struct call *send;

    if (bystander.server < 0)
        return;
    stage = last ? "bystander, no fault left" : "bystander";
    strict = last;
    if (!bystander_receive)
        bystander_receive = START(exs_recv, bystander.server, bystander_data[1], 500, MSG_WAITALL,
                                  queue, HANDLE, EXS_MHANDLE_UNREGISTERED);
    find_fill(bystander_data[0], 500, 5);
    send = START(exs_send, bystander.client, bystander_data[0], 500, 0, queue, HANDLE,
                 EXS_MHANDLE_UNREGISTERED);
    if (send && !await(send))
        find_say("the bystander's send fails: %s", strerror(send->error));
    if (send && bystander_receive) {
        if (!await(bystander_receive) || !find_is_filled(bystander_data[1], 500, 5))
            find_say("the bystander's receive fails: %s", strerror(bystander_receive->error));
        bystander_receive = NULL;
        memset(bystander_data[1], 0, 500);
    }
    strict = was_strict;
    stage = during;
}

/* ---- The scenario ---------------------------------------------------------------------------- */

static void run_pair(const char *name, int type, void (*traffic)(const struct pair *))
{
    struct pair pair;

    stage = name;
    if (pair_open(&pair, type))
        traffic(&pair);
    bystander_ping(false);
    pair_close(&pair);
}

static void run_refused(void)
{
    struct sockaddr_in nobody = {
        .sin_family = AF_INET, .sin_port = htons(1), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = exs_socket(PF_INET, SOCK_STREAM, 0);
    bool was_strict = strict;
    struct call *connect;

    stage = "refused";
    if (!good("exs_socket", fd))
        return;
    strict = false;
    connect =
        START(exs_connect, fd, (struct sockaddr *)&nobody, sizeof(nobody), 0, NULL, queue, HANDLE);
    if (await(connect))
        find_say("connected to nobody");
    strict = was_strict;
    close_socket(fd);
    (void)await_all();
}

static void run_rounds(void)
{
    from_handle = exs_mregister(from, LARGE, 0);
    if (!good("exs_mregister", from_handle ? 0 : -1))
        return;
    to_handle = exs_mregister(to, LARGE, 0);
    if (good("exs_mregister", to_handle ? 0 : -1)) {
        run_pair("stream", SOCK_STREAM, stream);
        run_pair("packets", SOCK_SEQPACKET, packets);
        run_refused();
        bystander_ping(false);
    }
    stage = "close";
}

static void file_open(void)
{
    static unsigned char octets[FILE_K];

    find_fill(octets, FILE_K, 77);
    file = memfd_create("faults", MFD_CLOEXEC);
    if (file < 0 || write(file, octets, FILE_K) != FILE_K)
        find_say("the scenario's own file fails");
}

static bool queue_open(void)
{
    if (!good("exs_init", exs_init(EXS_VERSION1)))
        return false;
    queue = exs_qcreate(64);
    return good("exs_qcreate", queue ? 0 : -1) && good("exs_qfd", exs_qfd(queue) < 0 ? -1 : 0);
}

static void registrations_close(void)
{
    if (from_handle && exs_mderegister(from_handle, 0) != 0)
        find_say("exs_mderegister: %s", strerror(errno));
    if (to_handle && exs_mderegister(to_handle, 0) != 0)
        find_say("exs_mderegister: %s", strerror(errno));
    from_handle = to_handle = NULL;
}

static void all_close(void)
{
    close_rest();
    if (queue)
        (void)await_all();
    registrations_close();
    if (!queue)
        return;
    bystander_ping(true);
    if (bystander.client >= 0)
        pair_close(&bystander);
    if (exs_qdelete(queue) != 0)
        find_say("exs_qdelete: %s", strerror(errno));
    queue = NULL;
}

void scenario_run(enum fault_mode mode, const struct fault_plan *plan, bool is_strict,
                  struct fault_findings *findings)
{
    bool ready;

    find_begin(findings);
    strict = is_strict;
    memset(calls, 0, sizeof(calls));
    bystander = (struct pair){-1, -1, -1};
    bystander_receive = NULL;
    stage = "open";
    file_open();
    if (mode == FAULT_ALONE)
        faults_arm(plan);
    ready = queue_open();
    if (mode == FAULT_BESIDE) {
        if (!ready || !pair_open(&bystander, SOCK_STREAM))
            find_say("no bystander");
        faults_arm(plan);
    }
    if (ready)
        run_rounds();
    faults_disarm();
    all_close();
    (void)close(file);
}
