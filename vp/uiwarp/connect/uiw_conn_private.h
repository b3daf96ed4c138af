/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One connection startup, between the files that carry it out: uiw_conn.c (its life and state
 * machine) and its roles uiw_connect.c, uiw_accept.c, uiw_convert.c. Everything here belongs to the loop thread;
 * calls of other threads come in by evd_loop_call, or hand the conn over by .go. Until then a conn
 * that connects is its caller's, and of one that waits for a decision the caller who has taken its
 * request out of the table may read .fd and fill in the private data. The other exception is
 * .cancelling.
 */
#ifndef ITAPI_VP_UIWARP_CONNECT_UIW_CONN_PRIVATE_H
#define ITAPI_VP_UIWARP_CONNECT_UIW_CONN_PRIVATE_H

#include "base/base_clock.h"
#include "vp/uiwarp/connect/uiw_conn.h"
#include "vp/uiwarp/stream/uiw_start.h"

#include <sys/socket.h>

#define UIW_HALF_OPEN_FLOOR 4u /* of those allowed, this part also where descriptors are scarce */
#define UIW_HALF_OPEN_NS    (10 * BASE_NS_PER_S)
#define UIW_REPLY_NS        (10 * BASE_NS_PER_S) /* until the socket must have taken our Reply */
#define UIW_WITHDRAW_NS     (20 * BASE_NS_PER_MS)
#define UIW_DECISION_NS     (10 * BASE_NS_PER_MS) /* then an undecided request is watched */
#define UIW_ATTEMPT_US      UINT64_C(30000000)    /* default limit of connect and conversion */

enum uiw_conn_state {
    UIW_CONN_CONNECTING, /* TCP connect under way */
    UIW_CONN_MESSAGE,    /* conversion: the last streaming message goes out */
    UIW_CONN_REQUEST,    /* initiator: own Request goes out */
    UIW_CONN_WAIT_REPLY,
    UIW_CONN_WAIT_REQUEST,
    UIW_CONN_ANNOUNCED, /* the consumer has been asked */
    UIW_CONN_REPLY,     /* responder: own Reply goes out */
    UIW_CONN_OVER,      /* has let go of everything: only its memory waits for .cancel to run */
    UIW_CONN_STATES
};

/* What a step of the state machine wants next. */
enum uiw_conn_next {
    UIW_NEXT_READ,
    UIW_NEXT_WRITE,
    UIW_NEXT_NOTHING, /* a timer, or a call, will go on */
    UIW_NEXT_AGAIN,   /* the state has changed: take its step */
    UIW_NEXT_GONE     /* the conn may be freed: do not touch it */
};

/* Options of a converted socket that its owner has set, perhaps. */
struct uiw_socket_options {
    int nodelay;
    int cork;
    int lowat;
    struct linger linger;
};

struct uiw_conn;

/* What a connection does in one role alone. A role leaves out what its states never call. */
struct uiw_conn_role {
    enum uiw_conn_next (*message_sent)(struct uiw_conn *conn); /* the end of MESSAGE */
    enum uiw_conn_next (*requested)(struct uiw_conn *conn);    /* the end of WAIT_REQUEST */
    enum uiw_conn_next (*peer_stirs)(struct uiw_conn *conn);   /* the step of ANNOUNCED */
    void (*withdraw)(struct uiw_conn *conn); /* ANNOUNCED: takes the request back */
    void (*expired)(struct uiw_conn *conn);  /* undecided: time is up */
    bool (*retry)(struct uiw_conn *conn);    /* .retry: another connection */
};

struct uiw_conn {
    struct uiw_conn *prev;
    struct uiw_conn *next;
    bool linked; /* in uiw_cm.connections */
    struct uiw_ia *ia;
    const struct uiw_conn_role *role; /* immutable */
    enum uiw_conn_state state;
    int fd; /* -1: none */
    struct evd_io io;
    unsigned watched; /* enum evd_io_event bits, 0: idle */
    struct evd_timer timer;
    struct ual_ep *ep; /* NULL: passive and undecided */
    struct iw_mpa mpa;

    /* Octets on their way out: a frame or the last streaming message. */
    const uint8_t *out;
    size_t out_length;
    size_t out_sent;
    uint8_t frame[IW_MPA_FRAME_MAX];
    uint8_t private_data[IT_MAX_PRIV_DATA];
    size_t private_length;

    /* Active. */
    struct sockaddr_storage local;
    struct sockaddr_storage remote; /* also of the peer of a passive one */
    socklen_t address_length;
    int error;         /* errno of what makes it fail; of connect(2), for .go; 0: none */
    bool retry;        /* a new connection with revision 1 may be tried */
    uint64_t limit_ns; /* likewise */
    bool suppress_depths;

    /* Passive. */
    struct uiw_listener *listener; /* until the Request is announced */
    bool undecided;                /* in uiw_cm.half_open, then counted in uiw_cm.undecided */
    struct uiw_half_open half_open;
    bool suppress;          /* the listen point exchanges no read depths */
    _Atomic bool peer_gone; /* ANNOUNCED: the peer has given up or broken the rules */
    struct ual_request request;

