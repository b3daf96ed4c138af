/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One connection, between the files that carry it out: verbs_cm.c (events of rdma_cm),
 * verbs_cm_conn.c (its life and its ends), verbs_cm_connect.c, verbs_cm_accept.c, verbs_cm_listen.c.
 * Everything here belongs to the IA's thread; calls of other threads come in by ia_call.
 */
#ifndef ITAPI_UAL_VERBS_VERBS_CM_PRIVATE_H
#define ITAPI_UAL_VERBS_VERBS_CM_PRIVATE_H

#include "ual/verbs/verbs_cm.h"

#include <netinet/in.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>

#define VRB_CM_UNDECIDED_MAX 4096u                 /* announced, no decision yet */
#define VRB_CM_ATTEMPT_US    UINT64_C(30000000)    /* default limit of an attempt */
#define VRB_CM_RESOLVE_MS    5000                  /* for an address that nobody answers for */
#define VRB_CM_CLOSE_NS      UINT64_C(60000000000) /* until the peer must have said good-bye too */
#define VRB_CM_WITHDRAW_NS   UINT64_C(20000000)

enum vrb_conn_state {
    VRB_CONN_NEW,
    VRB_CONN_ADDRESS,   /* being resolved */
    VRB_CONN_ROUTE,     /* being resolved */
    VRB_CONN_CALLING,   /* iWARP: a thread is in rdma_connect */
    VRB_CONN_REPLY,     /* initiator: the request is out */
    VRB_CONN_ARRIVED,   /* three-way: the consumer has been asked */
    VRB_CONN_ANNOUNCED, /* responder: the consumer has been asked */
    VRB_CONN_CONFIRM,   /* responder: the answer is out */
    VRB_CONN_LIVE,
    VRB_CONN_CLOSING, /* without EP: waits for the peer's good-bye */
    VRB_CONN_DYING    /* without EP, iWARP: a thread is in rdma_destroy_id */
};

/* What an id of rdma_cm has as its context. */
enum vrb_cm_target {
    VRB_CM_CONN,
    VRB_CM_LISTENER,
    VRB_CM_CONVERT,
    VRB_CM_SERVICE, /* asks for an EP of datagrams */
    VRB_CM_ASKED    /* is asked for one */
};

struct vrb_path_memo;
struct vrb_asked;

struct vrb_conn {
    enum vrb_cm_target target;
    struct vrb_conn *prev, *next;
    struct vrb_cm *cm;
    enum vrb_conn_state state;
    struct rdma_cm_id *id;
    struct vrb_ep *ep;           /* NULL: responder and undecided, or over for the EP */
    struct vrb_convert *convert; /* whose it is until both sides have agreed */
    struct vp_timer *timer;

    bool active;
    bool three_way;
    it_path_t path;    /* initiator: as asked for */
    uint32_t ird, ord; /* own */
    uint32_t peer_ird, peer_ord;
    bool has_retries; /* the consumer has chosen them */
    uint8_t retries, rnr_retries;
    struct rdma_conn_param param;
    uint8_t private_data[IT_MAX_PRIV_DATA]; /* initiator: to go out; responder: of the request */
    size_t private_length;

    unsigned nudges; /* sent: verbs_cm_nudge.c */

    bool undecided; /* counted in vrb_cm.undecided */
    bool peer_gone; /* given up while a call had the request in hand */
    struct ual_request request;

    /* A thread that carries out a call of rdma_cm which blocks. */
    pthread_t caller;       /* in rdma_connect */
    struct vp_task *called; /* it has come back */
    int error;              /* of its call; read when the thread has been joined */
    pthread_t destroyer;    /* in rdma_destroy_id */
    struct vp_task *gone;   /* it has come back */
    bool calling;           /* DYING: the destroyer has to join the caller */
    /* DYING, by vrb_cm.lock. */
    struct vrb_conn *dying_next;
    const struct vrb_ep *held; /* whose QP the id still uses */
    bool destroyed;
};

struct vrb_listener {
    enum vrb_cm_target target;
    struct vrb_listener *next;
    struct vrb_cm *cm;
    struct vp_listen_info info;
    size_t count;
    struct rdma_cm_id *ids[];
};

