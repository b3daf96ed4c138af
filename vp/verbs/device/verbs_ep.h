/* SPDX-License-Identifier: BSD-2-Clause */
/* The private areas of EPs and S-RQs, and their work queues; all floors use them. */
#ifndef ITAPI_VP_VERBS_DEVICE_VERBS_EP_H
#define ITAPI_VP_VERBS_DEVICE_VERBS_EP_H

#include "base/base_lock.h"
#include "vp/verbs/device/verbs.h"

struct verbs_conn;    /* connection of an EP: verbs_cm_private.h */
struct verbs_convert; /* conversion of an EP's socket */
struct verbs_cq;      /* verbs_source.h */
struct verbs_link;    /* verbs_rmr.h */
struct verbs_source;
struct verbs_ud; /* UD endpoints only: verbs_complete.h */

/* ---------------------------------------------------------------- work queues */

struct verbs_queue;

/*
 * A slot's properties in one word, so that a post writes them at once: flags (it_dto_flags_t; a
 * receive always has IT_NOTIFY_FLAG), event (verbs_event_bits), marks, and with VERBS_REFUSED or
 * VERBS_DONE an enum ibv_wc_status.
 */
#define VERBS_FLAGS        UINT32_C(0xff)
#define VERBS_EVENT_SHIFT  8
#define VERBS_QUIET        (UINT32_C(1) << 16) /* a success has no event */
#define VERBS_LINKED       (UINT32_C(1) << 17) /* a note lies in verbs_queue.links */
#define VERBS_REFUSED      (UINT32_C(1) << 18) /* by the provider: ends the connection */
#define VERBS_DONE         (UINT32_C(1) << 19) /* with .reads_overtaken, by the lock of the EVD */
#define VERBS_RECEIVE      (UINT32_C(1) << 20)
#define VERBS_DATAGRAM     (UINT32_C(1) << 21) /* a receive of an EP of datagrams */
#define VERBS_STATUS_SHIFT 24

/* One request or receive, found by its wr_id. The slot is in use until its event is dequeued. */
struct verbs_slot {
    struct verbs_queue *queue;
    it_dto_cookie_t cookie;
    uint32_t number; /* number of the post; increases and wraps */
    uint32_t what;
    uint32_t length; /* of a request */
};

/*
 * Event numbers of completions are small. XOR makes the bits of an RDMA Write 0, which saves an
 * instruction.
 */
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

/* Why the completions of a queue are not usual ones: bits of verbs_queue.special. */
#define VERBS_FLUSHES UINT8_C(1) /* the QP has failed */
#define VERBS_EARLY   UINT8_C(2) /* receives: the consumer does not know of the connection yet */
#define VERBS_HEARD   UINT8_C(4) /* with VERBS_EARLY: connection management knows of a receive */

/* Of the first post: just below the wrap, so that every longer test passes it. */
#define VERBS_FIRST (UINT32_MAX - 10)

/* The prepared requests of one segment. A post fills in the members that differ. */
enum verbs_usual {
    VERBS_USUAL_SEND,
    VERBS_USUAL_SEND_INLINE,
    VERBS_USUAL_WRITE,
    VERBS_USUAL_WRITE_INLINE,
    VERBS_USUAL_READ,
    VERBS_USUALS
};

/*
 * The requests or the receives of an EP. The numbers only grow: retired <= reaped <= tail. A post
 * made while .local is set never reaches the device: it is flushed after all earlier ones have
 * completed.
 */
