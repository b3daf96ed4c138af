/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One connection, shared by the files that implement it: verbs_cm.c (events of rdma_cm),
 * verbs_cm_conn.c (its life and its ends), verbs_cm_connect.c, verbs_cm_accept.c,
 * verbs_cm_listen.c. Everything here is used on the IA's thread only; calls from other threads come
 * in through ia_call.
 */
#ifndef ITAPI_VP_VERBS_CM_VERBS_CM_PRIVATE_H
#define ITAPI_VP_VERBS_CM_VERBS_CM_PRIVATE_H

#include "base/base_clock.h"
#include "vp/verbs/cm/verbs_cm.h"
#include "vp/verbs/cm/verbs_conn_machine.h"
#include "vp/verbs/device/verbs_query.h"

#include <netinet/in.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>

#define VERBS_CM_UNDECIDED_MAX 4096u                 /* announced, no decision yet */
#define VERBS_CM_ATTEMPT_US    UINT64_C(30000000)    /* default limit of an attempt */
#define VERBS_CM_RESOLVE_MS    5000                  /* for an address that nobody answers for */
#define VERBS_CM_CLOSE_NS      UINT64_C(60000000000) /* for the peer to disconnect too */
#define VERBS_CM_WITHDRAW_NS   UINT64_C(20000000)

/* A copy of an event of rdma_cm, which has been acknowledged. */
struct verbs_cm_event {
    enum rdma_cm_event_type type;
    int status;
    uint32_t responder_resources, initiator_depth;
    uint32_t qp_num, qkey; /* of datagrams */
    uint8_t private_data[UINT8_MAX];
    size_t private_length;
};

/* The context of an rdma_cm id begins with a pointer to one of these. */
struct verbs_cm_target {
    /* For an id that listens: a peer sent a request. The function takes the new id. */
    void (*requested)(void *context, struct rdma_cm_id *id, const struct verbs_cm_event *event);
    void (*told)(void *context, struct rdma_cm_id *id, const struct verbs_cm_event *event);
};

/* The functions of an initiator or a responder. */
struct verbs_conn_role {
    bool active;
    enum verbs_conn_state first;
    /* event: the event of rdma_cm, or NULL. The conn may be gone afterwards. */
    void (*act)(struct verbs_conn *conn, enum verbs_conn_action action,
                const struct verbs_cm_event *event);
};

struct verbs_path_memo;

struct verbs_conn {
    const struct verbs_cm_target *target;
    struct base_link link; /* in .cm.connections */
    struct verbs_cm *cm;
    const struct verbs_conn_role *role;
    enum verbs_conn_state state; /* changed by verbs_conn_step only */
    struct rdma_cm_id *id;
    struct verbs_ep *ep;           /* NULL: an undecided responder, or ended for the EP */
    struct verbs_convert *convert; /* owner until both sides have agreed */
    struct vp_timer *timer;

    bool three_way;
    it_path_t path;    /* initiator: as the consumer asked for */
    bool any_port;     /* initiator: the local port is free to choose */
    unsigned tries;    /* ports tried */
    uint32_t ird, ord; /* of this side */
    uint32_t peer_ird, peer_ord;
    bool has_retries; /* the consumer has set them */
    uint8_t retries, rnr_retries;
    struct rdma_conn_param param;
    uint8_t private_data[IT_MAX_PRIV_DATA]; /* initiator: to send; responder: that of the request */
    size_t private_length;

    unsigned nudges; /* sent so far: verbs_cm_nudge.c */

    bool undecided; /* counted in verbs_cm.undecided */
    bool peer_gone; /* the peer gave up while a call held the request */
    struct ual_request request;

