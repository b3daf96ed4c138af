/* SPDX-License-Identifier: BSD-2-Clause */
/* An Event Dispatcher. EPs, service points and the IA refer to it. */
#ifndef ITAPI_ULP_UDAPL_OBJECT_UDAPL_EVD_H
#define ITAPI_ULP_UDAPL_OBJECT_UDAPL_EVD_H

#include "object/udapl_object.h"

#include "it_api.h"

struct udapl_cno;
struct udapl_ep;

struct udapl_evd {
    struct udapl_object object;
    DAT_EVD_FLAGS flags;             /* the streams it was made for; constant, as the next */
    it_evd_handle_t it;              /* what is dequeued from and waited for */
    _Atomic(struct udapl_cno *) cno; /* or NULL; changes with the lock held */
    _Atomic(struct udapl_ep *) last; /* that a completion was of, or NULL; it may be freed since */
    _Atomic(bool) told;              /* the CNO has told of it, and nothing was taken since */
    _Atomic(bool) waits;             /* a thread is in dat_evd_wait */
    _Atomic(bool) unwaitable;
    _Atomic(bool) ended;  /* the consumer knows that the IA has failed */
    pthread_mutex_t lock; /* guards what follows, and membership of .it in AEVDs */
    bool disabled;
    it_evd_handle_t aevd;    /* the one that .it is a member of, or NULL */
    struct udapl_ia *joined; /* other IAs whose errors come here: udapl_join.c */
};

#endif