struct vrb_cm {
    struct ual_ia *ual;
    struct vrb_ia *ia;
    struct rdma_event_channel *channel;
    struct vp_watch *watch;
    struct vrb_conn *connections;
    struct vrb_conn *current; /* an event of it is being handled; NULL when it has gone meanwhile */
    struct vrb_listener *listeners;
    struct vrb_asked *asked;
    struct vrb_convert *conversions;
    struct vrb_path_memo *memos; /* by .lock */
    unsigned undecided;
    uint64_t accepted, initiated, refused; /* written there, read by any thread */
    pthread_mutex_t lock;
    pthread_cond_t destroyed; /* with .lock: an id of .dying has been destroyed */
    struct vrb_conn *dying;   /* by .lock */
};

/* A request for a peer's EP of datagrams: the private area of its object. */
struct vrb_service {
    enum vrb_cm_target target;
    struct vrb_cm *cm;
    struct ual_ud_service *ual;
    struct vp_ud_service_info info;
    struct rdma_cm_id *id; /* NULL: nothing is under way */
    struct vp_timer *timer;
};

/* An event of rdma_cm that has been acknowledged already. */
struct vrb_cm_event {
    enum rdma_cm_event_type type;
    int status;
    uint32_t responder_resources, initiator_depth;
    uint32_t qp_num, qkey; /* of datagrams */
    uint8_t private_data[UINT8_MAX];
    size_t private_length;
};