    /* A thread carries out a call of rdma_cm that blocks. */
    pthread_t caller;                        /* in rdma_connect */
    struct vp_task *called;                  /* runs when it has returned */
    int error;                               /* of its call; read once the thread has been joined */
    int status;                              /* of rdma_cm's last event, for the log */
    pthread_t destroyer;                     /* in rdma_destroy_id */
    struct vp_task *gone;                    /* runs when it has returned */
    void (*buried)(struct verbs_conn *conn); /* called then, when the id is destroyed */
    bool calling;                            /* in DYING: the destroyer must join the caller */
    /* In DYING; guarded by verbs_cm.lock. */
    struct verbs_conn *dying_next;
    const struct verbs_ep *held; /* the EP whose QP the id still uses */
    const struct ibv_qp *used;   /* that QP */
    struct ibv_qp *left;         /* a QP that the EP has given up, to destroy; NULL: none */
};

struct verbs_listener {
    const struct verbs_cm_target *target;
    struct base_link link; /* in .cm.listeners */
    struct verbs_cm *cm;
    struct vp_listen_info info;
    size_t count;
    struct rdma_cm_id *ids[];
};

struct verbs_guard {
    const struct verbs_cm_target *target;
    struct rdma_cm_id *id; /* NULL: no guard */
};

struct verbs_cm {
    const struct verbs_cm_ops *ops; /* immutable */
    struct ual_ia *ual;
    struct verbs_ia *ia;
    struct rdma_event_channel *channel;
    struct vp_watch *watch;
    struct base_list connections, conversions;
    struct verbs_conn *current; /* handles its event; NULL: it was freed */
    struct verbs_guard guard;
    struct base_list listeners, asked;
    unsigned listening;            /* ids of .listeners */
    struct verbs_path_memo *memos; /* guarded by .lock */
    unsigned undecided;
    uint64_t accepted, initiated, refused; /* written on the IA's thread, read by any thread */
    pthread_mutex_t lock;
    pthread_cond_t destroyed; /* with .lock: signalled when an id of .dying has been destroyed */
    struct verbs_conn *dying; /* guarded by .lock */
};

/* The private area of a request for a peer's UD endpoint. */
struct verbs_service {
    const struct verbs_cm_target *target;
    struct verbs_cm *cm;
    struct ual_ud_service *ual;
    struct vp_ud_service_info info;
    struct rdma_cm_id *id; /* NULL: no request is pending */
    struct vp_timer *timer;
};

/* Functions of the upper floors that connection management calls. */
struct verbs_cm_ops {
    void (*take_async)(struct verbs_ia *ia); /* handles the pending events of the device */
    void (*device_gone)(struct verbs_ia *ia);
    void (*convert_connected)(struct verbs_convert *convert, const void *private_data,
                              size_t length);
    void (*convert_unconnected)(struct verbs_convert *convert, it_conn_reject_code_t code);
};

/* The ports of a qualifier, in network byte order; local 0: any. */
struct verbs_ports {
    uint16_t local, remote;
};

static inline struct verbs_ports verbs_ports_of(const it_conn_qual_t *qual)
{
    if (qual->type == IT_IANA_LR_PORT)
        return (struct verbs_ports){qual->conn_qual.lr_port.local, qual->conn_qual.lr_port.remote};
    return (struct verbs_ports){0, qual->conn_qual.port};
}

