/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The provider for devices of rdma-core: its objects, the private areas of those of the library. A
 * shared library of its own, which reaches the library by the table verbs_host alone.
 */
#ifndef ITAPI_VP_VERBS_DEVICE_VERBS_H
#define ITAPI_VP_VERBS_DEVICE_VERBS_H

#include "base/base_lock.h"
#include "ual/vp_host.h"

#include <ifaddrs.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern const struct vp_host *verbs_host;

struct verbs_cm;   /* connections of an IA: verbs_cm_private.h */
struct verbs_conn; /* connection of an EP: verbs_cm_private.h */
struct verbs_listener;
struct verbs_ud;      /* what only an EP of datagrams has: verbs_ud.h */
struct verbs_convert; /* conversion of an EP's socket */

/* What devices do otherwise than the rest. */
struct verbs_quirks {
    bool is_siw; /* what follows, found out by name and vendor */
    bool is_rxe;
    bool zero_segments;   /* a receive without a segment is refused */
    bool late_posts_lost; /* what is posted when the QP has failed never completes */
    bool reads_overtaken; /* a request completes before the Read in front of it */
    unsigned
        invalidated; /* flag of a completion: rxe hands on the one that the kernel uses inside */
};

/* Writes of no octets that a connection of siw may begin with: verbs_cm_nudge.c. */
#define VERBS_NUDGES 3

struct verbs_ia {
    struct ual_ia *ual;
    struct ibv_context *context; /* our own, not that of librdmacm */
    struct ibv_device_attr_ex device;
    struct vp_attributes attributes;
    struct verbs_quirks quirks;
    bool is_iwarp;
    uint8_t ports;
    struct ibv_cq *filler; /* NULL: not needed */
    struct vp_watch *async_watch;
    pthread_mutex_t
        attach_lock;          /* one at a time gives an EVD its source; a leaf but for evd.lock */
    _Atomic bool removed;     /* the device is gone */
    pthread_mutex_t rmr_lock; /* a leaf */
    struct verbs_rmr *rmrs;   /* by .rmr_lock */
    struct verbs_cm *cm;      /* by verbs_cm_ep.c */
};

struct verbs_pz {
    struct ibv_pd *pd;
    struct ibv_mr *empty_mr; /* with .zero_segments: of .empty */
    unsigned char empty[8];
};

/* What a segment needs comes first. */
struct verbs_lmr {
    uint32_t lkey;
    /* For data that is sent from within a post: the device does not check it. */
    uintptr_t addr;
    uint64_t length;
    struct ibv_pd *pd;
    struct ibv_mr *mr;
    bool has_windows; /* RMRs can be linked to it */
};

/* ---------------------------------------------------------------- work queues */

struct verbs_queue;

/*
 * What a slot is about, in one word, which a post writes at once: flags (it_dto_flags_t; those of a
 * receive have IT_NOTIFY_FLAG), event (verbs_event_bits), marks, and with VERBS_REFUSED or
 * VERBS_DONE the enum ibv_wc_status.
 */
#define VERBS_FLAGS        UINT32_C(0xff)
#define VERBS_EVENT_SHIFT  8
#define VERBS_QUIET        (UINT32_C(1) << 16) /* a success has no event */
#define VERBS_LINKED       (UINT32_C(1) << 17) /* a note lies in verbs_queue.links */
#define VERBS_REFUSED      (UINT32_C(1) << 18) /* by us: ends the connection in its turn */
#define VERBS_DONE         (UINT32_C(1) << 19) /* with .reads_overtaken, by the lock of the EVD */
#define VERBS_RECEIVE      (UINT32_C(1) << 20)
#define VERBS_DATAGRAM     (UINT32_C(1) << 21) /* a receive of an EP of datagrams */
#define VERBS_STATUS_SHIFT 24

/* One request or receive, found by its wr_id. A slot is free again when its event is dequeued. */
struct verbs_slot {
    struct verbs_queue *queue;
    it_dto_cookie_t cookie;
    uint32_t number; /* of the post: counts up, wraps */
    uint32_t what;
    uint32_t length; /* of a request */
};

