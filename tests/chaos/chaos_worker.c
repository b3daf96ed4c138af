/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A server or client. It opens an IA, holds connections for some seconds, closes it, and repeats.
 */
#include "chaos/chaos_conn.h"
#include "support/it_fixture.h"
#include "support/threads.h"

#include <malloc.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <signal.h>
#include <unistd.h>

#define QUEUED      4096u
#define CONNS_MAX   256u
#define HEAP_SLACK  (128u * 1024)
#define EP_SLACK    (6u * 1024) /* the library keeps the room of each EP that was ever live */
#define PATIENCE_US (30000000ull * (unsigned)chaos->time_factor)
/*
 * An altered length makes the receiver wait for octets that the sender does not have. Only the
 * program can notice.
 */
#define GIVE_UP_US 5000000u
#define STOPPED_US 1000000u /* a pause this long means that the process was stopped */

static unsigned self;
static struct chaos_worker *worker;
static unsigned generation;
static unsigned conn_count;
static struct conn conns[CONNS_MAX];

static it_ia_handle_t ia;
static it_pz_handle_t pz;
static it_evd_handle_t evd;
static it_listen_handle_t listener;
static int evd_fd;
static size_t spigot;
static bool has_atomics;

static it_event_t queued[QUEUED]; /* taken from the EVD, in order */
static size_t queued_count;

/* ---- Opening --------------------------------------------------------------------------------- */

/*
 * librdmacm tells a lack of descriptors as ENODEV when it opens a device, so an address can look
 * as if it were not the device's.
 */
static bool is_lack(it_status_t status)
{
    return atomic_load(&worker->lacks) &&
           (status == IT_ERR_RESOURCES ||
            (chaos->on_devices && status == IT_ERR_INVALID_SOURCE_PATH));
}

/* Returns whether the call succeeded. Only a lack of descriptors explains a failure. */
static bool done(const char *call, it_status_t status)
{
    if (status == IT_SUCCESS)
        return true;
    chaos_count(COUNT_LACKS, 1);
    if (!is_lack(status))
        chaos_fail("worker %u: %s: %s", self, call, itx_status_string(status));
    return false;
}

#define DONE(call, arguments) done(#call, call arguments)

static const struct chaos_place *place(void)
{
    return &chaos->places[worker->is_server];
}

static bool find_spigot(void)
{
    it_net_addr_t own = fx_address_from(place()->address);
    it_ia_info_t *info = NULL;

    if (!DONE(it_ia_query, (ia, &info)))
        return false;
    has_atomics = info->atomic_support == IT_TRUE;
    for (size_t i = 0; i < info->num_spigots; i++) {
        const it_spigot_info_t *one = &info->spigot_info[i];

        for (size_t n = 0; n < one->num_net_addr; n++) {
            if (one->net_addr[n].addr_type == IT_IPV4 &&
                one->net_addr[n].addr.ipv4.s_addr == own.addr.ipv4.s_addr)
                spigot = one->spigot_id;
        }
    }
    it_ia_info_free(info);
    return true;
}

static bool conn_open(struct conn *conn)
{
    it_ep_attributes_t attr = fx_ep_attr();

    attr.max_send_segments = attr.max_recv_segments = 1;
    attr.srv.rc.max_rdma_read_segments = attr.srv.rc.max_rdma_write_segments = 1;
    attr.srv.rc.atomics_enable = has_atomics ? IT_TRUE : IT_FALSE;
    conn->has_atomics = has_atomics;
    return DONE(it_ep_rc_create, (pz, evd, evd, evd, IT_EP_REUSEADDR, &attr, &conn->ep));
}

