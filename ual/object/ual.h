/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The objects of handles. Each ends with the provider's private area, whose size the
 * provider gives and which is allocated with the object. A child holds its parents:
 * base_object.children of a PZ counts its EPs, LMRs and so on; that of an EVD counts the objects
 * that feed it.
 */
#ifndef ITAPI_UAL_OBJECT_UAL_H
#define ITAPI_UAL_OBJECT_UAL_H

#include "base/base_lock.h"
#include "base/base_object.h"
#include "base/base_refuse.h"
#include "evd/queue/evd.h"

#include "it_api.h"
#include "itx_api.h"

#include <stdalign.h>
#include <stdatomic.h>

struct vp_provider;
struct vp_ep_ops;
struct vp_srq_ops;

#define UAL_AREA alignas(64) unsigned char area[]

struct ual_ia {
    struct evd_ia evd; /* begins with the object header; evd.lock guards the lists of objects */
    const struct vp_provider *provider; /* immutable */
    struct base_pool *pools;           /* the provider's pools, one per type of object; immutable */
    char name[IT_INTERFACE_NAME_SIZE]; /* immutable */
    uint64_t max_message;              /* immutable: copied from vp_attributes for posts */
    struct ual_stats *stats;           /* immutable while open: NULL without ITAPI_STATS */
    _Atomic int frozen;                /* the process that called itx_ia_freeze; 0: none */
    _Atomic size_t half_open_share;    /* itx_ia_set_half_open_share; 0: default */
    UAL_AREA;
};

struct ual_pz {
    struct base_object object;
    UAL_AREA;
};

/* Its children are the links, posted and executed, of RMRs to it. */
struct ual_lmr {
    struct base_object object;
    void *addr; /* immutable, as are the members up to shared_id */
    it_length_t length;
    it_addr_mode_t addr_mode;
    it_lmr_flag_t flags;
    uint32_t shared_id;
    _Atomic bool linked;   /* the key is valid; cleared by the provider when it is invalidated */
    _Atomic uint64_t pass; /* vp_host.lmr_pass; 0: not live */
    /* Only it_lmr_modify changes these, while nothing uses the LMR; a query takes the lock. */
    struct base_lock lock;
    struct ual_pz *pz; /* held */
    it_mem_priv_t privs;
    it_rmr_context_t key; /* set by the provider */
    UAL_AREA;
};

struct ual_srq {
    struct base_object object;
    const struct vp_srq_ops *ops; /* immutable: the provider's functions for posting */
    struct ual_pz *pz;            /* held; immutable */
    size_t max_recv_segments;     /* immutable; may be rounded up by the provider */
    struct base_lock lock;        /* guards the members below and, in uiwarp, the queue */
    size_t max_recv_dtos;         /* depth in force */
    size_t low_watermark;         /* 0: not armed, or already fired */
    UAL_AREA;
};

struct ual_rmr {
    struct base_object object;
    struct ual_pz *pz;  /* held; immutable */
    it_rmr_type_t type; /* narrow or wide; immutable */
    UAL_AREA;
};

/* Its children are the narrow RMRs linked through it. */
struct ual_ep {
    struct base_object object;
    const struct vp_ep_ops *ops; /* immutable: the provider's data path */
    struct ual_pz *pz;           /* held; immutable */
    struct evd *request_evd;     /* held; immutable */
    struct evd *recv_evd;        /* held; immutable */
    struct evd *connect_evd;     /* held; immutable */
    struct ual_srq *srq;         /* held; immutable; NULL: receives are posted on the EP itself */
    it_ep_rc_creation_flags_t flags;
    bool datagrams;        /* immutable: a UD endpoint, without .connect_evd and .srq */
    size_t spigot_id;      /* immutable; valid if datagrams */
    struct base_lock lock; /* guards the members below and, in uiwarp, the work queues */
    /*
     * An it_ep_state_rc_t, or with datagrams an it_ep_state_ud_t; written with the lock held
     * (ual_ep_state.h).
     */
    _Atomic int state;
    it_ep_attributes_t attr; /* in force */
    it_path_t dst_path;
    _Atomic bool tells_last_recv;    /* itx_ep_tell_last_recv */
    _Atomic uint32_t immediate_bits; /* value of vp_attributes once enabled; otherwise 0 */
    UAL_AREA;
};

