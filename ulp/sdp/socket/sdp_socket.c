/* SPDX-License-Identifier: BSD-2-Clause */
#include "socket/sdp_socket.h"

#include "socket/sdp_region.h"
#include "socket/sdp_table.h"

#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#define POOL_STEP 64u

/*
 * Memory of sockets, never freed. Not the program's heap, which a signal handler may have
 * interrupted.
 */
static struct sdp_socket *pool;

/* Called with the table's lock. */
static struct sdp_socket *take_from_pool(void)
{
    struct sdp_socket *socket = pool;

    if (!socket) {
        struct sdp_socket *more = mmap(NULL, POOL_STEP * sizeof(*more), PROT_READ | PROT_WRITE,
                                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        if (more == MAP_FAILED)
            return NULL;
        for (unsigned i = 0; i < POOL_STEP; i++) {
            more[i].next = pool;
            pool = &more[i];
        }
        socket = pool;
    }
    pool = socket->next;
    return socket;
}

static atomic_uint counts[SDP_STATES];

unsigned sdp_socket_count(enum sdp_state state)
{
    return atomic_load(&counts[state]);
}

void sdp_socket_set_state(struct sdp_socket *socket, enum sdp_state state)
{
    (void)atomic_fetch_add(&counts[state], 1);
    (void)atomic_fetch_sub(&counts[atomic_exchange(&socket->state, state)], 1);
}

bool sdp_socket_settle(struct sdp_socket *socket)
{
    if (atomic_load(&socket->state) == SDP_CONVERTED)
        return true;
    (void)pthread_mutex_lock(&socket->deciding);
    if (atomic_load(&socket->state) != SDP_CONVERTED)
        return false;
    (void)pthread_mutex_unlock(&socket->deciding);
    return true;
}

void sdp_socket_settled(struct sdp_socket *socket, bool converted)
{
    if (!converted)
        (void)pthread_mutex_unlock(&socket->deciding);
}

/* Initializes a socket, except `references`, which a late thread may still read. */
static void reset(struct sdp_socket *socket, enum sdp_state state)
{
    size_t rest = offsetof(struct sdp_socket, connection);

    memset((char *)socket + rest, 0, sizeof(*socket) - rest);
    (void)pthread_mutex_init(&socket->lock, NULL);
    (void)pthread_mutex_init(&socket->deciding, NULL);
    atomic_store(&socket->state, state);
    (void)atomic_fetch_add(&counts[state], 1);
}

bool sdp_socket_new(int number, enum sdp_state state, struct sdp_socket **socket)
{
    bool done = false;

    sdp_table_lock();
    *socket = take_from_pool();
    if (*socket) {
        reset(*socket, state);
        (*socket)->numbers[0] = number;
        (*socket)->numbers_count = 1;
        atomic_store(&(*socket)->references, 1);
        done = sdp_table_set(number, SDP_NUMBER_SOCKET, *socket);
        if (!done) {
            atomic_store(&(*socket)->references, 0);
            (void)atomic_fetch_sub(&counts[state], 1);
            (*socket)->next = pool;
            pool = *socket;
        }
    }
    sdp_table_unlock();
    return done;
}

void sdp_socket_release(struct sdp_socket *socket)
{
    if (atomic_fetch_sub(&socket->references, 1) != 1)
        return;
    if (socket->agreement)
        sdp_agree_free(socket->agreement);
    if (socket->connection) {
        sdp_close(socket->connection, socket->linger.l_onoff ? &socket->linger : NULL);
        sdp_face_close(&socket->face);
    }
    (void)atomic_fetch_sub(&counts[atomic_load(&socket->state)], 1);
    sdp_table_lock();
    socket->next = pool;
    pool = socket;
    sdp_table_unlock();
}

bool sdp_socket_add_number(struct sdp_socket *socket, int number)
{
    bool room;

    (void)pthread_mutex_lock(&socket->lock);
    room =
        socket->numbers_count < SDP_NUMBERS_MAX && sdp_table_set(number, SDP_NUMBER_SOCKET, socket);
    if (room) {
        socket->numbers[socket->numbers_count++] = number;
        (void)atomic_fetch_add(&socket->references, 1);
    }
    (void)pthread_mutex_unlock(&socket->lock);
    return room;
}

/* Interests that were added under this number end only with the description, as in the kernel. */
void sdp_socket_take_number(struct sdp_socket *socket, int number)
{
    (void)pthread_mutex_lock(&socket->lock);
    for (unsigned i = 0; i < socket->numbers_count; i++)
        if (socket->numbers[i] == number) {
            socket->numbers[i] = socket->numbers[--socket->numbers_count];
            break;
        }
    (void)sdp_table_set(number, SDP_NUMBER_FREE, NULL);
    (void)pthread_mutex_unlock(&socket->lock);
}

bool sdp_socket_refer(struct sdp_socket *socket)
{
    unsigned references = atomic_load(&socket->references);

    while (references > 0)
        if (atomic_compare_exchange_weak(&socket->references, &references, references + 1))
            return true;
    return false;
}

struct sdp_socket *sdp_socket_hold(int number)
{
    for (;;) {
        struct sdp_socket *socket = sdp_table_get(number);

        if (!socket)
            return NULL;
        if (!sdp_socket_refer(socket))
            continue;
        if (sdp_table_get(number) == socket)
            return socket;
        sdp_socket_release(socket);
    }
}

void sdp_socket_each(void (*visit)(struct sdp_socket *socket, int number, void *context),
                     void *context)
{
    for (int number = sdp_table_next(0, INT32_MAX); number >= 0;
         number = sdp_table_next((unsigned)number + 1, INT32_MAX)) {
        struct sdp_socket *socket = sdp_table_get(number);

        if (socket)
            visit(socket, number, context);
    }
}

static void renew_lock(struct sdp_socket *socket, int number, void *context)
{
    (void)number;
    (void)context;
    socket->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    socket->deciding = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

void sdp_socket_after_fork(void)
{
    sdp_table_after_fork();
    sdp_table_lock();
    sdp_socket_each(renew_lock, NULL);
    sdp_table_unlock();
}