static bool conns_open(void)
{
    for (unsigned i = 0; i < conn_count; i++) {
        struct conn *conn = &conns[i];

        conn->index = (uint16_t)i;
        conn->state = CONN_IDLE;
        conn->ep = NULL;
        conn->next_us = 0;
        if (!DONE(it_lmr_create21, (pz, conn->memory, NULL, sizeof(*conn->memory),
                                    IT_ADDR_MODE_ABSOLUTE, has_atomics ? IT_PRIV_ALL : FX_PRIVS_ALL,
                                    IT_LMR_FLAG_NONE, 0, &conn->lmr, &conn->key)))
            return false;
    }
    return true;
}

static bool listen_open(void)
{
    it_conn_qual_t qual = {.type = IT_IANA_PORT};

    if (!worker->is_server)
        return true;
    if (!DONE(it_listen_create, (ia, spigot, evd, IT_LISTEN_NO_FLAG, &qual, &listener)))
        return false;
    atomic_store(&worker->port, qual.conn_qual.port);
    return true;
}

static bool node_open(void)
{
    unsigned streams =
        ITX_STREAM_DTO | ITX_STREAM_CM_REQ | ITX_STREAM_CM_MSG | ITX_STREAM_ASYNC_AFF;

    return DONE(it_ia_create, (place()->interface, 2, 1, &ia)) && find_spigot() &&
           DONE(it_pz_create, (ia, &pz)) &&
           DONE(itx_evd_create_mixed, (ia, streams, IT_EVD_CREATE_FD, 16384, IT_THRESHOLD_DISABLE,
                                       NULL, &evd, &evd_fd)) &&
           conns_open() && listen_open();
}

/* ---- Connections ----------------------------------------------------------------------------- */

static it_ep_handle_t ep_of(const it_event_t *event)
{
    switch (event->event_number & IT_EVENT_STREAM_MASK) {
    case IT_DTO_EVENT_STREAM:
        return event->dto_cmpl.ep;
    case IT_CM_MSG_EVENT_STREAM:
        return event->conn.ep;
    default:
        return NULL;
    }
}

/* Also drops its queued events, since the next endpoint may have the same handle. */
static void conn_free(struct conn *conn)
{
    size_t count = 0, kept = 0;

    (void)DONE(it_ep_free, (conn->ep));
    do {
        queued_count += count;
        count = 0;
        (void)itx_evd_dequeue_n(evd, QUEUED - queued_count, queued + queued_count, &count);
    } while (count > 0 && queued_count + count < QUEUED);
    queued_count += count;
    for (size_t i = 0; i < queued_count; i++) {
        if (ep_of(&queued[i]) != conn->ep)
            queued[kept++] = queued[i];
    }
    queued_count = kept;
    conn->ep = NULL;
}

/* Makes the endpoint ready for the next connection: by it_ep_reset, or a new one. */
static void conn_renew(struct conn *conn)
{
    if (conn->fresh || chaos_number(4, conn->pair, conn->attempt) % 2 == 0)
        conn_free(conn);
    else
        (void)DONE(it_ep_reset, (conn->ep));
    conn->fresh = false;
    conn->state = CONN_IDLE;
    conn->next_us = chaos_now_us() + chaos_number(5, conn->pair, conn->attempt) % 200000;
}

/* Returns the port that leads to the server; 0: it does not listen. */
static uint16_t port_to(unsigned server)
{
    return chaos->on_devices ? atomic_load(&chaos->workers[server].port)
                             : atomic_load(&chaos->workers[server].link_port);
}

/* The path was made before its source, which is the server's address, was removed. */
static bool is_removed_source(it_status_t status, unsigned server)
{
    return status == IT_ERR_INVALID_SOURCE_PATH && atomic_load(&chaos->workers[server].changes) > 0;
}

