/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The structs behind verbs objects. Each begins with the one that programs see, so that a pointer
 * to one is a pointer to the other.
 */
#ifndef ITAPI_ULP_OFA_OBJECT_OFA_OBJECT_H
#define ITAPI_ULP_OFA_OBJECT_OFA_OBJECT_H

#include "support/ofa_fifo.h"
#include "support/ofa_kinds.h"
#include "support/ofa_spin.h"
#include "support/ofa_timer.h"

#include <infiniband/verbs.h>
#include <it_api.h>
#include <itx_api.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* What the devices promise (ibv_query_device). */
#define OFA_MAX_QP          65536
#define OFA_MAX_QP_WR       16384
#define OFA_MAX_SGE         32
#define OFA_MAX_CQ          65536
#define OFA_MAX_CQE         1048575
#define OFA_MAX_MR          1048576
#define OFA_MAX_PD          65536
#define OFA_MAX_SRQ         65536
#define OFA_MAX_SRQ_WR      65536
#define OFA_MAX_RD_ATOM     128
#define OFA_MAX_INLINE      1024
#define OFA_MAX_MESSAGE     0x80000000u
#define OFA_MAX_GIDS        32
#define OFA_CM_PRIVATE_DATA 255

struct ofa_door;

/* ---- Devices -------------------------------------------------------------------------------- */

struct ofa_device {
    struct ibv_device base;
    /*
     * Providers of rdma-core that perftest, UCX and libfabric link with (libmlx5, libefa) read a
     * pointer to functions here and compare it with their own. It points to itself, and to nobody's
     * functions.
     */
    void *driver;
    const struct ofa_door *door;
    char interface[IT_INTERFACE_NAME_SIZE]; /* for it_ia_create */
    char net[32];                           /* network interface; "": all */
    __be64 guid;
    int index;
    atomic_int users; /* lists and contexts that hold it */
};

struct ofa_gid {
    union ibv_gid gid;
    unsigned int ifindex;
};

/* For the data path, whose instructions are counted. */
#define OFA_INLINE __attribute__((always_inline)) inline

/* ---- Contexts ------------------------------------------------------------------------------- */

struct ofa_knock_answer; /* link/ofa_knock.h */
struct ofa_key;          /* memory/ofa_key.h */
struct ofa_key_table;
struct ofa_socket; /* datagram/ofa_socket.h */

#define OFA_NUMBERS_PER_PORT 256

/* A TCP port and the queue pairs whose numbers begin with it. */
struct ofa_port_block {
    struct ofa_port_block *next;
    uint16_t port;  /* host byte order */
    int socket;     /* that keeps the port while nobody listens there */
    bool datagrams; /* the port of UDP is ours, too */
    it_listen_handle_t listener;
    unsigned int used;
    unsigned int next_place;
    struct ofa_qp *qps[OFA_NUMBERS_PER_PORT];
};

struct ofa_context {
    struct verbs_context verbs;
    struct ofa_context *next; /* in the list of link/ofa_fork.c */
    bool frozen;              /* with its lock: the process forks just now */
    struct ofa_device *device;
    struct ofa_fifo async;
    bool was_up; /* the port, when the context was opened; the adapter tells of later changes */

    pthread_mutex_t open_lock;  /* opening the adapter, listen points; callbacks never take it */
    _Atomic(it_ia_handle_t) ia; /* NULL: nobody has needed one yet */

    pthread_mutex_t lock; /* links, numbers, counts of events; callbacks take it */
    it_evd_handle_t connection_evd;
    it_evd_handle_t request_evd; /* of connections by hand */
    it_evd_handle_t
        knock_evd; /* of link/ofa_knock.c, and its completions, of which there are none */
    it_evd_handle_t knock_cq;
    void (*on_knocked)(struct ofa_context *context, const struct ofa_knock_answer *answer);
    it_evd_handle_t affiliated_evd;
    it_evd_handle_t unaffiliated_evd;
    it_pz_handle_t nobody_pz;
    it_lmr_handle_t nobody_lmr; /* no request may use it: stands for keys that name nothing */
    struct itx_features features;
    struct ofa_port_block *blocks;

    /* While a datagram is copied: no region goes. Before ofa_cq.lock, behind all others. */
    pthread_mutex_t datagram_lock;
    struct ofa_socket *sockets;

    struct ofa_key *keys; /* a table, which has a lock of its own */
    struct ofa_key_table *key_table;
    atomic_uint children; /* objects that keep the context busy */
};

static inline struct ofa_context *ofa_context_of(struct ibv_context *context)
{
    return (struct ofa_context *)(void *)((char *)context -
                                          offsetof(struct ofa_context, verbs.context));
}