static inline void vrb_cm_count(uint64_t *counter)
{
    (void)__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

/* ---------------------------------------------------------------- verbs_cm.c */

/* The id is bound to the IA's device. */
bool vrb_cm_is_own(const struct vrb_ia *ia, const struct rdma_cm_id *id);
/* The length of private data without what InfiniBand fills it up with. */
size_t vrb_cm_strip(const uint8_t *private_data, size_t length);
/* Handles what rdma_cm has to say now. */
void vrb_cm_take_events(struct vrb_cm *cm);

/* ---------------------------------------------------------------- verbs_cm_conn.c */

/* NULL without memory. */
struct vrb_conn *vrb_conn_new(struct vrb_cm *cm);
/* The id becomes the conn's. */
void vrb_conn_own(struct vrb_conn *conn, struct rdma_cm_id *id);
/* Without EP: destroys the id at once, if there is one. */
void vrb_conn_discard(struct vrb_conn *conn);
/* Binds to the EP with the step out of UNCONNECTED; false when the EP is in another state. */
bool vrb_conn_attach(struct vrb_conn *conn, struct vrb_ep *ep, enum ual_ep_step step,
                     const it_path_t *path);
/* Ends the attempt when that time is over; false without memory. */
bool vrb_conn_limit(struct vrb_conn *conn, uint64_t delay_ns);
/* Data may flow. False: the EP is in another state, and the conn may be gone. */
bool vrb_conn_establish(struct vrb_conn *conn, const void *private_data, size_t length);
/*
 * Ends for the EP with this step, if that is still legal: closes, flushes, reports (news NULL:
 * nothing). False if it was not legal. The conn may be gone afterwards.
 */
bool vrb_conn_end(struct vrb_conn *conn, enum ual_ep_step step, const struct ual_conn_news *news);
/* An attempt: the same with IT_CM_MSG_CONN_NONPEER_REJECT_EVENT. */
void vrb_conn_fail(struct vrb_conn *conn, it_conn_reject_code_t code);
/* What may come to either side. */
void vrb_conn_event(struct vrb_conn *conn, const struct vrb_cm_event *event);
/* Lets go of id and EP without a report; takes back what the consumer has been asked. */
void vrb_conn_abandon(struct vrb_conn *conn);
/* The consumer has decided about it. */
void vrb_conn_decided(struct vrb_conn *conn);

/* ---------------------------------------------------------------- verbs_cm_thread.c */

/* Calls rdma_connect with .param, beside. False: no thread can be made. */
bool vrb_thread_connect(struct vrb_conn *conn);
/* The call is over, or is cut short: 0 or errno. */
int vrb_thread_join(struct vrb_conn *conn, bool cut);
/* Destroys the id, beside. The conn is gone afterwards, sooner or later. */
void vrb_thread_destroy(struct vrb_conn *conn, const struct vrb_ep *ep);
/* Any thread. Until no id that is being destroyed uses the QP of the EP (NULL: of any). */
void vrb_thread_wait(struct vrb_cm *cm, const struct vrb_ep *ep);

/* ---------------------------------------------------------------- verbs_cm_qp.c */

/* Read depths as the EP has them. */
void vrb_qp_wanted(struct vrb_conn *conn, const struct vrb_ep *ep);
/* What goes into a request or an answer, for the EP of the conn. */
void vrb_qp_fill_param(struct vrb_conn *conn, const struct vrb_ep *ep);
/*
 * InfiniBand and RoCE: the peer has not given up its request or answer. rdma_cm does not tell that
 * before a request has been accepted.
 */
bool vrb_qp_is_wanted(const struct vrb_conn *conn);
/* InfiniBand and RoCE: through to the state in which data flows. False: the device refuses. */
bool vrb_qp_connect(struct vrb_conn *conn);
/* Reads that may be under way at once. */
uint32_t vrb_qp_ord(const struct vrb_conn *conn);

/* ---------------------------------------------------------------- verbs_cm_reason.c */

/* Why an attempt has failed, in the words of an event. */
it_conn_reject_code_t vrb_reason_of_errno(int error);
it_conn_reject_code_t vrb_reason_of_event(const struct vrb_cm *cm,
                                          const struct vrb_cm_event *event);
/* The peer's consumer has rejected. */
bool vrb_reason_is_consumer(const struct vrb_cm *cm, const struct vrb_cm_event *event);

/* ---------------------------------------------------------------- verbs_cm_path.c */

void vrb_path_forget(struct vrb_cm *cm); /* from closing */
/* The ends of a path, both of one IP version; ports 0. */
it_status_t vrb_path_ends(struct vrb_cm *cm, const it_path_t *path, struct sockaddr_storage *local,
                          struct sockaddr_storage *remote);
/* The path of a connection, from its id. The rest of the path stays. */
void vrb_path_of_id(const struct vrb_conn *conn, it_path_t *path);
void vrb_path_fill(const struct vrb_ia *ia, struct rdma_cm_id *id, it_path_t *path);
/* RoCE, of which GIDs are addresses. */
bool vrb_path_is_ethernet(const struct vrb_ia *ia, size_t spigot_id);
/* The local GID of a path that leaves it open. */
it_status_t vrb_path_source(struct vrb_cm *cm, const it_path_t *path, it_ib_gid_t *gid);
/* Ports in network byte order. */
void vrb_address_set_port(struct sockaddr_storage *address, uint16_t port);
uint16_t vrb_address_port(const struct sockaddr *address);
void vrb_address_copy(struct sockaddr_storage *to, const struct sockaddr *from);
void vrb_address_tell(const struct sockaddr *from, it_net_addr_t *to);

/* ---------------------------------------------------------------- the others */

/* Of a conn with an id, bound to its own end: asks for the connection. The outcome is an event. */
void vrb_connect_launch(struct vrb_conn *conn, struct sockaddr_storage *remote);
void vrb_connect_event(struct vrb_conn *conn, const struct vrb_cm_event *event);
/* The thread in rdma_connect has come back. */
void vrb_connect_called(void *argument);
/* Three-way: the consumer agrees. The conn may be gone afterwards. */
it_status_t vrb_connect_confirm(struct vrb_conn *conn);

void vrb_accept_request(struct vrb_listener *listener, struct rdma_cm_id *id,
                        const struct vrb_cm_event *event);
/* Of a conn with an EP, and a request of the peer: says yes. The outcome is an event. */
void vrb_accept_answer(struct vrb_conn *conn);
void vrb_accept_event(struct vrb_conn *conn, const struct vrb_cm_event *event);

/* The device of a listener goes away. */
void vrb_listener_lost(struct vrb_listener *listener, struct rdma_cm_id *id);
struct vrb_listener *vrb_listener_find(struct vrb_cm *cm, const it_conn_qual_t *qual,
                                       size_t spigot_id);

/* ---------------------------------------------------------------- nudges (verbs_cm_nudge.c) */

/* The connection has just been established; the timer is free for this. */
void vrb_nudge_begin(struct vrb_conn *conn);
/* The timer has expired; the connection lives. */
void vrb_nudge_go_on(struct vrb_conn *conn);

/* ---------------------------------------------------------------- verbs_sidr.c */

#define VRB_SIDR_REPLY 124u /* octets of private data: there are 136, of which 12 are ours */

/* Somebody asks the listener for an EP of datagrams. */
void vrb_sidr_asked(struct vrb_listener *listener, struct rdma_cm_id *id,
                    const struct vrb_cm_event *event);
/* Contexts VRB_CM_SERVICE and VRB_CM_ASKED. */
void vrb_sidr_event(void *context, const struct vrb_cm_event *event);
/* From closing. False: a call of the consumer has one in hand. */
bool vrb_sidr_close(struct vrb_cm *cm);

#endif