static void conn_connect(struct conn *conn)
{
    uint32_t pair = (self - chaos->servers) * chaos->endpoints + conn->index;
    uint32_t attempt = atomic_fetch_add(&chaos->pairs[pair].attempt, 1) + 1;
    unsigned server = (unsigned)(chaos_number(6, pair, attempt) % chaos->servers);
    it_net_addr_t address = {.addr_type = IT_IPV4, .addr.ipv4 = chaos->workers[server].address};
    it_conn_qual_t qual = {.type = IT_IANA_PORT, .conn_qual.port = port_to(server)};
    struct chaos_hello hello;
    it_path_t path;
    it_status_t status;
    size_t count = 1, total = 0;

    if (qual.conn_qual.port == 0 || (!conn->ep && !conn_open(conn)))
        return;
    conn_begin(conn, pair, attempt);
    hello = conn_hello(conn, self);
    if (!DONE(it_get_pathinfo, (ia, spigot, &address, &count, &total, &path)) || count == 0)
        return;
    conn_post_receives(conn);
    conn->state = CONN_CONNECTING;
    status = it_ep_connect(conn->ep, &path, NULL, &qual, IT_CONNECT_FLAG_TWO_WAY,
                           (const unsigned char *)&hello, sizeof(hello));
    if (status == IT_SUCCESS)
        return;
    if (!is_removed_source(status, server))
        (void)done("it_ep_connect", status);
    conn->fresh = true;
    conn->state = CONN_RENEW;
}

static struct conn *idle_conn(void)
{
    for (unsigned i = 0; i < conn_count; i++) {
        if (conns[i].state == CONN_IDLE && (conns[i].ep || conn_open(&conns[i])))
            return &conns[i];
    }
    return NULL;
}

static void take_request(const it_conn_request_event_t *event)
{
    struct conn *conn = idle_conn();
    struct chaos_hello peer, hello;
    it_status_t status;

    memcpy(&peer, event->private_data, sizeof(peer));
    if (!conn || peer.magic != CHAOS_MAGIC) {
        if (conn)
            chaos_fail("a request without a hello");
        (void)it_reject(event->cn_est_id, NULL, 0);
        return;
    }
    conn_begin(conn, peer.pair, peer.attempt);
    conn_meet(conn, &peer);
    hello = conn_hello(conn, self);
    conn_post_receives(conn);
    conn->state = CONN_CONNECTING;
    status = it_ep_accept(conn->ep, event->cn_est_id, (unsigned char *)&hello, sizeof(hello));
    if (status == IT_SUCCESS)
        return;
    if (status != IT_ERR_INVALID_CN_EST_ID)
        (void)done("it_ep_accept", status);
    conn->fresh = true;
    conn->state = CONN_RENEW;
}

/* Which of the two programs ends the connection after the planned number of rounds. */
static bool is_ours_to_end(const struct conn *conn)
{
    return (chaos_number(7, conn->pair, conn->attempt) & 1) == worker->is_server;
}

static void conn_end(struct conn *conn)
{
    uint64_t number = chaos_number(7, conn->pair, conn->attempt);

    chaos_harm(conn->pair, conn->attempt);
    conn->ends = true;
    chaos_count(COUNT_ENDED, 1);
    if (number & 2) {
        it_status_t status = it_ep_disconnect(conn->ep, NULL, 0);

        if (status != IT_ERR_INVALID_EP_STATE)
            (void)done("it_ep_disconnect", status);
        conn->state = CONN_OVER; /* the event follows */
        conn->progress_us = chaos_now_us();
    } else {
        conn->fresh = true;
        conn_renew(conn);
    }
}

/* ---- Events ---------------------------------------------------------------------------------- */

/* Events of an endpoint that was freed can still be in the queue. */
static struct conn *conn_of(it_ep_handle_t ep)
{
    for (unsigned i = 0; ep && i < conn_count; i++) {
        if (conns[i].ep == ep)
            return &conns[i];
    }
    return NULL;
}