/* ---- Memory --------------------------------------------------------------------------------- */

struct ofa_pd {
    struct ibv_pd base;
    struct ofa_pd *parent; /* of a parent domain: the one that it stands for */
    it_pz_handle_t pz;
    atomic_uint children;
};

struct ofa_mr {
    struct ibv_mr base;
    it_lmr_handle_t lmr; /* NULL: of no bytes */
    uint64_t iova;
    unsigned int access;
    atomic_uint windows;
};

struct ofa_mw {
    struct ibv_mw base;
    it_rmr_handle_t rmr;
    struct ofa_mr *mr; /* it is bound to */
};

/* ---- Completion queues ---------------------------------------------------------------------- */

struct ofa_channel {
    struct ibv_comp_channel base;
    struct ofa_fifo fifo; /* of struct ofa_cq */
};

struct ofa_completion {
    struct ibv_wc wc;
    struct ofa_qp *qp;
};

enum ofa_arming {
    OFA_DISARMED,
    OFA_ARMED_SOLICITED,
    OFA_ARMED
};

struct ofa_cq;

/* Moves what no thread of IT-API moves; "armed": its program may go to sleep. */
typedef void (*ofa_progress)(struct ofa_cq *cq, bool armed);

struct ofa_cq {
    union {
        struct ibv_cq base;
        struct ibv_cq_ex ex;
    };
    it_evd_handle_t evd;
    atomic_uint children;           /* queue pairs; a pair with one CQ for both counts twice */
    ofa_progress progress_before;   /* while .progress is that of link/ofa_fork.c */
    _Atomic(ofa_progress) progress; /* of datagrams; NULL: no queue pair has any */

    struct ofa_spin lock; /* what follows */
    enum ofa_arming armed;
    bool has_callback;
    uint32_t idle;                /* polls in vain, since one that was not */
    struct ofa_completion *stash; /* a ring */
    uint32_t stash_room;
    uint32_t stash_first;
    uint32_t stash_count;
    struct ofa_completion *parked; /* whose peer is gone: queue/ofa_park.h */
    uint32_t parked_room;
    uint32_t parked_count;
    uint32_t delivered; /* events that ibv_get_cq_event has given out */
    struct ibv_wc current;

    struct ofa_timer look;    /* for what is parked */
    uint32_t async_delivered; /* with ofa_context.lock */
};

/* ---- Queue pairs ---------------------------------------------------------------------------- */

struct ofa_shared; /* datagram/ofa_shared.h */

/* Of which type the queue pairs of an S-RQ are. */
enum ofa_srq_use {
    OFA_SRQ_UNUSED, /* there has been none so far */
    OFA_SRQ_STREAMS,
    OFA_SRQ_DATAGRAMS
};

struct ofa_srq {
    struct ibv_srq base;
    it_srq_handle_t srq;
    _Atomic(enum ofa_srq_use) use;
    struct ofa_shared *shared; /* receives that are not in "srq" */
    struct ofa_pd *pd;
    uint32_t max_wr;
    uint32_t max_sge;
    atomic_uint limit;
    atomic_uint children;
    uint32_t delivered_events; /* with ofa_context.lock */
};

/* Hears of the events of a queue pair's connection, with ofa_context.lock held. */
typedef void (*ofa_link_handler)(void *owner, const it_event_t *event, size_t data_length);

enum ofa_link_state {
    OFA_LINK_IDLE,
    OFA_LINK_AWAITED,    /* by hand: the peer connects */
    OFA_LINK_ASKING,     /* by hand: somebody has connected; is it the peer? */
    OFA_LINK_CONNECTING, /* an attempt or an accept is under way */
    OFA_LINK_UP,
    OFA_LINK_DOWN
};

/* What somebody who connects to a port of numbers wants. */
enum ofa_greeting_kind {
    OFA_GREETING_CONNECT,
    OFA_GREETING_KNOCK, /* that the other end connects */
    OFA_GREETING_ASK    /* to know whether the other end is connecting with this nonce */
};

/* What the two ends of a connection by hand tell each other (link/ofa_greeting.h). */
struct ofa_greeting {
    uint8_t kind; /* enum ofa_greeting_kind */
    uint8_t type; /* of the queue pair: enum ibv_qp_type */
    uint32_t to_number;
    uint32_t from_number;
    uint32_t to_psn;   /* that the other end begins with, as far as this one knows */
    uint32_t from_psn; /* that this end begins with */
    uint64_t nonce;
};

#define OFA_EARLY_MOST 8

