/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The structs behind verbs objects. Each begins with the struct that programs see, so that a
 * pointer to the one can be converted to the other.
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

/* Limits that the devices report (ibv_query_device). */
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

/* ---- Events --------------------------------------------------------------------------------- */

/* An asynchronous event of an object, in the queue of the context as often as it has happened. */
struct ofa_async {
    struct ofa_fifo_item item;
    struct ibv_async_event event;
};

#define OFA_PORT_EVENTS 3
#define OFA_QP_EVENTS   5

/* ---- Devices -------------------------------------------------------------------------------- */

struct ofa_device {
    struct ibv_device base;
    /*
     * perftest, UCX and libfabric link with providers of rdma-core (libmlx5, libefa), which read a
     * pointer to functions here and compare it with their own. This one points to itself, so that
     * it never matches.
     */
    void *driver;
    const struct ofa_door *door;
    char interface[IT_INTERFACE_NAME_SIZE]; /* for it_ia_create */
    char net[32];                           /* network interface; "": all */
    __be64 guid;
    int index;
    atomic_int users; /* references: lists and contexts */
};

struct ofa_gid {
    union ibv_gid gid;
    unsigned int ifindex;
};

/* For the data path: tests limit its instructions. */
#define OFA_INLINE __attribute__((always_inline)) inline

/* ---- Contexts ------------------------------------------------------------------------------- */

struct ofa_knock_answer; /* link/ofa_knock.h */
struct ofa_knock_sent;   /* link/ofa_knock.c */
struct ofa_key;          /* memory/ofa_key.h */
struct ofa_key_table;
struct ofa_socket; /* datagram/ofa_socket.h */

#define OFA_NUMBERS_PER_PORT 256

/* A TCP port and the queue pairs whose numbers begin with it. */
struct ofa_port_block {
    struct ofa_port_block *next;
    uint16_t port;  /* host byte order */
    int socket;     /* reserves the port while there is no listener */
    bool datagrams; /* the UDP port is reserved, too */
    bool inherited; /* this process is the child of a fork; its parent has the port */
    it_listen_handle_t listener;
    unsigned int used;
    unsigned int next_place;
    struct ofa_qp *qps[OFA_NUMBERS_PER_PORT];
};

struct ofa_context {
    struct verbs_context verbs;
    struct ofa_context *next; /* in the list of link/ofa_fork.c */
    bool frozen;              /* guarded by the list's lock: the process is forking */
    struct ofa_device *device;
    struct ofa_fifo async; /* of struct ofa_async */
    struct ofa_async port_events[OFA_PORT_EVENTS];
    bool was_up; /* state of the port when the context was opened; later changes are events */

    pthread_mutex_t open_lock; /* for opening the adapter and listen points; no callback takes it */
    _Atomic(it_ia_handle_t) ia; /* NULL: none was needed so far */

    /*
     * Held from the free of a queue pair's EP until its events and completions are dropped, and
     * while a new EP, which may have the same handle, is linked with its queue pair. No callback
     * takes it.
     */
    pthread_mutex_t ep_lock;

    pthread_mutex_t lock; /* guards links, numbers, event counts; callbacks take it */
    it_evd_handle_t connection_evd;
    it_evd_handle_t request_evd; /* for connections by hand */
    it_evd_handle_t knock_evd;   /* for link/ofa_knock.c; .knock_cq never gets a completion */
    it_evd_handle_t knock_cq;
    void (*on_knocked)(struct ofa_context *context, const struct ofa_knock_answer *answer);
    pthread_mutex_t knock_lock;    /* guards the list; no lock is taken under it */
    struct ofa_knock_sent *knocks; /* messages whose EPs are not freed yet */
    it_evd_handle_t affiliated_evd;
    it_evd_handle_t unaffiliated_evd;
    struct ofa_gid_watch *gid_watch; /* link/ofa_gid_watch.c */
    it_pz_handle_t nobody_pz;
    it_lmr_handle_t nobody_lmr; /* grants no access; replaces unknown keys */
    struct itx_features features;
    struct ofa_port_block *blocks;
    struct ofa_timer silence; /* link/ofa_silence.h */

    /* Held while a datagram is copied, so that no region is freed. Taken before ofa_cq.lock. */
    pthread_mutex_t datagram_lock;
    struct ofa_socket *sockets;

    pthread_mutex_t window_lock; /* guards the list; no callback takes it */
    struct ofa_mw *windows;

    struct ofa_key *keys; /* a table with a lock of its own */
    struct ofa_key_table *key_table;
    atomic_uint children; /* objects that keep the context busy */
};

static inline struct ofa_context *ofa_context_of(struct ibv_context *context)
{
    return (struct ofa_context *)(void *)((char *)context -
                                          offsetof(struct ofa_context, verbs.context));
}