static void take_connection(struct conn *conn, const it_connection_event_t *event)
{
    bool is_end = event->event_number == IT_CM_MSG_CONN_DISCONNECT_EVENT ||
                  event->event_number == IT_CM_MSG_CONN_BROKEN_EVENT;

    conn->progress_us = chaos_now_us();
    if (event->event_number == IT_CM_MSG_CONN_ESTABLISHED_EVENT) {
        struct chaos_hello hello;

        if (conn->state != CONN_CONNECTING)
            chaos_fail("ESTABLISHED in state %d", conn->state);
        conn->state = CONN_UP;
        chaos_count(COUNT_CONNECTED, 1);
        if (!worker->is_server) {
            memcpy(&hello, event->private_data, sizeof(hello));
            conn_meet(conn, &hello);
        }
        conn_is_up(conn);
        return;
    }
    if (is_end) {
        if (conn->state != CONN_UP && !conn->ends)
            chaos_fail("%s in state %d", itx_event_string(event->event_number), conn->state);
        if (!conn_may_end(conn))
            chaos_fail("pair %u, attempt %u: %s, and nothing was wrong", conn->pair, conn->attempt,
                       itx_event_string(event->event_number));
        if (!conn->ends)
            chaos_count(COUNT_BROKEN, 1);
    } else {
        if (conn->state != CONN_CONNECTING)
            chaos_fail("%s in state %d", itx_event_string(event->event_number), conn->state);
        chaos_count(COUNT_REFUSED, 1);
        conn->ends = true;
    }
    conn->ended = true;
    conn->state = conn->due == 0 ? CONN_RENEW : CONN_OVER;
}

static void take_completion(const it_dto_cmpl_event_t *event)
{
    struct conn *conn = conn_of(event->ep);

    if (!conn)
        return;
    conn_completed(conn, event);
    if (conn->state == CONN_OVER && conn->due == 0 && conn->ended)
        conn->state = CONN_RENEW;
}

static void take_event(const it_event_t *event)
{
    struct conn *conn;

    switch (event->event_number & IT_EVENT_STREAM_MASK) {
    case IT_DTO_EVENT_STREAM:
        take_completion(&event->dto_cmpl);
        break;
    case IT_CM_REQ_EVENT_STREAM:
        take_request(&event->conn_req);
        break;
    case IT_CM_MSG_EVENT_STREAM:
        conn = conn_of(event->conn.ep);
        if (conn)
            take_connection(conn, &event->conn);
        break;
    default:
        break; /* a Terminate: the end of the connection follows */
    }
}

/* Waits by it_evd_wait or by the descriptor, whichever this generation uses. */
static void take_events(void)
{
    size_t count = queued_count;
    it_status_t status = IT_SUCCESS;

    if (count > 0) {
        queued_count = 0;
    } else if (generation % 2) {
        struct pollfd entry = {.fd = evd_fd, .events = POLLIN};

        (void)poll(&entry, 1, 10);
        status = itx_evd_dequeue_n(evd, 32, queued, &count);
    } else {
        status = itx_evd_wait_n(evd, 10000, 32, queued, &count, NULL);
    }
    if (status != IT_SUCCESS && status != IT_ERR_TIMEOUT_EXPIRED && status != IT_ERR_QUEUE_EMPTY &&
        status != IT_ERR_INTERRUPT)
        chaos_fail("taking events: %s", itx_status_string(status));
    for (size_t i = 0; i < count; i++)
        take_event(&queued[i]);
}

/* ---- Generations ----------------------------------------------------------------------------- */

static void tend(struct conn *conn, uint64_t now)
{
    if (conn->state == CONN_RENEW) {
        conn_renew(conn);
        return;
    }
    if (conn->state == CONN_IDLE) {
        if (!worker->is_server && now >= conn->next_us) {
            conn->next_us = now + 50000;
            conn_connect(conn);
        }
        return;
    }
    if (now > conn->progress_us + PATIENCE_US) {
        chaos_fail("worker %u: pair %u, attempt %u hangs in state %d, %u posts are due, %s", self,
                   conn->pair, conn->attempt, conn->state, conn->due,
                   itx_ep_state_string(fx_ep_state(conn->ep)));
        conn->progress_us = now;
    }
    if (conn->state != CONN_UP)
        return;
    if (now > conn->progress_us + GIVE_UP_US && chaos_is_harmed(conn->pair, conn->attempt)) {
        chaos_count(COUNT_GIVEN_UP, 1);
        conn_end(conn);
        return;
    }
    if (now < conn->next_us)
        return;
    if (conn->rounds_done >= conn->rounds_planned && is_ours_to_end(conn))
        conn_end(conn);
    else
        conn_start_rounds(conn);
}