/* Numbers of completions are small. The bits of an RDMA Write are 0: an instruction less. */
static inline uint32_t verbs_event_bits(it_event_type_t event)
{
    return ((uint32_t)event ^ (uint32_t)IT_DTO_RDMA_WRITE_CMPL_EVENT) << VERBS_EVENT_SHIFT;
}

static inline it_event_type_t verbs_event_of(uint32_t what)
{
    return (it_event_type_t)((what >> VERBS_EVENT_SHIFT & 0xff) ^
                             (uint32_t)IT_DTO_RDMA_WRITE_CMPL_EVENT);
}

static inline enum ibv_wc_status verbs_slot_status(const struct verbs_slot *slot)
{
    return (enum ibv_wc_status)(slot->what >> VERBS_STATUS_SHIFT);
}

/* The prepared requests of one segment: a post fills in its own members. */
enum verbs_usual {
    VERBS_USUAL_SEND,
    VERBS_USUAL_SEND_INLINE,
    VERBS_USUAL_WRITE,
    VERBS_USUAL_WRITE_INLINE,
    VERBS_USUAL_READ,
    VERBS_USUALS
};

/*
 * Requests or receives of an EP. The numbers only ever grow: retired <= reaped <= tail. What is
 * posted while .local is set never reaches the device: it is flushed when all before it is done.
 */
struct verbs_queue {
    struct base_lock lock; /* posting: the order of slots is that of the device */
    /* By .lock. */
    uint32_t tail;            /* next post */
    uint32_t room_end;        /* behind the last one that there is a slot for, as far as is known */
    uint32_t mask;            /* immutable, of .slots: a power of two, less one */
    struct verbs_slot *slots; /* immutable */
    /* The LMR of the last usual post, whose key is in .sge: handle and VP_LMR_PASS; its memory. */
    it_lmr_handle_t lmr;
    uint64_t pass;
    uintptr_t region;
    uint64_t region_inline; /* longest segment of it that goes with the request itself */
    uint64_t inline_end;    /* any such segment that begins before this offset lies within */
    uint64_t inline_max;    /* longest segment that goes with the request itself */
    uint64_t payload_max;   /* of a request: max_dto_payload_size */
    struct ibv_qp *qp;      /* as that of .ep; its functions in .post */
    union {
        int (*send)(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
        int (*recv)(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
    } post;
    struct ibv_sge sge;
    union { /* what usual posts have in common is filled in */
        struct ibv_send_wr send[VERBS_USUALS];
        struct ibv_recv_wr recv;
    } usual_wr;
    uint32_t quiet;      /* posts since the last one that gives a completion */
    uint32_t local_from; /* with .local: the first post that the device does not get */
    bool local;
    bool open;     /* posts are legal */
    bool may_read; /* of requests: the ORD is not 0 */
    bool usual;    /* and go straight to the device; if not, room_end is tail */
    /* Immutable. */
    bool is_receive;
    uint32_t depth;
    uint32_t signal_every;
    struct verbs_link *links; /* one per slot; NULL: the device has no windows */
    struct verbs_ep *ep;
    it_ep_handle_t handle; /* of .ep */
    struct verbs_cq *cq;
    struct verbs_slot marker; /* wr_id of a request behind all others, of the library itself */

    /* By the lock of the EVD. */
    uint32_t reaped;      /* behind the newest that is known to be done */
    uint32_t moved;       /* retire_value of the newest that went into the EVD's own queue */
    uint32_t ordered;     /* with .reads_overtaken: behind the last that went into the stash */
    uint32_t overtaking;  /* all before it but Reads are done */
    uint32_t device_tail; /* with .flushes: behind the last that the device completes */
    uint32_t renewed; /* where the last reset was: what is before it is of an earlier connection */
    uint32_t flushed; /* with .drained: behind the last that we have completed instead of it */
    bool flushes;     /* the QP has failed */
    bool drained;     /* and all that the device completes has been polled */

    _Atomic uint32_t published; /* .tail, for those who flush: unless .usual */
    _Atomic uint32_t retired;   /* behind the newest whose event has been dequeued */
};

/* The EPs of one S-RQ on a CQ: together they have no more completions than that has receives. */
struct verbs_share {
    struct verbs_share *next;
    const struct ual_srq *srq;
    uint32_t eps;
};

/* One CQ of an EVD, as large as all queues on it together. Guarded by the EVD's lock. */
struct verbs_cq {
    struct verbs_cq *next;
    struct ibv_cq *cq;
    uint32_t capacity;
    uint32_t used; /* by the attach lock of the IA, as what follows */
    struct verbs_share *shares;
    /* Polled, or made by us, and not yet taken; room for all there can be. */
    struct ibv_wc *stash, *stash_first, *stash_end;
    struct ibv_wc *unsorted; /* with .reads_overtaken: a batch is polled to there; else NULL */
};

#define VERBS_BY_QP 64u /* a power of two */

/* The source of an EVD. */
struct verbs_source {
    struct evd_source_view view; /* first; immutable, as what follows */
    struct verbs_ia *ia;
    it_evd_handle_t evd;
    struct ibv_comp_channel *channel;
    /* By the EVD's lock. */
    struct verbs_cq *cqs; /* the one that is asked first changes */
    uint32_t empty_looks;
    struct verbs_ep *by_qp[VERBS_BY_QP]; /* EPs with an S-RQ, by the number of the QP */
};

struct verbs_ep {
    struct verbs_queue sq, rq; /* .rq: without an S-RQ */
    struct ual_ep *ual;
    struct verbs_ia *ia;
    it_ep_handle_t handle;
    struct ibv_pd *pd;
    struct ual_srq *srq;
    uint32_t empty_lkey; /* with .zero_segments */
    uint64_t empty_addr;
    uint32_t send_segments, recv_segments; /* what the QP was made for */
    uint32_t inline_max;                   /* octets that it takes with a request itself */
    _Atomic bool ends;                     /* in ep_destroy */
    _Atomic bool resets;                   /* a thread is in ep_reset */
    _Atomic bool parted;                   /* a disconnect has ended the connection */
    _Atomic bool parted_before;            /* ... that before the last reset */

