/* SPDX-License-Identifier: BSD-2-Clause */
/* The list of all connections, the locks around them, and what it_trace shows of each. */
#include "connection/sdp_object.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>

pthread_rwlock_t sdp_start_lock = PTHREAD_RWLOCK_INITIALIZER;
pthread_rwlock_t sdp_fork_gate = PTHREAD_RWLOCK_INITIALIZER;
pthread_mutex_t sdp_list_lock = PTHREAD_MUTEX_INITIALIZER;
struct sdp_connection *sdp_list_first;

void sdp_list_add(struct sdp_connection *connection)
{
    (void)pthread_mutex_lock(&sdp_list_lock);
    connection->next = sdp_list_first;
    connection->link = &sdp_list_first;
    if (sdp_list_first)
        sdp_list_first->link = &connection->next;
    sdp_list_first = connection;
    (void)pthread_mutex_unlock(&sdp_list_lock);
}

void sdp_list_remove(struct sdp_connection *connection)
{
    *connection->link = connection->next;
    if (connection->next)
        connection->next->link = connection->link;
}

void sdp_init_lock(pthread_mutex_t *lock)
{
    pthread_mutexattr_t attributes;

    (void)pthread_mutexattr_init(&attributes);
    /*
     * A signal handler that interrupts a call of its own thread gets an error instead of a
     * deadlock.
     */
    (void)pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
    (void)pthread_mutex_init(lock, &attributes);
    (void)pthread_mutexattr_destroy(&attributes);
}

/*
 * A fork holds the locks while it waits for this thread. So it closes the gate first: it then waits
 * for threads inside, and others do not enter.
 */
bool sdp_lock_here(pthread_mutex_t *lock)
{
    bool locked;

    if (pthread_rwlock_tryrdlock(&sdp_fork_gate) != 0)
        return false;
    locked = pthread_mutex_lock(lock) == 0;
    (void)pthread_rwlock_unlock(&sdp_fork_gate);
    return locked;
}

/* ---- it_trace ------------------------------------------------------------------------------- */

static const char *const modes[SDP_MODES] = {"buffered", "combined", "pipelined"};

struct place {
    char text[INET6_ADDRSTRLEN + 10];
};

static struct place place_of(const struct sockaddr_storage *address)
{
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)address;
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)address;
    char host[INET6_ADDRSTRLEN] = "";
    struct place place = {"unknown"};

    if (address->ss_family == AF_INET &&
        inet_ntop(AF_INET, &v4->sin_addr, host, sizeof(host)) != NULL)
        (void)snprintf(place.text, sizeof(place.text), "%s:%u", host, ntohs(v4->sin_port));
    else if (address->ss_family == AF_INET6 &&
             inet_ntop(AF_INET6, &v6->sin6_addr, host, sizeof(host)) != NULL)
        (void)snprintf(place.text, sizeof(place.text), "[%s]:%u", host, ntohs(v6->sin6_port));
    return place;
}

/* With the lock. As snprintf. */
static size_t tell(const struct sdp_connection *connection, char *text, size_t room)
{
    const struct sdp_counters *counters = &connection->counters;
    struct itx_ep_addresses addresses = {.size = sizeof(addresses)};
    int length;

    if (itx_ep_query_addresses(connection->ep, &addresses) != IT_SUCCESS)
        addresses = (struct itx_ep_addresses){.size = sizeof(addresses)};
    length = snprintf(text, room,
                      "sdp id=%p local=%s peer=%s sends=%s receives=%s copied_sent=%" PRIu64
                      " zcopy_sent=%" PRIu64 " direct_sent=%" PRIu64 " copied_received=%" PRIu64
                      " zcopy_received=%" PRIu64 " direct_received=%" PRIu64
                      " messages_sent=%" PRIu64 " messages_received=%" PRIu64 "\n",
                      (void *)connection->ep, place_of(&addresses.local).text,
                      place_of(&addresses.remote).text, modes[connection->machine.tx_mode],
                      modes[connection->machine.rx_mode],
                      counters->sent - counters->zcopy_sent - counters->direct_sent,
                      counters->zcopy_sent, counters->direct_sent,
                      counters->received - counters->zcopy_received - counters->direct_received,
                      counters->zcopy_received, counters->direct_received, counters->messages_sent,
                      counters->messages_received);
    return length > 0 ? (size_t)length : 0;
}

size_t sdp_stats(void *unused, char *text, size_t room)
{
    size_t length = 0;

    (void)unused;
    if (!sdp_lock_here(&sdp_list_lock))
        return 0;
    for (struct sdp_connection *each = sdp_list_first; each; each = each->next) {
        bool more = length < room;

        if (!sdp_lock_here(&each->lock))
            break;
        if (!each->lost && !each->buried)
            length += tell(each, more ? text + length : NULL, more ? room - length : 0);
        (void)pthread_mutex_unlock(&each->lock);
    }
    (void)pthread_mutex_unlock(&sdp_list_lock);
    return length;
}