static inline void verbs_cm_count(uint64_t *counter)
{
    (void)__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

/* ---------------------------------------------------------------- verbs_cm.c */

/* Returns the length of private data without InfiniBand's padding. */
size_t verbs_cm_strip(const uint8_t *private_data, size_t length);
/* Handles all pending events of rdma_cm. */
void verbs_cm_take_events(struct verbs_cm *cm);

/* ---------------------------------------------------------------- verbs_cm_conn.c */

extern const struct verbs_conn_role verbs_responder;

/* Returns NULL if memory runs out. */
struct verbs_conn *verbs_conn_new(struct verbs_cm *cm, const struct verbs_conn_role *role);
/* Passes the id to the conn. */
void verbs_conn_own(struct verbs_conn *conn, struct rdma_cm_id *id);
/* For a conn without EP: destroys the id at once, if there is one, and frees the conn. */
void verbs_conn_discard(struct verbs_conn *conn);
/* Attaches the conn to the EP with the step out of UNCONNECTED; returns false in another state. */
bool verbs_conn_attach(struct verbs_conn *conn, struct verbs_ep *ep, enum ual_ep_step step,
                       const it_path_t *path);
/* Ends the attempt after that time. Returns false if memory runs out. */
bool verbs_conn_limit(struct verbs_conn *conn, uint64_t delay_ns);
/* Data may flow: reports the connection, or abandons the conn if the EP is in another state. */
void verbs_conn_establish(struct verbs_conn *conn, const void *private_data, size_t length);
/*
 * Ends the connection for the EP with this step: closes, flushes, reports the event (news NULL:
 * none). Returns false if the step is no longer legal. The conn may be gone afterwards.
 */
bool verbs_conn_end(struct verbs_conn *conn, enum ual_ep_step step,
                    const struct ual_conn_news *news);
/* Ends an attempt in the same way, with IT_CM_MSG_CONN_NONPEER_REJECT_EVENT. */
void verbs_conn_fail(struct verbs_conn *conn, it_conn_reject_code_t code);
/* Steps the state machine and acts: for an event of rdma_cm, or for another event. */
void verbs_conn_handle(struct verbs_conn *conn, const struct verbs_cm_event *event);
void verbs_conn_on(struct verbs_conn *conn, enum verbs_conn_event event);
/* Carries out the actions that both roles share. */
void verbs_conn_act(struct verbs_conn *conn, enum verbs_conn_action action,
                    const struct verbs_cm_event *event);
/* Gives up id and EP without a report, and takes the request back from the consumer. */
void verbs_conn_abandon(struct verbs_conn *conn);
/* Called when the consumer has decided about the request. */
void verbs_conn_decided(struct verbs_conn *conn);

/* ---------------------------------------------------------------- verbs_cm_thread.c */

/*
 * Calls rdma_connect with .param in a thread of its own. Returns false if no thread can be created.
 */
bool verbs_thread_connect(struct verbs_conn *conn, void (*returned)(void *conn));
/* Waits until rdma_connect returns; cut: cancels it first. Returns 0 or errno. */
int verbs_thread_join(struct verbs_conn *conn, bool cut);
/*
 * Destroys the id in a thread of its own; calling: after the thread in rdma_connect. Then passes
 * the conn to buried, on the IA's thread.
 */
void verbs_thread_destroy(struct verbs_conn *conn, const struct verbs_ep *ep, bool calling,
                          void (*buried)(struct verbs_conn *conn));
/* Any thread. Waits until no id that is being destroyed uses the QP of the EP (NULL: of any EP). */
void verbs_thread_wait(struct verbs_cm *cm, const struct verbs_ep *ep);
/*
 * Any thread. Returns true if an id that is being destroyed uses the QP: its thread then destroys
 * the QP.
 */
bool verbs_thread_take_qp(struct verbs_cm *cm, struct ibv_qp *qp);

/* ---------------------------------------------------------------- verbs_cm_qp.c */

/* Copies the Read depths from the EP. */
void verbs_qp_wanted(struct verbs_conn *conn, const struct verbs_ep *ep);
/* Fills in .param for a request or an answer. */
void verbs_qp_fill_param(struct verbs_conn *conn, const struct verbs_ep *ep);
/*
 * InfiniBand and RoCE: returns true unless the peer has withdrawn its request or answer. rdma_cm
 * does not report a withdrawal before the request has been accepted.
 */
bool verbs_qp_is_wanted(const struct verbs_conn *conn);
/* InfiniBand and RoCE: moves the QP to RTS. Returns false if the device refuses. */
bool verbs_qp_connect(struct verbs_conn *conn);
/* Returns how many Reads may be outstanding. */
uint32_t verbs_qp_ord(const struct verbs_conn *conn);

/* ---------------------------------------------------------------- verbs_cm_reason.c */

/* Translates the cause of a failed attempt to the reject code of an event. */
it_conn_reject_code_t verbs_reason_of_errno(int error);
it_conn_reject_code_t verbs_reason_of_event(const struct verbs_cm *cm,
                                            const struct verbs_cm_event *event);
/* Returns true if the peer's consumer has rejected. */
bool verbs_reason_is_consumer(const struct verbs_cm *cm, const struct verbs_cm_event *event);

/* ---------------------------------------------------------------- verbs_cm_path.c */

void verbs_path_forget(struct verbs_cm *cm); /* called when the IA closes */
/* Gets the two ends of a path, both of one IP version, with ports 0. */
it_status_t verbs_path_ends(struct verbs_cm *cm, const it_path_t *path,
                            struct sockaddr_storage *local, struct sockaddr_storage *remote);
/* Fills in the path of a connection from its id; leaves other members alone. */
void verbs_path_of_id(const struct verbs_conn *conn, it_path_t *path);
void verbs_path_fill(const struct verbs_ia *ia, struct rdma_cm_id *id, it_path_t *path);
/* Finds the local GID for a path that leaves it open. */
it_status_t verbs_path_source(struct verbs_cm *cm, const it_path_t *path, it_ib_gid_t *gid);

/* ---------------------------------------------------------------- the two roles */

extern const struct verbs_conn_role verbs_initiator;

/* For a conn with an id that is bound: asks for the connection. An event reports the outcome. */
void verbs_connect_launch(struct verbs_conn *conn, struct sockaddr_storage *remote);
/* Three-way: the consumer agrees. An event reports the outcome; the conn may be gone afterwards. */
void verbs_connect_confirm(struct verbs_conn *conn);
/* Takes ownership of the id. */
void verbs_accept_request(struct verbs_listener *listener, struct rdma_cm_id *id,
                          const struct verbs_cm_event *event);
/* For a conn with an EP and a request: accepts it. An event reports the outcome. */
void verbs_accept_answer(struct verbs_conn *conn);

/* ---------------------------------------------------------------- listeners (verbs_cm_listen.c) */

/* Fills in a request that has reached this listener, from its id. */
static inline void verbs_listener_fill(const struct verbs_listener *listener, struct rdma_cm_id *id,
                                       struct ual_request *request)
{
    const struct sockaddr *peer = rdma_get_peer_addr(id);

    request->ia = listener->cm->ual;
    request->connect_evd = listener->info.connect_evd;
    request->spigot_id = listener->info.spigot_id;
    request->conn_qual = *listener->info.conn_qual;
    (void)base_net_from_sockaddr(peer, &request->source_addr);
    if (request->conn_qual.type == IT_IANA_LR_PORT)
        request->conn_qual.conn_qual.lr_port.remote = base_net_port(peer);
}

/* ---------------------------------------------------------------- guard, nudges */

void verbs_guard_open(struct verbs_cm *cm);
void verbs_guard_close(struct verbs_cm *cm);
/* Called when the connection has just been established and no longer uses the timer. */
void verbs_nudge_begin(struct verbs_conn *conn);
/* Called when the timer has expired and the connection is live. */
void verbs_nudge_go_on(struct verbs_conn *conn);

/* ---------------------------------------------------------------- verbs_sidr.c */

#define VERBS_SIDR_REPLY 124u /* octets of private data: 136 less our 12 */

/* Takes a peer's request to the listener for a UD endpoint. */
void verbs_sidr_asked(struct verbs_listener *listener, struct rdma_cm_id *id,
                      const struct verbs_cm_event *event);
/* Called when the IA closes. Returns false if a call of the consumer holds a request. */
bool verbs_sidr_close(struct verbs_cm *cm);

#endif
