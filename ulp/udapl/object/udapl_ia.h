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
    const struct udapl_provider *provider; /* constant, as what follows */
    it_ia_handle_t it;
    it_ia_info_t *info;
    struct itx_features features;
    struct sockaddr_storage address;                      /* that ia_query tells */
    _Atomic(struct udapl_rmr *) window[UDAPL_IA_WINDOWS]; /* bound last, by their keys */
    pthread_mutex_t lock;                                 /* guards what follows */
    struct udapl_object *objects[UDAPL_TYPES];
    struct udapl_evd *async_evd;    /* made by ia_open, or NULL */
    struct udapl_evd *errors_evd;   /* that its asynchronous errors go to, or NULL */
    struct udapl_ia *next_joined;   /* that share .errors_evd of another IA: udapl_join.c */
    struct udapl_handoff *handoffs; /* requests that are on their way to another service point */
};

static inline struct udapl_ia *udapl_ia_from(DAT_IA_HANDLE handle)
{
    return udapl_is(handle, DAT_HANDLE_TYPE_IA) ? handle : NULL;
}

/* What the consumer knows it by: the registry's number for it. */
DAT_IA_HANDLE udapl_ia_handle(const struct udapl_ia *ia);

/* A zeroed IA that is no handle yet; NULL without memory. */
struct udapl_ia *udapl_ia_new(const struct udapl_provider *provider);
void udapl_ia_start(struct udapl_ia *ia);
/* It has no objects; the handle is stale from now on. */
void udapl_ia_end(struct udapl_ia *ia);

/* Whether anything but its own EVD for asynchronous errors is there. */
bool udapl_ia_is_used(struct udapl_ia *ia);

#endif
