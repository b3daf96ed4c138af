/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/ofa_fifo.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/uio.h>
#include <unistd.h>

/* ---- Processes that fork --------------------------------------------------------------------- */

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct ofa_fifo *fifos;

static void lock_list(void)
{
    (void)pthread_mutex_lock(&list_lock);
}

static void unlock_list(void)
{
    (void)pthread_mutex_unlock(&list_lock);
}

/* In the child: replaces the eventfd, which both processes share, by one of its own. */
static void renew(struct ofa_fifo *fifo)
{
    int flags = fcntl(fifo->fd, F_GETFL);
    int fd = eventfd((unsigned int)fifo->count,
                     EFD_CLOEXEC | EFD_SEMAPHORE | (flags & O_NONBLOCK ? EFD_NONBLOCK : 0));

    (void)pthread_mutex_init(&fifo->lock, NULL);
    if (fd >= 0) {
        (void)dup3(fd, fifo->fd, O_CLOEXEC);
        (void)close(fd);
    }
}

static void renew_all(void)
{
    for (struct ofa_fifo *fifo = fifos; fifo; fifo = fifo->next)
        renew(fifo);
    unlock_list();
}

static void register_handlers(void)
{
    (void)pthread_atfork(lock_list, unlock_list, renew_all);
}

static void list_add(struct ofa_fifo *fifo)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    (void)pthread_once(&once, register_handlers);
    lock_list();
    fifo->next = fifos;
    fifos = fifo;
    unlock_list();
}

static void list_remove(const struct ofa_fifo *fifo)
{
    struct ofa_fifo **link;

    lock_list();
    for (link = &fifos; *link != fifo; link = &(*link)->next) {
    }
    *link = fifo->next;
    unlock_list();
}

/* ---- Queues ---------------------------------------------------------------------------------- */

int ofa_fifo_open(struct ofa_fifo *fifo)
{
    int fd = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);

    if (fd < 0)
        return errno;
    *fifo = (struct ofa_fifo){.fd = fd};
    fifo->end = &fifo->first;
    (void)pthread_mutex_init(&fifo->lock, NULL);
    list_add(fifo);
    return 0;
}

void ofa_fifo_close(struct ofa_fifo *fifo)
{
    list_remove(fifo);
    (void)close(fifo->fd);
    (void)pthread_mutex_destroy(&fifo->lock);
}

static void append_locked(struct ofa_fifo *fifo, struct ofa_fifo_item *item)
{
    item->next = NULL;
    *fifo->end = item;
    fifo->end = &item->next;
}

static void unlink_locked(struct ofa_fifo *fifo, struct ofa_fifo_item **link)
{
    struct ofa_fifo_item *item = *link;

    *link = item->next;
    if (fifo->end == &item->next)
        fifo->end = link;
}

void ofa_fifo_push(struct ofa_fifo *fifo, struct ofa_fifo_item *item)
{
    const uint64_t one = 1;

    (void)pthread_mutex_lock(&fifo->lock);
    if (item->times++ == 0)
        append_locked(fifo, item);
    fifo->count++;
    /* Cannot be full: it counts to 2^64. */
    (void)!write(fifo->fd, &one, sizeof(one));
    (void)pthread_mutex_unlock(&fifo->lock);
}

bool ofa_fifo_is_empty(struct ofa_fifo *fifo)
{
    bool empty;

    (void)pthread_mutex_lock(&fifo->lock);
    empty = fifo->count == 0;
    (void)pthread_mutex_unlock(&fifo->lock);
    return empty;
}

static struct ofa_fifo_item *take_first(struct ofa_fifo *fifo,
                                        void (*count)(struct ofa_fifo_item *item))
{
    struct ofa_fifo_item *item;

    (void)pthread_mutex_lock(&fifo->lock);
    item = fifo->first;
    if (item) {
        unlink_locked(fifo, &fifo->first);
        if (--item->times > 0)
            append_locked(fifo, item);
        fifo->count--;
        count(item);
    }
    (void)pthread_mutex_unlock(&fifo->lock);
    return item;
}

int ofa_fifo_pop(struct ofa_fifo *fifo, void (*count)(struct ofa_fifo_item *item),
                 struct ofa_fifo_item **item)
{
    uint64_t one;

    /* A thread that has read 1 owns one item, unless another thread has removed it. */
    do {
        if (read(fifo->fd, &one, sizeof(one)) < 0)
            return errno;
        *item = take_first(fifo, count);
    } while (!*item);
    return 0;
}

/*
 * Decrements the eventfd for a removed item, unless a reader has done so. If the kernel does not
 * support RWF_NOWAIT here (before 5.8), a reader may wake once without an item.
 */
static void take_back(struct ofa_fifo *fifo)
{
    uint64_t count;
    struct iovec vector = {.iov_base = &count, .iov_len = sizeof(count)};

    (void)!preadv2(fifo->fd, &vector, 1, -1, RWF_NOWAIT);
}

struct ofa_fifo_item *ofa_fifo_remove(struct ofa_fifo *fifo, ofa_fifo_match match, const void *key)
{
    struct ofa_fifo_item **link = &fifo->first;
    struct ofa_fifo_item *found;

    (void)pthread_mutex_lock(&fifo->lock);
    while (*link && !match(*link, key))
        link = &(*link)->next;
    found = *link;
    if (found) {
        if (--found->times == 0)
            unlink_locked(fifo, link);
        fifo->count--;
        take_back(fifo);
    }
    (void)pthread_mutex_unlock(&fifo->lock);
    return found;
}