/* ---- Memory --------------------------------------------------------------------------------- */

struct ofa_td {
    struct ibv_td base;
    atomic_uint children; /* parent domains */
};

struct ofa_pd {
    struct ibv_pd base;
    struct ofa_pd *parent; /* of a parent domain: its protection domain */
    struct ofa_td *td;     /* of a parent domain; NULL: none */
    it_pz_handle_t pz;
    atomic_uint children;
};

struct ofa_mr {
    struct ibv_mr base;
    it_lmr_handle_t lmr; /* NULL: a region of length 0 */
    uint64_t iova;
    unsigned int access;
    it_lmr_flag_t flags;
};

struct ofa_mw {
    struct ibv_mw base;
    it_rmr_handle_t rmr;
    struct ofa_mw *next; /* in the list of the context */
    /* Of type 2: the queue pair that it was bound to last; NULL: none. */
    _Atomic(struct ofa_qp *) qp;
};

/* ---- Completion queues ---------------------------------------------------------------------- */

struct ofa_channel {
    struct ibv_comp_channel base;
    struct ofa_fifo fifo; /* of struct ofa_cq */
    struct ofa_cq *cqs;   /* guarded by ibv_context.mutex */
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

/* Makes progress that no thread of IT-API makes. armed: the program may go to sleep. */
typedef void (*ofa_progress)(struct ofa_cq *cq, bool armed);

struct ofa_cq {
    union {
        struct ibv_cq base;
        struct ibv_cq_ex ex;
    };
    it_evd_handle_t evd;
    struct ofa_cq *next;            /* in the list of the channel */
    struct ofa_fifo_item event;     /* in the queue of the channel */
    atomic_uint children;           /* queue pairs; one that uses the CQ for both counts twice */
    ofa_progress progress_before;   /* saved while .progress is the function of link/ofa_fork.c */
    _Atomic(ofa_progress) progress; /* of datagrams; NULL: there are none */

    struct ofa_spin lock; /* guards what follows */
    enum ofa_arming armed;
    bool has_callback;
    bool taken;                   /* a completion that came after it was armed has left the SEVD */
    uint32_t idle;                /* empty polls in a row */
    struct ofa_completion *stash; /* a ring */
    uint32_t stash_room;
    uint32_t stash_first;
    uint32_t stash_count;
    struct ofa_completion *parked; /* flushed because the peer is lost: queue/ofa_park.h */
    uint32_t parked_room;
    uint32_t parked_count;
    uint32_t delivered; /* events returned by ibv_get_cq_event; guarded by the channel's fifo */

    struct ofa_spin poll_lock; /* of extended polling; taken before .lock */
    struct ibv_wc current;     /* guarded by .poll_lock */

