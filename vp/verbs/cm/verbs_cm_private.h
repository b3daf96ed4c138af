/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One connection, between the files that carry it out: verbs_cm.c (events of rdma_cm),
 * verbs_cm_conn.c (its life and its ends), verbs_cm_connect.c, verbs_cm_accept.c,
 * verbs_cm_listen.c. Everything here belongs to the IA's thread; calls of other threads come in by
 * ia_call.
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

/* An event of rdma_cm that has been acknowledged already. */
struct verbs_cm_event {
    enum rdma_cm_event_type type;
    int status;
    uint32_t responder_resources, initiator_depth;
    uint32_t qp_num, qkey; /* of datagrams */
    uint8_t private_data[UINT8_MAX];
    size_t private_length;
};

/* The context of an id of rdma_cm begins with a pointer to one of these. */
struct verbs_cm_target {
    /* An id that listens: a peer asks for something; takes the new id. */
    void (*requested)(void *context, struct rdma_cm_id *id, const struct verbs_cm_event *event);
    void (*told)(void *context, struct rdma_cm_id *id, const struct verbs_cm_event *event);
};

/* Functions of an initiator or a responder. */
struct verbs_conn_role {
    bool active;
    enum verbs_conn_state first;
    /* event: of rdma_cm, or NULL. The conn may be gone afterwards. */
    void (*act)(struct verbs_conn *conn, enum verbs_conn_action action,
                const struct verbs_cm_event *event);
};

struct verbs_path_memo;

struct verbs_conn {
    const struct verbs_cm_target *target;
    struct base_link link; /* of .cm.connections */
    struct verbs_cm *cm;
    const struct verbs_conn_role *role;
    enum verbs_conn_state state; /* by verbs_conn_step */
    struct rdma_cm_id *id;
    struct verbs_ep *ep;           /* NULL: responder and undecided, or over for the EP */
    struct verbs_convert *convert; /* whose it is until both sides have agreed */
    struct vp_timer *timer;

    bool three_way;
    it_path_t path;    /* initiator: as asked for */
    bool any_port;     /* initiator: of its own end */
    unsigned tries;    /* of them */
    uint32_t ird, ord; /* own */
    uint32_t peer_ird, peer_ord;
    bool has_retries; /* the consumer has chosen them */
    uint8_t retries, rnr_retries;
    struct rdma_conn_param param;
    uint8_t private_data[IT_MAX_PRIV_DATA]; /* initiator: to go out; responder: of the request */
    size_t private_length;

    unsigned nudges; /* sent: verbs_cm_nudge.c */

    bool undecided; /* counted in verbs_cm.undecided */
    bool peer_gone; /* given up while a call had the request in hand */
    struct ual_request request;

    /* A thread that carries out a call of rdma_cm which blocks. */
    pthread_t caller;                        /* in rdma_connect */
    struct vp_task *called;                  /* it has come back */
    int error;                               /* of its call; read when the thread has been joined */
    int status;                              /* of rdma_cm's last event, for the log */
    pthread_t destroyer;                     /* in rdma_destroy_id */
    struct vp_task *gone;                    /* it has come back */
    void (*buried)(struct verbs_conn *conn); /* then: without id */
    bool calling;                            /* DYING: the destroyer has to join the caller */
    /* DYING, by verbs_cm.lock. */
    struct verbs_conn *dying_next;
    const struct verbs_ep *held; /* whose QP the id still uses */
    const struct ibv_qp *used;   /* that QP */
    struct ibv_qp *left;         /* it is not the EP's any more; NULL: it is */
};

struct verbs_listener {
    const struct verbs_cm_target *target;
    struct base_link link; /* of .cm.listeners */
    struct verbs_cm *cm;
    struct vp_listen_info info;
    size_t count;
    struct rdma_cm_id *ids[];
};

struct verbs_guard {
    const struct verbs_cm_target *target;
    struct rdma_cm_id *id; /* NULL: there is none */
};

