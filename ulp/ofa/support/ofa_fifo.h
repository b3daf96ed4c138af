/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A queue of pointers with a descriptor that is readable while the queue is not empty. It serves
 * completion channels, asynchronous events and event channels of rdma_cm. Programs may poll the
 * descriptor and make it non-blocking.
 */
#ifndef ITAPI_ULP_OFA_SUPPORT_OFA_FIFO_H
#define ITAPI_ULP_OFA_SUPPORT_OFA_FIFO_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct ofa_fifo {
    struct ofa_fifo *next; /* in the list of all queues */
    int fd;                /* an eventfd that counts the items */
    pthread_mutex_t lock;
    void **items; /* a ring; guarded by .lock, like what follows */
    size_t room;
    size_t first;
    size_t count;
};

/* Returns 0 or errno. */
int ofa_fifo_open(struct ofa_fifo *fifo);

void ofa_fifo_close(struct ofa_fifo *fifo);

/* Returns 0 or ENOMEM. */
int ofa_fifo_push(struct ofa_fifo *fifo, void *item);

bool ofa_fifo_is_empty(struct ofa_fifo *fifo);

/*
 * Takes the oldest item. Sleeps while there is none, unless the program has made the descriptor
 * non-blocking (EAGAIN). Returns 0 or errno. A sleeping thread may be cancelled.
 *
 * count is called for the item with the lock held. So when ofa_fifo_remove has found no item of an
 * object, all those that threads have taken are counted, and the object can wait for them.
 */
int ofa_fifo_pop(struct ofa_fifo *fifo, void (*count)(void *item), void **item);

/* Removes the oldest item that matches; NULL: none. */
void *ofa_fifo_remove(struct ofa_fifo *fifo, bool (*match)(const void *item, const void *key),
                      const void *key);

#endif /* ITAPI_ULP_OFA_SUPPORT_OFA_FIFO_H */
