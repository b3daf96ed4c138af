/* SPDX-License-Identifier: BSD-2-Clause */
#include "ual/stats/ual_stats.h"

#include "base/base_clock.h"
#include "base/base_log.h"
#include "evd/loop/evd_loop.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define STATS_ENVIRONMENT "ITAPI_STATS"
/* Clients of one IA with octets left to send. When one more comes, the oldest is closed. */
#define STATS_CLIENTS 4u
/* A client that has not taken everything by then is closed. */
#define STATS_PATIENCE_NS (5 * BASE_NS_PER_S)
/* When accept fails without descriptors or memory, the loop accepts no client for this long. */
#define STATS_PAUSE_NS BASE_NS_PER_S
/*
 * After each client the loop accepts none for this long, plus a multiple of the time the client
 * took: an endless row of clients takes at most a tenth of the loop's time.
 */
#define STATS_REST_NS    (2 * BASE_NS_PER_MS)
#define STATS_REST_TIMES 9u

struct stats_client {
    int fd; /* -1: free */
    struct ual_stats_text text;
    size_t sent;
    uint64_t number; /* the lower, the older */
    struct evd_io watch;
    struct evd_timer patience;
};

/* Serves one IA. Used on the loop's thread only, except for members guarded by a lock. */
struct ual_stats {
    struct ual_ia *ia;         /* immutable */
    struct base_link link;     /* guarded by stats_lock */
    itx_stats_source_t source; /* guarded by stats_lock, as is its context */
    void *context;
    int fd; /* a duplicate of the socket, one for each loop */
    struct evd_io watch;
    struct evd_timer pause;
    uint64_t clients_ever;
    struct stats_client clients[STATS_CLIENTS];
};

/*
 * Guards the members of the list and the socket. Held while a snapshot is made, so that no listed
 * IA goes away.
 */
static struct base_lock stats_lock;
static struct base_list stats_all;
static struct ual_stats_socket stats_socket = {.fd = -1};

void ual_stats_renew(void)
{
    base_lock_init(&stats_lock);
}

/* ---------------------------------------------------------------- a client */

static void client_close(struct stats_client *client)
{
    if (client->fd < 0)
        return;
    evd_io_unwatch(&client->watch);
    evd_timer_stop(&client->patience);
    (void)close(client->fd);
    client->fd = -1;
    free(client->text.octets);
    client->text = (struct ual_stats_text){0};
}

/* Returns true when octets are left and the client may take them later. */
static bool client_send(struct stats_client *client)
{
    while (client->sent < client->text.length) {
        ssize_t sent = send(client->fd, client->text.octets + client->sent,
                            client->text.length - client->sent, MSG_DONTWAIT | MSG_NOSIGNAL);

        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return errno == EAGAIN;
        client->sent += (size_t)sent;
    }
    return false;
}

static void client_writable(void *argument, unsigned events)
{
    (void)events;
    if (!client_send(argument))
        client_close(argument);
}

static void client_expired(void *argument)
{
    client_close(argument);
}

static void client_make_text(struct stats_client *client)
{
    ual_stats_begin(&client->text);
    base_lock_take(&stats_lock);
    BASE_LIST_EACH(struct ual_stats, stats, &stats_all, link) {
        ual_stats_add_ia(&client->text, stats->ia);
        if (stats->source)
            ual_stats_add_source(&client->text, stats->source, stats->context);
    }
    base_lock_drop(&stats_lock);
    ual_stats_end(&client->text);
}

/* Returns a free slot, or closes the oldest client and returns its slot. */
static struct stats_client *client_place(struct ual_stats *stats)
{
    struct stats_client *oldest = &stats->clients[0];

    for (unsigned i = 0; i < STATS_CLIENTS; i++) {
        if (stats->clients[i].fd < 0)
            return &stats->clients[i];
        if (stats->clients[i].number < oldest->number)
            oldest = &stats->clients[i];
    }
    client_close(oldest);
    return oldest;
}

static void client_serve(struct ual_stats *stats, int fd)
{
    struct stats_client *client = client_place(stats);
    struct evd_loop *loop = stats->ia->evd.loop;

    client->fd = fd;
    client->sent = 0;
    client->number = stats->clients_ever++;
    client_make_text(client);
    if (client->text.failed || !client_send(client) ||
        !evd_timer_start(&client->patience, loop, STATS_PATIENCE_NS, client_expired, client) ||
        !evd_io_watch(&client->watch, loop, fd, EVD_IO_WRITE, client_writable, client))
        client_close(client);
}

/* ---------------------------------------------------------------- the socket */

static void stats_watch(struct ual_stats *stats);

static void stats_pause_over(void *argument)
{
    stats_watch(argument);
}