struct verbs_cm {
    const struct verbs_cm_ops *ops; /* immutable */
    struct ual_ia *ual;
    struct verbs_ia *ia;
    struct rdma_event_channel *channel;
    struct vp_watch *watch;
    struct base_list connections, conversions;
    struct verbs_conn *current; /* its event is being handled; NULL: it is gone */
    struct verbs_guard guard;
    struct base_list listeners, asked;
    struct verbs_path_memo *memos; /* by .lock */
    unsigned undecided;
    uint64_t accepted, initiated, refused; /* written there, read by any thread */
    pthread_mutex_t lock;
    pthread_cond_t destroyed; /* with .lock: an id of .dying has been destroyed */
    struct verbs_conn *dying; /* by .lock */
};

/* A request for a peer's EP of datagrams: the private area of its object. */
struct verbs_service {
    const struct verbs_cm_target *target;
    struct verbs_cm *cm;
    struct ual_ud_service *ual;
    struct vp_ud_service_info info;
    struct rdma_cm_id *id; /* NULL: nothing is under way */
    struct vp_timer *timer;
};

/* Functions of the floors above that connection management calls. */
struct verbs_cm_ops {
    void (*take_async)(struct verbs_ia *ia); /* handles the events that the device has */
    void (*device_gone)(struct verbs_ia *ia);
    void (*convert_connected)(struct verbs_convert *convert, const void *private_data,
                              size_t length);
    void (*convert_unconnected)(struct verbs_convert *convert, it_conn_reject_code_t code);
};

/* Of a qualifier, in network byte order; local: 0 is any. */
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

/* The length of private data without what InfiniBand fills it up with. */
size_t verbs_cm_strip(const uint8_t *private_data, size_t length);
/* Handles what rdma_cm has to say now. */
void verbs_cm_take_events(struct verbs_cm *cm);

/* ---------------------------------------------------------------- verbs_cm_conn.c */

extern const struct verbs_conn_role verbs_responder;

/* NULL without memory. */
struct verbs_conn *verbs_conn_new(struct verbs_cm *cm, const struct verbs_conn_role *role);
/* The id becomes the conn's. */
void verbs_conn_own(struct verbs_conn *conn, struct rdma_cm_id *id);
/* Without EP: destroys the id at once, if there is one. */
void verbs_conn_discard(struct verbs_conn *conn);
/* Binds to the EP with the step out of UNCONNECTED; false when the EP is in another state. */
bool verbs_conn_attach(struct verbs_conn *conn, struct verbs_ep *ep, enum ual_ep_step step,
                       const it_path_t *path);
/* Ends the attempt when that time is over; false without memory. */
bool verbs_conn_limit(struct verbs_conn *conn, uint64_t delay_ns);
/* Data may flow: reports that, or abandons the conn when the EP is in another state. */
void verbs_conn_establish(struct verbs_conn *conn, const void *private_data, size_t length);
/*
 * Ends for the EP with this step, if that is still legal: closes, flushes, reports (news NULL:
 * nothing). False if it was not legal. The conn may be gone afterwards.
 */
bool verbs_conn_end(struct verbs_conn *conn, enum ual_ep_step step,
                    const struct ual_conn_news *news);
/* An attempt: the same with IT_CM_MSG_CONN_NONPEER_REJECT_EVENT. */
void verbs_conn_fail(struct verbs_conn *conn, it_conn_reject_code_t code);
/* Steps, and carries out the action; on an event of rdma_cm, or on another one. */
void verbs_conn_handle(struct verbs_conn *conn, const struct verbs_cm_event *event);
void verbs_conn_on(struct verbs_conn *conn, enum verbs_conn_event event);
/* The actions of both roles. */
void verbs_conn_act(struct verbs_conn *conn, enum verbs_conn_action action,
                    const struct verbs_cm_event *event);
/* Lets go of id and EP without a report; takes back what the consumer has been asked. */
void verbs_conn_abandon(struct verbs_conn *conn);
/* The consumer has decided about it. */
void verbs_conn_decided(struct verbs_conn *conn);

/* ---------------------------------------------------------------- verbs_cm_thread.c */

/* Calls rdma_connect with .param, beside. False: no thread can be made. */
bool verbs_thread_connect(struct verbs_conn *conn, void (*returned)(void *conn));
/* The call is over, or is cut short: 0 or errno. */
int verbs_thread_join(struct verbs_conn *conn, bool cut);
/*
 * Destroys the id, beside; calling: behind the thread in rdma_connect. The conn is handed to buried
 * afterwards, on the IA's thread.
 */