/* What a peer has asked for before the queue pair was ready (link/ofa_early.h). */
struct ofa_early {
    it_cn_est_identifier_t request; /* 0: a knock, which is answered already */
    it_net_addr_t source;
    struct ofa_greeting greeting;
};

struct ofa_early_list {
    unsigned int count;
    struct ofa_early items[OFA_EARLY_MOST]; /* oldest first */
};

/* The connection of a queue pair, guarded by ofa_context.lock. */
struct ofa_link {
    enum ofa_link_state state;
    ofa_link_handler handler; /* of rdma_cm; NULL: by hand */
    void *owner;
    bool moves; /* the connection moves the queue pair to RTS */
    uint64_t nonce;
    struct ofa_early asked; /* OFA_LINK_ASKING: the request in question */
    struct ofa_early_list requests;
    struct ofa_early_list knocks;
};

/* A request that waits for the connection. */
struct ofa_held {
    struct ofa_held *next;
    struct ibv_send_wr wr;
    struct ibv_sge sge[]; /* and what is inline */
};

struct ofa_slot;      /* qp/ofa_wr.c */
struct ofa_datagrams; /* datagram/ofa_datagram.h */

/* Requests by ibv_wr_*, since ibv_wr_start. */
struct ofa_batch {
    struct ofa_slot
        *start; /* those after it, up to "last"; NULL: the queue pair does not have it */
    struct ofa_slot *last;
    int error;  /* the first; then nothing is posted */
    int placed; /* not 0: inline data are in the queue pair's room already, those of the first */
};

/* Beside the flags of ibv_send_wr. */
#define OFA_EACH_REQUEST 0x80000000u
#define OFA_UNRELIABLE   0x40000000u

struct ofa_qp {
    union {
        struct ibv_qp base;
        struct ibv_qp_ex ex;
    };
    it_ep_handle_t ep;               /* NULL: of the type UD */
    it_ep_handle_t send_ep;          /* of requests: the same, unless it is its own peer */
    struct ofa_datagrams *datagrams; /* NULL: of another type */
    uint32_t every_flags;            /* that stand beside those of each request */
    bool parks;                      /* as InfiniBand: the end of the peer leaves receives alone */
    atomic_int state;                /* enum ibv_qp_state; base.state is what programs read */
    _Atomic(uint64_t) give_up_ns;    /* when a request fails whose peer is gone; 0: none is known */

    struct ofa_spin post_lock;   /* the order of requests, and what follows */
    bool holding;                /* a request does not go straight to the EP */
    bool connected;              /* it may, as soon as the queue pair is in RTS */
    bool suspended;              /* since a fork: the connection is nobody's so far */
    uint32_t inline_places;      /* one more than requests fit */
    unsigned char *inline_room;  /* of so many places; NULL: not needed so far */
    unsigned char *inline_place; /* the next; NULL: there is no room */
    unsigned char *inline_end;
    it_lmr_handle_t inline_lmr;
    struct ofa_held *held_first;
    struct ofa_held *held_last;
    uint32_t held_count;
    enum ibv_wc_status refuses; /* status of the next request that would be held; SUCCESS: it is */
    struct ofa_batch batch;

    struct ofa_kinds kinds; /* has a lock of its own */
    struct ofa_context *context;
    struct ofa_cq *send_cq;
    struct ofa_cq *recv_cq;
    struct ofa_pd *pd;
    struct ofa_srq *srq;
    struct ofa_link link;
    pthread_mutex_t modify_lock; /* state and attributes */
    struct ibv_qp_attr attr;
    struct ibv_qp_cap cap;
    uint32_t delivered_events; /* asynchronous ones; with ofa_context.lock */
    bool by_cm;                /* rdma_cm connects it */
};

static inline struct ofa_pd *ofa_pd_of(struct ibv_pd *pd)
{
    return (struct ofa_pd *)(void *)pd;
}

static inline struct ofa_mr *ofa_mr_of(struct ibv_mr *mr)
{
    return (struct ofa_mr *)(void *)mr;
}

static inline struct ofa_cq *ofa_cq_of(struct ibv_cq *cq)
{
    return (struct ofa_cq *)(void *)cq;
}

static inline struct ofa_qp *ofa_qp_of(struct ibv_qp *qp)
{
    return (struct ofa_qp *)(void *)qp;
}

static inline struct ofa_srq *ofa_srq_of(struct ibv_srq *srq)
{
    return (struct ofa_srq *)(void *)srq;
}

#endif /* ITAPI_ULP_OFA_OBJECT_OFA_OBJECT_H */
