/* SPDX-License-Identifier: BSD-2-Clause */
/* An opened IA. */
#ifndef ITAPI_ULP_UDAPL_OBJECT_UDAPL_IA_H
#define ITAPI_ULP_UDAPL_OBJECT_UDAPL_IA_H

#include "object/udapl_object.h"
#include "object/udapl_provider.h"

#include "itx_api.h"

#include <netinet/in.h>

struct udapl_evd;
struct udapl_handoff;
struct udapl_rmr;

#define UDAPL_IA_WINDOWS 256

struct udapl_ia {
    struct udapl_object object;
    const struct udapl_provider *provider; /* constant, like what follows */
    it_ia_handle_t it;
    it_ia_info_t *info;
    struct itx_features features;
    struct sockaddr_storage address;                      /* for dat_ia_query */
    _Atomic(struct udapl_rmr *) window[UDAPL_IA_WINDOWS]; /* last bound windows, by key */
    pthread_mutex_t lock;                                 /* guards what follows */
    struct udapl_object *objects[UDAPL_TYPES];
    struct udapl_evd *async_evd;    /* created by dat_ia_open, or NULL */
    struct udapl_evd *errors_evd;   /* gets the asynchronous errors, or NULL */
    struct udapl_ia *next_joined;   /* in .joined of another IA's EVD: udapl_join.c */
    struct udapl_handoff *handoffs; /* requests being handed off to another service point */
};

static inline struct udapl_ia *udapl_ia_from(DAT_IA_HANDLE handle)
{
    return udapl_is(handle, DAT_HANDLE_TYPE_IA) ? handle : NULL;
}

/* Returns the handle that the consumer has: the registry's number for the IA. */
DAT_IA_HANDLE udapl_ia_handle(const struct udapl_ia *ia);

/* Returns a zeroed IA, which is not a valid handle yet. NULL: no memory. */
struct udapl_ia *udapl_ia_new(const struct udapl_provider *provider);
void udapl_ia_start(struct udapl_ia *ia);
/* Ends an IA without objects. The handle is stale afterwards. */
void udapl_ia_end(struct udapl_ia *ia);

/* Returns true if the IA has objects besides its own EVD for asynchronous errors. */
bool udapl_ia_is_used(struct udapl_ia *ia);

#endif