/* Accepts no client for that long. If there is no memory for the timer, it does not pause. */
static void stats_pause_for(struct ual_stats *stats, uint64_t ns)
{
    evd_io_unwatch(&stats->watch);
    if (!evd_timer_start(&stats->pause, stats->ia->evd.loop, ns, stats_pause_over, stats))
        stats_watch(stats);
}

/* Serves one client per turn, so that the loop soon returns to its main work. */
static void stats_arrival(void *argument, unsigned events)
{
    struct ual_stats *stats = argument;
    uint64_t begin_ns = base_now_ns();
    int fd = accept4(stats->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    (void)events;
    if (fd >= 0) {
        client_serve(stats, fd);
        stats_pause_for(stats, STATS_REST_NS + STATS_REST_TIMES * (base_now_ns() - begin_ns));
    } else if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) {
        stats_pause_for(stats, STATS_PAUSE_NS);
    }
}

static void stats_watch(struct ual_stats *stats)
{
    if (!evd_io_watch(&stats->watch, stats->ia->evd.loop, stats->fd, EVD_IO_READ, stats_arrival,
                      stats))
        base_log(BASE_LOG_WARN, "%s: out of memory, no counters", STATS_ENVIRONMENT);
}

static void stats_start_on_loop(void *argument)
{
    stats_watch(argument);
}

static void stats_stop_on_loop(void *argument)
{
    struct ual_stats *stats = argument;

    evd_io_unwatch(&stats->watch);
    evd_timer_stop(&stats->pause);
    for (unsigned i = 0; i < STATS_CLIENTS; i++)
        client_close(&stats->clients[i]);
}

/* ---------------------------------------------------------------- join and leave */

/* The first IA opens the socket; after a failure, the next one tries again. */
static void stats_link(struct ual_stats *stats, const char *path)
{
    base_lock_take(&stats_lock);
    if (stats_socket.fd < 0)
        (void)ual_stats_socket_open(&stats_socket, path);
    if (stats_socket.fd >= 0)
        stats->fd = fcntl(stats_socket.fd, F_DUPFD_CLOEXEC, 0);
    base_list_prepend(&stats_all, &stats->link);
    base_lock_drop(&stats_lock);
}

static void stats_unlink(struct ual_stats *stats)
{
    base_lock_take(&stats_lock);
    base_list_remove(&stats_all, &stats->link);
    base_lock_drop(&stats_lock);
}

void ual_stats_join(struct ual_ia *ia)
{
    const char *path = secure_getenv(STATS_ENVIRONMENT);
    struct ual_stats *stats;

    if (!path || !*path)
        return;
    stats = calloc(1, sizeof(*stats));
    if (!stats) {
        base_log(BASE_LOG_WARN, "%s: out of memory, no counters", STATS_ENVIRONMENT);
        return;
    }
    stats->ia = ia;
    stats->fd = -1;
    for (unsigned i = 0; i < STATS_CLIENTS; i++)
        stats->clients[i].fd = -1;
    stats_link(stats, path);
    ia->stats = stats;
    if (stats->fd >= 0)
        evd_loop_call(ia->evd.loop, stats_start_on_loop, stats);
}

/* Returns true if some IA's loop accepts clients. */
static bool stats_is_served_locked(void)
{
    base_lock_assert_held(&stats_lock);
    BASE_LIST_EACH(const struct ual_stats, stats, &stats_all, link) {
        if (stats->fd >= 0)
            return true;
    }
    return false;
}

void ual_stats_leave(struct ual_ia *ia)
{
    struct ual_stats *stats = ia->stats;

    if (!stats)
        return;
    stats_unlink(stats);
    if (stats->fd >= 0) {
        evd_loop_call(ia->evd.loop, stats_stop_on_loop, stats);
        (void)close(stats->fd);
    }
    base_lock_take(&stats_lock);
    if (!stats_is_served_locked())
        ual_stats_socket_close(&stats_socket);
    base_lock_drop(&stats_lock);
    ia->stats = NULL;
    free(stats);
}

it_status_t itx_ia_set_stats_source(it_ia_handle_t ia_handle, itx_stats_source_t source,
                                    void *context)
{
    const struct ual_ia *ia = (const struct ual_ia *)(void *)ia_handle;

    if (!base_object_is(ia_handle, IT_HANDLE_TYPE_IA))
        return base_refuse_handle(IT_ERR_INVALID_IA, __func__, ia_handle);
    if (!ia->stats)
        return IT_SUCCESS; /* nobody asks */
    base_lock_take(&stats_lock);
    ia->stats->source = source;
    ia->stats->context = context;
    base_lock_drop(&stats_lock);
    return IT_SUCCESS;
}