struct verbs_queue {
    struct base_lock lock; /* held to post: slots have the same order as the device's queue */
    /* Guarded by .lock. */
    uint32_t tail;            /* number of the next post */
    uint32_t room_end;        /* the first number that may have no free slot */
    uint32_t mask;            /* immutable: the number of slots, a power of two, minus 1 */
    struct verbs_slot *slots; /* immutable */
    /* The LMR of the last usual post, whose key is in .sge: its handle, version and memory. */
    it_lmr_handle_t lmr;
    const _Atomic uint64_t *pass_at; /* vp_host.lmr_pass; .pass is the number read there */
    uint64_t pass;
    uintptr_t region;
    uint64_t region_inline; /* longest segment of it that is sent inline */
    uint64_t inline_end;    /* an inline segment that begins below this lies in the LMR */
    uint64_t inline_max;    /* longest segment that is sent inline */
    uint64_t payload_max;   /* of a request: max_dto_payload_size */
    struct ibv_qp *qp;      /* the QP of .ep; its functions are in .post */
    union {
        int (*send)(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
        int (*recv)(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
    } post;
    struct ibv_sge sge;
    union { /* the members that usual posts share are filled in */
        struct ibv_send_wr send[VERBS_USUALS];
        struct ibv_recv_wr recv;
    } usual_wr;
    uint32_t quiet;      /* posts since the last signalled one */
    uint32_t local_from; /* with .local: the first post that does not reach the device */
    bool local;
    bool open;     /* posts are legal */
    bool may_read; /* for requests: the ORD is not 0 */
    bool usual;    /* usual posts go straight to the device; if false, room_end is tail */
    /* Immutable. */
    bool is_receive;
    uint32_t depth;
    uint32_t signal_every;
    struct verbs_link *links; /* one per slot; NULL: the device has no windows */
    struct verbs_ep *ep;
    it_ep_handle_t handle; /* of .ep */
    struct verbs_cq *cq;
    struct verbs_slot marker; /* wr_id of the provider's own request, after all others */

    /* Guarded by the EVD's lock. */
    uint32_t reaped;      /* number after the newest post known to be complete */
    uint32_t moved;       /* retire_value of the newest event in the EVD's own queue */
    uint32_t ordered;     /* with .reads_overtaken: number after the last one moved to the stash */
    uint32_t overtaking;  /* all posts before it are complete, except Reads */
    uint32_t device_tail; /* of a failed QP: number after the last post that the device completes */
    uint32_t renewed;     /* tail at the last reset: earlier posts are of an earlier connection */
    uint32_t flushed;     /* with .drained: number after the last post flushed by the provider */
    uint8_t special;      /* 0: completions are taken as usual */
    bool drained;         /* everything that the device completes has been polled */

    _Atomic uint32_t published; /* .tail, for threads that flush; not kept while .usual */
    _Atomic uint32_t retired;   /* number after the newest post whose event has been dequeued */
};

struct verbs_ep {
    struct verbs_queue sq, rq; /* .rq is unused with an S-RQ */
    struct ual_ep *ual;
    struct verbs_ia *ia;
    it_ep_handle_t handle;
    struct ibv_pd *pd;
    struct ual_srq *srq;
    uint32_t empty_lkey; /* with .zero_segments */
    uint64_t empty_addr;
    uint32_t send_segments, recv_segments; /* sizes of the QP */
    uint32_t inline_max;                   /* octets that a request may carry inline */
    _Atomic bool ends;                     /* ep_destroy is running */
    _Atomic bool resets;                   /* a thread is in ep_reset */
    _Atomic bool parted;                   /* a disconnect has ended the connection */
    _Atomic bool parted_before;            /* the same for the connection before the last reset */

    struct ibv_qp *qp; /* replaced by ep_reset only, while no thread posts */
    struct verbs_source *request_source, *recv_source;
    struct verbs_ep *next_by_qp; /* with an S-RQ: guarded by the receive EVD's lock, as is qp_num */
    uint32_t qp_num;
    struct vp_task *failed; /* tells connection management of a failure; any thread may submit it */
    struct vp_task *heard;  /* the same of an early receive; NULL: iWARP, or an EP of datagrams */
    /* Reports the end of the connection once completions are drained; NULL: at once. Immutable. */
    struct vp_task *drained;
    _Atomic unsigned ended; /* the event that waits for .drained; 0: none */
    struct verbs_ud *ud;    /* NULL: an EP of connections; immutable */

    bool nudged;                 /* guarded by sq.lock: the marker has been used for a nudge */
    _Atomic bool request_failed; /* with .reads_overtaken: a failed request has been polled */

    struct verbs_conn *conn; /* owned by verbs_cm_conn.c; used on the IA's thread only */
    /* Guarded by the EP's lock: depths before they were agreed on, and the connection's ends. */
    bool agreed;
    uint32_t wanted_ird, wanted_ord;
    struct sockaddr_in6 local, remote; /* with .agreed; each may be a struct sockaddr_in */
    struct verbs_convert *convert;     /* owned by verbs_convert.c */
};

/* A receive of an S-RQ, found by its wr_id, in which VERBS_SRQ_MARK is set as well. */
struct verbs_srq_slot {
    struct verbs_srq *srq;
    it_dto_cookie_t cookie;
    _Atomic bool busy;
};

#define VERBS_SRQ_MARK UINT64_C(1)
/* Set by the provider, too: the completion is of the EP's connection before the last reset. */
#define VERBS_SRQ_LEFT UINT64_C(2)

static inline struct verbs_srq_slot *verbs_srq_slot_of(const struct ibv_wc *wc)
{
    return (struct verbs_srq_slot *)(uintptr_t)(wc->wr_id & ~(VERBS_SRQ_MARK | VERBS_SRQ_LEFT));
}

struct verbs_srq {
    struct ibv_srq *srq; /* immutable, as are the members up to slots */
    struct ual_srq *ual;
    struct verbs_ia *ia;
    struct verbs_pz *pz;
    uint32_t depth;
    struct verbs_srq_slot *slots;
    struct base_lock lock; /* held to post */
    uint32_t cursor;       /* guarded by .lock: the slot to try next */
    _Atomic uint32_t posted;
};

static inline struct verbs_ep *verbs_ep_of(struct ual_ep *ep)
{
    return vp_area(verbs_host, VP_EP, ep);
}

static inline struct verbs_srq *verbs_srq_of(struct ual_srq *srq)
{
    return vp_area(verbs_host, VP_SRQ, srq);
}

static inline void verbs_srq_return(struct verbs_srq_slot *slot)
{
    atomic_fetch_sub_explicit(&slot->srq->posted, 1, memory_order_relaxed);
    atomic_store_explicit(&slot->busy, false, memory_order_release);
}

/* Both take the EP's lock. */
bool verbs_ep_step(const struct verbs_ep *ep, enum ual_ep_step step);
void verbs_ep_set_path(const struct verbs_ep *ep, const it_path_t *path);

#endif