    struct ibv_qp *qp; /* exchanged by ep_reset only: nobody posts then */
    struct verbs_source *request_source, *recv_source;
    struct verbs_ep *next_by_qp; /* with an S-RQ: by the lock of the receive EVD, as what follows */
    uint32_t qp_num;
    struct vp_task *failed; /* tells connection management; submitted by anybody */
    struct verbs_ud *ud;    /* NULL: a connected EP; immutable */

    bool nudged;                 /* by the lock of .sq: the marker has been a nudge */
    _Atomic bool request_failed; /* with .reads_overtaken: set when it is polled */

    struct verbs_conn *conn; /* by verbs_cm_conn.c; the IA's thread only */
    /* By the EP's lock: the depths before they were agreed on. */
    bool agreed;
    uint32_t wanted_ird, wanted_ord;
    struct verbs_convert *convert; /* by verbs_convert.c */
};

/* A receive of an S-RQ, found by its wr_id, which has VERBS_SRQ_MARK besides. */
struct verbs_srq_slot {
    struct verbs_srq *srq;
    it_dto_cookie_t cookie;
    _Atomic bool busy;
};

#define VERBS_SRQ_MARK UINT64_C(1)

struct verbs_srq {
    struct ibv_srq *srq; /* immutable, as what follows */
    struct ual_srq *ual;
    struct verbs_ia *ia;
    struct verbs_pz *pz;
    uint32_t depth;
    struct verbs_srq_slot *slots;
    struct base_lock lock; /* posting */
    uint32_t cursor;       /* by .lock: the slot to try next */
    _Atomic uint32_t posted;
};

/* Guarded by verbs_ia.rmr_lock. */
struct verbs_rmr {
    struct verbs_rmr *next; /* of the IA's */
    struct ual_rmr *ual;
    struct verbs_ia *ia;
    struct ibv_mw *mw;
    bool wide;             /* immutable */
    struct ibv_mr *ground; /* of a wide one, immutable: what it is linked to when it is closed */
    unsigned char ground_octet;
    uint64_t serial; /* 0: freed */
    /* By what has been posted. */
    uint32_t last_key;
    uint32_t qp_num; /* where it was opened */
    bool is_open;
    bool is_unsure; /* a request that the device had has failed, or it had half of a pair */
    /* By what has been completed: with .state.lmr, that and the EP are held. */
    struct vp_rmr_state state;
    struct verbs_ep *ep;
};

/* What a link or unlink will have done; of an unlink .state is zero. */
struct verbs_link {
    struct verbs_rmr *rmr; /* NULL: nothing is under way */
    uint64_t serial;
    bool wide;
    struct ibv_mw *mw; /* what it is for; NULL: it is not for the device. Never looked into */
    struct vp_rmr_state state;
};

/* A destination. */
struct verbs_address {
    struct ibv_ah *ah;
};

struct verbs_listen {
    struct verbs_listener *listener; /* by verbs_cm_listen.c */
};

/* ---------------------------------------------------------------- areas */

static inline struct verbs_ia *verbs_ia_of(const struct ual_ia *ia)
{
    return verbs_host->ia_area((struct ual_ia *)(uintptr_t)ia);
}

static inline struct verbs_ep *verbs_ep_of(struct ual_ep *ep)
{
    return (struct verbs_ep *)(void *)((unsigned char *)ep + verbs_host->ep_offset);
}

static inline struct verbs_lmr *verbs_lmr_of(it_lmr_handle_t handle)
{
    return (struct verbs_lmr *)(void *)((unsigned char *)handle + verbs_host->lmr_offset);
}

static inline struct verbs_pz *verbs_pz_of(struct ual_pz *pz)
{
    return verbs_host->pz_area(pz);
}

static inline struct verbs_srq *verbs_srq_of(struct ual_srq *srq)
{
    return (struct verbs_srq *)(void *)((unsigned char *)srq + verbs_host->srq_offset);
}

static inline struct verbs_rmr *verbs_rmr_of(struct ual_rmr *rmr)
{
    return (struct verbs_rmr *)(void *)((unsigned char *)rmr + verbs_host->rmr_offset);
}

static inline struct verbs_listen *verbs_listen_of(struct ual_listen *listen)
{
    return verbs_host->listen_area(listen);
}

static inline struct verbs_address *verbs_address_of(struct ual_address *address)
{
    return (struct verbs_address *)(void *)((unsigned char *)address + verbs_host->address_offset);
}

/* More segments are never announced. */
#define VERBS_MAX_SEGMENTS 32

/* ---------------------------------------------------------------- short forms (verbs_host.c) */

#define verbs_log(level, ...) verbs_host->log((level), __VA_ARGS__)

/* Runs the function on the IA's thread and returns its status. */
it_status_t verbs_run(struct ual_ia *ia, it_status_t (*function)(void *argument), void *argument);
/* Logs "IA: failure: strerror(error)"; the second: only if error and the device is still there. */
void verbs_warn(const struct verbs_ia *ia, const char *failure, int error);
void verbs_warn_unless_removed(struct verbs_ia *ia, const char *failure, int error);
/* With the EP's lock, which both take. */
bool verbs_ep_step(const struct verbs_ep *ep, enum ual_ep_step step);
void verbs_ep_set_path(const struct verbs_ep *ep, const it_path_t *path);

/* ---------------------------------------------------------------- S-RQs (verbs_srq.c) */

static inline void verbs_srq_return(struct verbs_srq_slot *slot)
{
    atomic_fetch_sub_explicit(&slot->srq->posted, 1, memory_order_relaxed);
    atomic_store_explicit(&slot->busy, false, memory_order_release);
}

#endif