    /* Conversion. */
    bool borrowed;        /* fd shares the caller's socket */
    bool ours;            /* an octet of MPA has been read or sent: no way back */
    bool options_changed; /* those that only matter from then on */
    bool no_request_reply;
    struct uiw_socket_options options; /* as they were */
    uint8_t *buffer;                   /* heap: last streaming message, then early octets */
    size_t message_length;
    const uint8_t *early; /* inside buffer */
    size_t early_length;

    /* The memory of a conn that is over is freed by the last of these that runs. */
    struct evd_task cancel;
    bool cancelling; /* .cancel is or will be submitted; by ep->lock while the EP's slot is set */
    struct evd_task go;
    bool going; /* .go is or will be submitted; set before the conn is attached */
};

/* Counters are read by any thread. */
static inline void uiw_cm_count(uint64_t *counter)
{
    (void)__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

/* ---------------------------------------------------------------- uiw_conn.c */

/* fd is the conn's from now on. NULL without memory: fd is still the caller's. */
struct uiw_conn *uiw_conn_new(struct uiw_ia *ia, int fd, const struct uiw_conn_role *role);

/* The same by any thread, which is to hand it over. */
struct uiw_conn *uiw_conn_alloc(struct uiw_ia *ia, int fd, const struct uiw_conn_role *role);

/* Not attached and nothing done yet: frees without a trace. fd stays open. */
void uiw_conn_discard(struct uiw_conn *conn);

/* Binds to the EP with the step out of UNCONNECTED; false when the EP is in another state. */
bool uiw_conn_attach(struct uiw_conn *conn, struct ual_ep *ep, enum ual_ep_step step,
                     const it_path_t *path);

/*
 * Any thread. The same for a conn that the loop is to go on with: it calls go, which begins with
 * uiw_conn_arrive.
 */
bool uiw_conn_hand_over(struct uiw_conn *conn, struct ual_ep *ep, enum ual_ep_step step,
                        const it_path_t *path, void (*go)(struct evd_task *task));
/* NULL: it has been given up meanwhile. */
struct uiw_conn *uiw_conn_arrive(struct evd_task *task);
/* It is undecided no more, or goes. Others: nothing happens. */
void uiw_conn_forget(struct uiw_conn *conn);

/* Runs the state machine until it has to wait. The conn may be gone afterwards. */
void uiw_conn_run(struct uiw_conn *conn);

/* Limits the attempt; false without memory. */
bool uiw_conn_limit(struct uiw_conn *conn, uint64_t delay_ns);

/* Ends: the stream is reset (or handed back), the outcome reported when there is an EP. */
void uiw_conn_fail(struct uiw_conn *conn, it_conn_reject_code_t code);
/* The same with an event of its own kind and octets that the peer gets before the stream ends. */
void uiw_conn_finish(struct uiw_conn *conn, const struct ual_conn_news *news, const void *tail,
                     size_t tail_length);
/* Ends without a report. */
void uiw_conn_abandon(struct uiw_conn *conn);

/* Hands the stream to the engine. private_data: for the event. */
enum uiw_conn_next uiw_conn_establish(struct uiw_conn *conn, const struct iw_mpa_result *result,
                                      const void *private_data, size_t private_length);

/* The next octets to go out, in one send() if the socket takes them all. */
void uiw_conn_send(struct uiw_conn *conn, enum uiw_conn_state state, const uint8_t *octets,
                   size_t length);

/* What a Reply says for the EP of the conn. */
void uiw_conn_responder_config(struct uiw_conn *conn, struct iw_mpa_config *config);

/* Initiator: encodes the Request and makes it the next to go out. */
void uiw_conn_send_request(struct uiw_conn *conn);
/* Responder with an EP: the same with the Reply. */
void uiw_conn_send_reply(struct uiw_conn *conn);

/* ---------------------------------------------------------------- steps of the other files */

/* What the kernel says about a TCP connection, in the words of an event. */
it_conn_reject_code_t uiw_connect_reject_code(int error);

/* One call of it_reject or it_handoff, on its way through the loop thread. */
struct uiw_decision {
    struct ual_request *request;
    const void *private_data;
    size_t length;
    const it_conn_qual_t *qual;
    size_t spigot_id;
    it_status_t status;
};

/* A half-open connection of a listen point; takes fd. */
void uiw_accept_begin(struct uiw_ia *ia, struct uiw_listener *listener, int fd,
                      const struct sockaddr_storage *peer);
/* Many wait for their Request; already so: half as many are still many. */
bool uiw_accept_is_crowded(const struct uiw_ia *ia, bool already);
/* Out of descriptors: ends the oldest that still waits for its Request. False: there is none. */
bool uiw_accept_drop_oldest(struct uiw_ia *ia);
/* Ends those whose Request has not been announced. */
void uiw_accept_abort(struct uiw_ia *ia, const struct uiw_listener *listener);

/* ---------------------------------------------------------------- between the roles */

/* The connection of a request. */
struct uiw_conn *uiw_accept_conn_of(struct ual_request *request);
bool uiw_accept_peer_is_there(const struct uiw_conn *conn);

extern const struct uiw_conn_role uiw_accept_role, uiw_connect_role, uiw_convert_role;

/* Loop thread, while the stream is still there. An attempt of ours or of a peer comes to nothing. */
void uiw_log_attempt(const struct uiw_conn *conn, it_conn_reject_code_t code);

#endif