void verbs_thread_destroy(struct verbs_conn *conn, const struct verbs_ep *ep, bool calling,
                          void (*buried)(struct verbs_conn *conn));
/* Any thread. Until no id that is being destroyed uses the QP of the EP (NULL: of any). */
void verbs_thread_wait(struct verbs_cm *cm, const struct verbs_ep *ep);
/* Any thread. True: an id that is being destroyed uses the QP, which is destroyed behind it. */
bool verbs_thread_take_qp(struct verbs_cm *cm, struct ibv_qp *qp);

/* ---------------------------------------------------------------- verbs_cm_qp.c */

/* Read depths as the EP has them. */
void verbs_qp_wanted(struct verbs_conn *conn, const struct verbs_ep *ep);
/* Fills in .param for a request or an answer. */
void verbs_qp_fill_param(struct verbs_conn *conn, const struct verbs_ep *ep);
/*
 * InfiniBand and RoCE: the peer has not given up its request or answer. rdma_cm does not tell that
 * before a request has been accepted.
 */
bool verbs_qp_is_wanted(const struct verbs_conn *conn);
/* InfiniBand and RoCE: through to the state in which data flows. False: the device refuses. */
bool verbs_qp_connect(struct verbs_conn *conn);
/* Reads that may be under way at once. */
uint32_t verbs_qp_ord(const struct verbs_conn *conn);

/* ---------------------------------------------------------------- verbs_cm_reason.c */

/* Why an attempt has failed, in the words of an event. */
it_conn_reject_code_t verbs_reason_of_errno(int error);
it_conn_reject_code_t verbs_reason_of_event(const struct verbs_cm *cm,
                                            const struct verbs_cm_event *event);
/* The peer's consumer has rejected. */
bool verbs_reason_is_consumer(const struct verbs_cm *cm, const struct verbs_cm_event *event);

/* ---------------------------------------------------------------- verbs_cm_path.c */

void verbs_path_forget(struct verbs_cm *cm); /* from closing */
/* The ends of a path, both of one IP version; ports 0. */
it_status_t verbs_path_ends(struct verbs_cm *cm, const it_path_t *path,
                            struct sockaddr_storage *local, struct sockaddr_storage *remote);
/* The path of a connection, from its id. The rest of the path stays. */
void verbs_path_of_id(const struct verbs_conn *conn, it_path_t *path);
void verbs_path_fill(const struct verbs_ia *ia, struct rdma_cm_id *id, it_path_t *path);
/* The local GID of a path that leaves it open. */
it_status_t verbs_path_source(struct verbs_cm *cm, const it_path_t *path, it_ib_gid_t *gid);

/* ---------------------------------------------------------------- the two roles */

extern const struct verbs_conn_role verbs_initiator;

/* Of a conn with an id, bound to its own end: asks for the connection. The outcome is an event. */
void verbs_connect_launch(struct verbs_conn *conn, struct sockaddr_storage *remote);
/* Three-way: the consumer agrees. The outcome is an event; the conn may be gone afterwards. */
void verbs_connect_confirm(struct verbs_conn *conn);
/* Takes the id. */
void verbs_accept_request(struct verbs_listener *listener, struct rdma_cm_id *id,
                          const struct verbs_cm_event *event);
/* Of a conn with an EP, and a request of the peer: says yes. The outcome is an event. */
void verbs_accept_answer(struct verbs_conn *conn);

/* ---------------------------------------------------------------- listeners (verbs_cm_listen.c) */

/* Fills in a request that has come to this listener, by this id. */
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
/* The connection has just been established; the timer is free for this. */
void verbs_nudge_begin(struct verbs_conn *conn);
/* The timer has expired; the connection lives. */
void verbs_nudge_go_on(struct verbs_conn *conn);

/* ---------------------------------------------------------------- verbs_sidr.c */

#define VERBS_SIDR_REPLY 124u /* octets of private data: 136 less our 12 */

/* Somebody asks the listener for an EP of datagrams. */
void verbs_sidr_asked(struct verbs_listener *listener, struct rdma_cm_id *id,
                      const struct verbs_cm_event *event);
/* From closing. False: a call of the consumer has one in hand. */
bool verbs_sidr_close(struct verbs_cm *cm);

#endif
