/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A queue of pointers whose descriptor is readable exactly while it holds some: completion
 * channels, asynchronous events and event channels of rdma_cm. Programs poll the descriptor and
 * make it non-blocking as they like.
 */
#ifndef ITAPI_ULP_OFA_SUPPORT_OFA_FIFO_H
#define ITAPI_ULP_OFA_SUPPORT_OFA_FIFO_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct ofa_fifo {
    struct ofa_fifo *next; /* in the list of all */
    int fd;                /* an eventfd that counts */
    pthread_mutex_t lock;
    void **items; /* a ring; this and what follows with the lock */
    size_t room;
    size_t first;
    size_t count;
};

/* Returns 0 or errno. */
int ofa_fifo_open(struct ofa_fifo *fifo);

void ofa_fifo_close(struct ofa_fifo *fifo);

/* Returns 0 or ENOMEM. */
int ofa_fifo_push(struct ofa_fifo *fifo, void *item);

/*
 * Takes the oldest. Sleeps while there is none, unless the program has made the descriptor
 * non-blocking (EAGAIN). 0 or errno. A thread may be cancelled while it sleeps.
 */
int ofa_fifo_pop(struct ofa_fifo *fifo, void **item);

/* Takes out, oldest first, one that matches; NULL if there is none. */
void *ofa_fifo_remove(struct ofa_fifo *fifo, bool (*match)(const void *item, const void *key),
                      const void *key);

#endif /* ITAPI_ULP_OFA_SUPPORT_OFA_FIFO_H */