    struct ofa_timer look; /* for parked completions */
    struct ofa_async overrun;
    uint32_t async_delivered; /* guarded by ofa_context.async */
};

/* ---- Queue pairs ---------------------------------------------------------------------------- */

struct ofa_shared; /* datagram/ofa_shared.h */

/* Type of the queue pairs that use an S-RQ. */
enum ofa_srq_use {
    OFA_SRQ_UNUSED, /* none so far */
    OFA_SRQ_STREAMS,
    OFA_SRQ_DATAGRAMS
};

struct ofa_srq {
    struct ibv_srq base;
    it_srq_handle_t srq;
    _Atomic(enum ofa_srq_use) use;
    struct ofa_shared *shared; /* receives that are not in .srq */
    struct ofa_pd *pd;
    uint32_t max_wr;
    uint32_t max_sge;
    atomic_uint limit;
    atomic_uint children;
    struct ofa_async limit_reached;
    uint32_t delivered_events; /* guarded by ofa_context.async */
};

/* Called for each event of a queue pair's connection, with ofa_context.lock held. */
typedef void (*ofa_link_handler)(void *owner, const it_event_t *event, size_t data_length);

enum ofa_link_state {
    OFA_LINK_IDLE,
    OFA_LINK_AWAITED,    /* by hand: the peer connects */
    OFA_LINK_ASKING,     /* by hand: checks whether a request comes from the peer */
    OFA_LINK_CONNECTING, /* an attempt or an accept is under way */
    OFA_LINK_UP,
    OFA_LINK_DOWN
};

/* The purpose of a request to a port of queue pair numbers. */
enum ofa_greeting_kind {
    OFA_GREETING_CONNECT,
    OFA_GREETING_KNOCK, /* asks the other end to connect */
    OFA_GREETING_ASK    /* asks whether the other end is connecting with this nonce */
};

/* The private data of requests by hand (link/ofa_greeting.h). */
struct ofa_greeting {
    uint8_t kind; /* enum ofa_greeting_kind */
    uint8_t type; /* of the queue pair: enum ibv_qp_type */
    uint32_t to_number;
    uint32_t from_number;
    uint32_t to_psn;   /* first PSN of the other end, as this end knows it */
    uint32_t from_psn; /* first PSN of this end */
    uint64_t nonce;
};

#define OFA_EARLY_MOST 8

/* A request that arrived before the queue pair was ready (link/ofa_early.h). */
struct ofa_early {
    it_cn_est_identifier_t request; /* 0: a knock, which was answered already */
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
    struct ofa_early asked; /* with OFA_LINK_ASKING: the request being checked */
    struct ofa_early_list requests;
    struct ofa_early_list knocks;
};

/* What the last look at a connection has found (link/ofa_silence.h). */
struct ofa_silence {
    uint64_t acked;
    uint64_t received;
    uint64_t since_ns; /* neither has changed since then; 0: no request was unfinished */
    bool asks;         /* the kernel asks the peer's kernel */
};

/* A posted request that waits for the connection. */
struct ofa_held {
    struct ofa_held *next;
    struct ibv_send_wr wr;
    struct ibv_sge sge[]; /* then the inline data */
};

struct ofa_slot;      /* qp/ofa_wr.c */
struct ofa_datagrams; /* datagram/ofa_datagram.h */

/* Requests posted by ibv_wr_* since ibv_wr_start. */
struct ofa_batch {
    struct ofa_slot *start; /* the batch: slots after this one, up to .last; NULL: not supported */
    struct ofa_slot *last;
    int error;  /* the first error; then nothing is posted */
    int placed; /* not 0: the first request's inline data are in the queue pair's room */
};

/* Flags besides those of ibv_send_wr. */
#define OFA_EACH_REQUEST 0x80000000u
#define OFA_UNRELIABLE   0x40000000u

struct ofa_qp {
    union {
        struct ibv_qp base;
        struct ibv_qp_ex ex;
    };
    it_ep_handle_t ep;               /* NULL: a UD queue pair */
    it_ep_handle_t send_ep;          /* for requests: .ep, unless the queue pair is its own peer */
    struct ofa_datagrams *datagrams; /* of a UD queue pair; otherwise NULL */
    uint32_t every_flags;            /* added to the flags of each request */
    atomic_bool parks;               /* like InfiniBand: receives outlive the connection */
    atomic_int state; /* enum ibv_qp_state; programs read base.state, which only their calls set */
    _Atomic(uint64_t) retry_ns;   /* how long requests are repeated; 0: for ever */
    _Atomic(uint64_t) give_up_ns; /* when requests to a peer that is gone fail; 0: no such peer */

    struct ofa_spin post_lock;   /* guards the order of requests and what follows */
    bool holding;                /* requests are held, not posted to the EP */
    uint8_t sends_from;          /* enum ibv_qp_state: the first state that takes requests */
    bool connected;              /* requests may be posted once the queue pair is in RTS */
    bool suspended;              /* after a fork: no process has claimed the connection yet */
    uint32_t inline_places;      /* one more than the depth of the send queue */
    unsigned char *inline_room;  /* memory of these places; NULL: not needed so far */
    unsigned char *inline_place; /* the next place; NULL: there is no room */
    unsigned char *inline_end;
    it_lmr_handle_t inline_lmr;
    struct ofa_held *held_first;
    struct ofa_held *held_last;
    uint32_t held_count;
    struct ofa_timer patience;  /* set while requests are held without a connection */
    uint64_t patience_ns;       /* how long they are held, of one connected by hand; 0: no limit */
    uint32_t held_due;          /* in SQD: of these, the ones posted before */
    enum ibv_wc_status refuses; /* status for requests instead of holding them; SUCCESS: hold */
    struct ofa_batch batch;

    struct ofa_kinds kinds; /* with a lock of its own */
    struct ofa_context *context;
    struct ofa_cq *send_cq;
    struct ofa_cq *recv_cq;
    struct ofa_pd *pd;
    struct ofa_srq *srq;
    struct ofa_link link;
    struct ofa_silence silence;  /* guarded by ofa_context.lock */
    pthread_mutex_t modify_lock; /* guards state and attributes */
    struct ibv_qp_attr attr;
    struct ibv_qp_cap cap;
    struct ofa_async events[OFA_QP_EVENTS];
    uint32_t delivered_events; /* asynchronous ones; guarded by ofa_context.async */
    atomic_bool last_due;      /* ERR will raise IBV_EVENT_QP_LAST_WQE_REACHED */
    bool by_cm;                /* rdma_cm connects it */
    bool leaving;              /* it is being destroyed; guarded by ofa_context.lock */
    struct ofa_timer drained;  /* for the event that the send queue is drained */
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