static void live(uint64_t until_us)
{
    uint64_t last = chaos_now_us(), tended = 0;

    while (!atomic_load(&chaos->stop) && last < until_us) {
        uint64_t now;

        take_events();
        now = chaos_now_us();
        for (unsigned i = 0; now > last + STOPPED_US && i < conn_count; i++)
            conns[i].progress_us += now - last;
        last = now;
        if (now < tended + 5000)
            continue;
        tended = now;
        for (unsigned i = 0; i < conn_count; i++)
            tend(&conns[i], now);
    }
}

static void node_close(void)
{
    queued_count = 0;
    chaos_leave(worker);
    for (unsigned i = 0; i < conn_count; i++) {
        if (conns[i].ep && generation % 3 == 0)
            (void)DONE(it_ep_free, (conns[i].ep));
        conns[i].ep = NULL;
    }
    if (ia)
        (void)DONE(it_ia_free, (ia));
    ia = NULL;
    chaos_count(COUNT_GENERATIONS, 1);
}

static void memory_open(void)
{
    conn_count = worker->is_server ? 2 * chaos->clients * chaos->endpoints / chaos->servers + 8
                                   : chaos->endpoints;
    if (conn_count > CONNS_MAX)
        conn_count = CONNS_MAX;
    for (unsigned i = 0; i < conn_count; i++) {
        conns[i].memory = calloc(1, sizeof(*conns[i].memory));
        conns[i].expected = calloc(1, LARGE);
    }
}

static void tell_descriptors(void)
{
    for (int fd = 0; fd < 256; fd++) {
        char path[32], to[128];
        ssize_t length;

        (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        length = readlink(path, to, sizeof(to) - 1);
        if (length > 0)
            fprintf(stderr, "chaos: worker %u: %d is %.*s\n", self, fd, (int)length, to);
    }
}

#define KEPT 32u /* at most: librdmacm keeps two for each device that it has met */

/* Compares with what was there after the first generation. */
static void check_leaks(size_t fds, size_t thread_count)
{
    static size_t heap, kept;
    size_t now;

    threads_await(thread_count);
    if (kept == 0)
        kept = chaos->on_devices ? fx_fd_count() + KEPT : fds;
    if (fx_fd_count() > kept) {
        chaos_fail("worker %u: %zu descriptors instead of %zu", self, fx_fd_count(), kept);
        tell_descriptors();
    }
    now = mallinfo2().uordblks;
    if (heap == 0)
        heap = now;
    if (now > heap + HEAP_SLACK + conn_count * EP_SLACK)
        chaos_fail("worker %u: %zu octets of heap instead of %zu, generation %u", self, now, heap,
                   generation);
}

/* Posts of earlier lacks only make it look once more. */
static void await_descriptors(void)
{
    while (sem_wait(&worker->descriptors) != 0)
        ;
}

void chaos_worker_run(unsigned number)
{
    size_t fds, thread_count;

    self = number;
    worker = &chaos->workers[number];
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    memory_open();
    fds = fx_fd_count();
    thread_count = threads_now().count;
    for (generation = 0; !atomic_load(&chaos->stop); generation++) {
        uint64_t life_us = 2000000 + chaos_number(8, number, worker->incarnation) % 10000000;

        if (node_open())
            live(chaos_now_us() + life_us);
        else
            await_descriptors();
        node_close();
        check_leaks(fds, thread_count);
    }
    _exit(0);
}
