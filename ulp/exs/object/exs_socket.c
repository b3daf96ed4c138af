/* SPDX-License-Identifier: BSD-2-Clause */
#include "object/exs_socket.h"

#include "include/exs.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAGE_SOCKETS 1024u
#define PAGES        4096u

typedef _Atomic(struct exs_socket *) table_entry;

/* Indexed by descriptor. Pages are never freed. */
static _Atomic(table_entry *) table[PAGES];

static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER; /* innermost */
static struct exs_socket *pool;                               /* guarded by pool_lock */

static const struct exs_options defaults = {
    .send_credits = 32,
    .recv_credits = 32,
    .inline_max = INT_MAX,
    .completion_cpu = INT_MAX,
    .stream_buffer = (size_t)1 << 20,
};

/* ---- The table ------------------------------------------------------------------------------ */

static table_entry *entry_of(int fd)
{
    table_entry *page;

    if (fd < 0 || (unsigned)fd >= PAGES * PAGE_SOCKETS)
        return NULL;
    page = atomic_load_explicit(&table[(unsigned)fd / PAGE_SOCKETS], memory_order_acquire);
    return page ? &page[(unsigned)fd % PAGE_SOCKETS] : NULL;
}

static table_entry *make_entry(int fd)
{
    table_entry *page = NULL;
    table_entry *fresh;

    if ((unsigned)fd >= PAGES * PAGE_SOCKETS || entry_of(fd))
        return entry_of(fd);
    fresh = calloc(PAGE_SOCKETS, sizeof(*fresh));
    if (!fresh)
        return NULL;
    if (!atomic_compare_exchange_strong(&table[(unsigned)fd / PAGE_SOCKETS], &page, fresh))
        free(fresh);
    return entry_of(fd);
}

/* ---- The pool ------------------------------------------------------------------------------- */

static struct exs_socket *take_free(void)
{
    struct exs_socket *socket;

    (void)pthread_mutex_lock(&pool_lock);
    socket = pool;
    if (socket)
        pool = socket->next_free;
    (void)pthread_mutex_unlock(&pool_lock);
    if (socket)
        return socket;
    socket = calloc(1, sizeof(*socket));
    if (!socket)
        return NULL;
    socket->fd = -1;
    return socket;
}

static void give_free(struct exs_socket *socket)
{
    (void)pthread_mutex_lock(&pool_lock);
    socket->next_free = pool;
    pool = socket;
    (void)pthread_mutex_unlock(&pool_lock);
}

static void reset(struct exs_socket *socket, int fd, int domain, int type)
{
    exs_lock_take(&socket->lock);
    socket->fd = fd;
    socket->state = EXS_STATE_OPEN;
    socket->domain = domain;
    socket->type = type;
    socket->error = 0;
    socket->bound = false;
    socket->closing = false;
    memset(&socket->local, 0, sizeof(socket->local));
    memset(&socket->peer, 0, sizeof(socket->peer));
    socket->options = defaults;
    socket->watches = NULL;
    socket->listener = NULL;
    socket->connection = NULL;
    socket->connect = NULL;
    socket->connect_error = 0;
    socket->cut = false;
    socket->shutdown = NULL;
    socket->close = NULL;
    socket->close_over = false;
    socket->files = 0;
    atomic_store(&socket->users, 1);
    exs_lock_drop(&socket->lock);
}

struct exs_socket *exs_socket_new(int domain, int type)
{
    int fd = socket(domain, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct exs_socket *made;
    table_entry *entry;

    if (fd < 0)
        return NULL;
    entry = make_entry(fd);
    made = entry ? take_free() : NULL;
    if (!made) {
        (void)close(fd);
        errno = ENOMEM;
        return NULL;
    }
    reset(made, fd, domain, type);
    atomic_store_explicit(entry, made, memory_order_release);
    return made;
}

/* ---- Finding and leaving -------------------------------------------------------------------- */

void exs_socket_hold(struct exs_socket *socket)
{
    atomic_fetch_add(&socket->users, 1);
}

struct exs_socket *exs_socket_lock(int fd)
{
    table_entry *entry = entry_of(fd);
    struct exs_socket *socket = entry ? atomic_load_explicit(entry, memory_order_acquire) : NULL;

    if (!socket)
        return NULL;
    exs_lock_take(&socket->lock);
    if (socket->fd != fd) {
        exs_lock_drop(&socket->lock);
        return NULL;
    }
    return socket;
}

struct exs_socket *exs_socket_find(int fd)
{
    struct exs_socket *socket = exs_socket_lock(fd);