struct ual_listen {
    struct base_object object;
    size_t spigot_id;
    struct evd *connect_evd; /* held */
    it_listen_flags_t flags;
    it_conn_qual_t conn_qual; /* in network byte order; the provider fills in the port */
    UAL_AREA;
};

/* A destination of datagrams. */
struct ual_address {
    struct base_object object;
    struct ual_pz *pz;     /* held; immutable */
    struct base_lock lock; /* guards the members below */
    it_path_t path;
    UAL_AREA;
};

/* A request for a peer's UD endpoint. Immutable. */
struct ual_ud_service {
    struct base_object object;
    struct evd *reply_evd; /* held */
    uint32_t request_id;
    it_conn_qual_t conn_qual;
    it_path_t path;
    unsigned char private_data[IT_MAX_PRIV_DATA];
    size_t private_length;
    UAL_AREA;
};

static inline struct ual_ia *ual_ia_of(const struct base_object *object)
{
    return (struct ual_ia *)(void *)object->ia;
}

static inline bool ual_ia_failed(const struct ual_ia *ia)
{
    return atomic_load_explicit(&ia->evd.failed, memory_order_relaxed);
}

/* Returns the object if the handle is a live object of that type; otherwise NULL. */
#define UAL_FROM_HANDLE(name, handle_type, object_type, tag)                                       \
    static inline struct object_type *name(handle_type handle)                                     \
    {                                                                                              \
        return base_object_is(handle, tag) ? (struct object_type *)(void *)handle : NULL;          \
    }

UAL_FROM_HANDLE(ual_ia_from, it_ia_handle_t, ual_ia, IT_HANDLE_TYPE_IA)
UAL_FROM_HANDLE(ual_pz_from, it_pz_handle_t, ual_pz, IT_HANDLE_TYPE_PZ)
UAL_FROM_HANDLE(ual_lmr_from, it_lmr_handle_t, ual_lmr, IT_HANDLE_TYPE_LMR)
UAL_FROM_HANDLE(ual_srq_from, it_srq_handle_t, ual_srq, IT_HANDLE_TYPE_SRQ)
UAL_FROM_HANDLE(ual_rmr_from, it_rmr_handle_t, ual_rmr, IT_HANDLE_TYPE_RMR)
UAL_FROM_HANDLE(ual_ep_from, it_ep_handle_t, ual_ep, IT_HANDLE_TYPE_EP)
UAL_FROM_HANDLE(ual_listen_from, it_listen_handle_t, ual_listen, IT_HANDLE_TYPE_LISTEN)
UAL_FROM_HANDLE(ual_address_from, it_addr_handle_t, ual_address, IT_HANDLE_TYPE_ADDR)
UAL_FROM_HANDLE(ual_ud_service_from, it_ud_svc_req_handle_t, ual_ud_service,
                IT_HANDLE_TYPE_UD_SVC_REQ)
#undef UAL_FROM_HANDLE

static inline it_ep_handle_t ual_ep_handle(struct ual_ep *ep)
{
    return (it_ep_handle_t)(void *)ep;
}

/* The status of a call on connections when the handle is no live EP, or a UD endpoint. */
static inline it_status_t ual_ep_refuse(const char *call, it_ep_handle_t ep_handle)
{
    return base_refuse_handle(ual_ep_from(ep_handle) ? IT_ERR_INVALID_EP_TYPE : IT_ERR_INVALID_EP,
                              call, ep_handle);
}

static inline it_srq_handle_t ual_srq_handle(struct ual_srq *srq)
{
    return (it_srq_handle_t)(void *)srq;
}

#endif
