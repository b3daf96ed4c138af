/* SPDX-License-Identifier: BSD-2-Clause */
#include "unit/iser_pool.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct list {
    struct iser_work *first, **end;
};

struct iser_pool {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    struct list waiting; /* guarded by the lock, as are the members below */
    struct list finished;
    bool stopping;

    unsigned under_way; /* submitted and not reaped; used in the loop only */
    int fd;
    unsigned threads;
    pthread_t thread[];
};

static void append(struct list *list, struct iser_work *work)
{
    work->next = NULL;
    *list->end = work;
    list->end = &work->next;
}

static struct iser_work *take(struct list *list)
{
    struct iser_work *work = list->first;

    list->first = work->next;
    if (!list->first)
        list->end = &list->first;
    return work;
}

static void *pool_thread(void *argument)
{
    struct iser_pool *pool = argument;

    pthread_mutex_lock(&pool->lock);
    for (;;) {
        struct iser_work *work;
        bool wake;

        while (!pool->waiting.first && !pool->stopping)
            pthread_cond_wait(&pool->filled, &pool->lock);
        if (!pool->waiting.first)
            break;
        work = take(&pool->waiting);
        pthread_mutex_unlock(&pool->lock);
        work->run(work);
        pthread_mutex_lock(&pool->lock);
        wake = !pool->finished.first;
        append(&pool->finished, work);
        if (wake)
            (void)eventfd_write(pool->fd, 1); /* its value is at most 1, so this cannot block */
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* The thread blocks all signals: they are for the program's threads. */
static bool start_thread(struct iser_pool *pool)
{
    sigset_t all, before;
    bool good;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    good = pthread_create(&pool->thread[pool->threads], NULL, pool_thread, pool) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pool->threads += good;
    return good;
}

struct iser_pool *iser_pool_new(unsigned threads)
{
    struct iser_pool *pool = calloc(1, sizeof(*pool) + threads * sizeof(pthread_t));

    if (!pool)
        return NULL;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->filled, NULL);
    pool->waiting.end = &pool->waiting.first;
    pool->finished.end = &pool->finished.first;
    pool->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    while (pool->fd >= 0 && pool->threads < threads)
        if (!start_thread(pool))
            break;
    if (pool->fd >= 0 && pool->threads == threads)
        return pool;
    iser_pool_free(pool);
    return NULL;
}

void iser_pool_free(struct iser_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    pool->stopping = true;
    pthread_cond_broadcast(&pool->filled);
    pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 0; i < pool->threads; i++)
        pthread_join(pool->thread[i], NULL);
    if (pool->fd >= 0)
        (void)close(pool->fd);
    pthread_cond_destroy(&pool->filled);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

void iser_pool_submit(struct iser_pool *pool, struct iser_work *work)
{
    pool->under_way++;
    pthread_mutex_lock(&pool->lock);
    append(&pool->waiting, work);
    pthread_cond_signal(&pool->filled);
    pthread_mutex_unlock(&pool->lock);
}

bool iser_pool_is_idle(const struct iser_pool *pool)
{
    return pool->under_way == 0;
}

int iser_pool_fd(const struct iser_pool *pool)
{
    return pool->fd;
}

void iser_pool_reap(struct iser_pool *pool)
{
    struct iser_work *work, *next;
    eventfd_t count;

    pthread_mutex_lock(&pool->lock);
    (void)eventfd_read(pool->fd, &count);
    work = pool->finished.first;
    pool->finished.first = NULL;
    pool->finished.end = &pool->finished.first;
    pthread_mutex_unlock(&pool->lock);
    for (; work; work = next) {
        next = work->next; /* done may free it */
        pool->under_way--;
        work->done(work);
    }
}
