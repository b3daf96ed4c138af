/* SPDX-License-Identifier: BSD-2-Clause */
/* An Event Dispatcher, referenced by EPs, service points and the IA. */
#ifndef ITAPI_ULP_UDAPL_OBJECT_UDAPL_EVD_H
#define ITAPI_ULP_UDAPL_OBJECT_UDAPL_EVD_H

#include "object/udapl_object.h"

#include "it_api.h"

struct udapl_cno;
struct udapl_ep;

struct udapl_evd {
    struct udapl_object object;
    DAT_EVD_FLAGS flags;             /* streams of the EVD; constant, like the next */
    it_evd_handle_t it;              /* the EVD of IT-API */
    _Atomic(struct udapl_cno *) cno; /* or NULL; changes with .lock held */
    _Atomic(struct udapl_ep *) last; /* EP of the last completion, or NULL; it may be freed */
    _Atomic(bool) told;              /* the CNO has notified of it; no event was taken since */
    _Atomic(bool) waits;             /* a thread is in dat_evd_wait */
    _Atomic(bool) unwaitable;
    _Atomic(bool) ended;  /* the consumer has the event that the IA has failed */
    pthread_mutex_t lock; /* guards what follows, and the membership of .it in an AEVD */
    bool disabled;
    it_evd_handle_t aevd;    /* the AEVD of which .it is a member, or NULL */
    struct udapl_ia *joined; /* other IAs that send their errors here: udapl_join.c */
};

#endif