    if (socket)
        exs_socket_hold(socket);
    return socket;
}

void exs_socket_enter(struct exs_socket *socket)
{
    exs_socket_hold(socket);
    exs_lock_take(&socket->lock);
}

/* A connection counts as a user until it has left the socket, which needs the lock. */
bool exs_socket_revisit(struct exs_socket *socket)
{
    exs_lock_take(&socket->lock);
    if (!socket->connection) {
        exs_lock_drop(&socket->lock);
        return false;
    }
    exs_socket_hold(socket);
    return true;
}

static void __attribute__((noinline)) deliver(struct exs_socket *socket)
{
    struct exs_request *request;
    struct exs_request *next;

    socket->delivering = true;
    while (socket->finished.first) {
        request = socket->finished.first;
        socket->finished = (struct exs_requests){0};
        exs_lock_drop(&socket->lock);
        for (; request; request = next) {
            next = request->next;
            request->done(request, request->error, request->moved, request->lost);
        }
        exs_lock_take(&socket->lock);
    }
    socket->delivering = false;
}

void exs_socket_unlock(struct exs_socket *socket)
{
    if (socket->finished.first && !socket->delivering)
        deliver(socket);
    exs_lock_drop(&socket->lock);
}

void exs_socket_leave(struct exs_socket *socket)
{
    exs_socket_unlock(socket);
    exs_socket_put(socket);
}

void exs_socket_put(struct exs_socket *socket)
{
    if (atomic_fetch_sub(&socket->users, 1) == 1)
        give_free(socket);
}

void exs_socket_detach(struct exs_socket *socket)
{
    atomic_store_explicit(entry_of(socket->fd), NULL, memory_order_release);
    (void)close(socket->fd);
    socket->fd = -1;
    exs_socket_put(socket);
}

void exs_socket_finish(struct exs_socket *socket, struct exs_request *request, int error)
{
    if (request->brief && !socket->finished.first && !socket->delivering) {
        request->done(request, error, request->moved, request->lost);
        return;
    }
    request->error = error;
    exs_requests_put(&socket->finished, request);
}

static void tell_close(struct exs_socket *socket)
{
    struct exs_request *close = socket->close;

    if (!close || !socket->close_over || socket->files > 0)
        return;
    socket->close = NULL;
    exs_socket_finish(socket, close, socket->close_error);
}

void exs_socket_close_over(struct exs_socket *socket, int error)
{
    if (socket->close_over)
        return;
    socket->close_over = true;
    socket->close_error = error;
    tell_close(socket);
}

void exs_socket_file_over(struct exs_socket *socket)
{
    socket->files--;
    tell_close(socket);
}

/* ---- Credits -------------------------------------------------------------------------------- */

static void wake(struct exs_credit_wait *wait)
{
    if (wait->sleeps)
        exs_sleeper_wake(&wait->sleeper);
    wait->sleeps = false;
}

void exs_socket_credit(struct exs_socket *socket)
{
    for (struct exs_credit_wait *wait = socket->credit_waits; wait; wait = wait->next)
        wake(wait);
}

void exs_socket_await_credit(struct exs_socket *socket, struct exs_credit_wait *wait,
                             const struct exs_request *request)
{
    exs_sleeper_start(&wait->sleeper);
    wait->request = request;
    wait->sleeps = false;
    wait->error = 0;
    wait->next = socket->credit_waits;
    socket->credit_waits = wait;
}

void exs_socket_await_no_credit(struct exs_socket *socket, struct exs_credit_wait *wait)
{
    struct exs_credit_wait **link = &socket->credit_waits;

    while (*link != wait)
        link = &(*link)->next;
    *link = wait->next;
    if (wait->error != 0)
        exs_socket_file_over(socket);
}

size_t exs_socket_cancel_waits(struct exs_socket *socket,
                               bool (*match)(const struct exs_request *request, const void *key),
                               const void *key, int error)
{
    size_t count = 0;

    for (struct exs_credit_wait *wait = socket->credit_waits; wait; wait = wait->next) {
        if (wait->error != 0 || !match(wait->request, key))
            continue;
        wait->error = error;
        socket->files++;
        count++;
        wake(wait);
    }
    return count;
}

void exs_socket_changed(struct exs_socket *socket)
{
    for (struct exs_watch *watch = socket->watches; watch; watch = watch->next)
        watch->changed(watch);
}

/* At the fork, locks may have been held and objects half changed, so all of them are abandoned. */
void exs_socket_forget(void)
{
    table_entry *page;

    (void)pthread_mutex_init(&pool_lock, NULL);
    pool = NULL;
    for (size_t i = 0; i < PAGES; i++) {
        page = atomic_load(&table[i]);
        for (size_t j = 0; page && j < PAGE_SOCKETS; j++)
            atomic_store(&page[j], NULL);
    }
}
