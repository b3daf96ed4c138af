/* SPDX-License-Identifier: BSD-2-Clause */
/* The list of all connections, and the locks around them. */
#include "connection/sdp_object.h"

_Atomic bool sdp_forking;
pthread_rwlock_t sdp_start_lock = PTHREAD_RWLOCK_INITIALIZER;
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
