/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A queue with a descriptor that is readable while the queue is not empty. It serves completion
 * channels, asynchronous events and event channels of rdma_cm. Programs may poll the descriptor and
 * make it non-blocking. The items bring their own links, so that adding one needs no memory.
 */
#ifndef ITAPI_ULP_OFA_SUPPORT_OFA_FIFO_H
#define ITAPI_ULP_OFA_SUPPORT_OFA_FIFO_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* A member of what is queued. */
struct ofa_fifo_item {
    struct ofa_fifo_item *next; /* guarded by ofa_fifo.lock */
    size_t times;               /* in the queue; the item is in the list once */
};

struct ofa_fifo {
    struct ofa_fifo *next; /* in the list of all queues */
    int fd;                /* an eventfd that counts the items */
    pthread_mutex_t lock;
    struct ofa_fifo_item *first; /* guarded by .lock, like what follows */
    struct ofa_fifo_item **end;
    size_t count;
};

typedef bool (*ofa_fifo_match)(const struct ofa_fifo_item *item, const void *key);

/* Returns 0 or errno. */
int ofa_fifo_open(struct ofa_fifo *fifo);

void ofa_fifo_close(struct ofa_fifo *fifo);

/* Adds an item, which may be in the queue already. It stays valid until it is taken. */
void ofa_fifo_push(struct ofa_fifo *fifo, struct ofa_fifo_item *item);

bool ofa_fifo_is_empty(struct ofa_fifo *fifo);

/*
 * Takes the oldest item; one that was added several times goes to the end. Sleeps while there is
 * none, unless the program has made the descriptor non-blocking (EAGAIN). Returns 0 or errno. A
 * sleeping thread may be cancelled.
 *
 * count is called for the item with the lock held. So when ofa_fifo_remove has found no item of an
 * object, all those that threads have taken are counted, and the object can wait for them.
 */
int ofa_fifo_pop(struct ofa_fifo *fifo, void (*count)(struct ofa_fifo_item *item),
                 struct ofa_fifo_item **item);

/* Removes the oldest item that matches, one time; NULL: none. */
struct ofa_fifo_item *ofa_fifo_remove(struct ofa_fifo *fifo, ofa_fifo_match match, const void *key);

#endif /* ITAPI_ULP_OFA_SUPPORT_OFA_FIFO_H */
