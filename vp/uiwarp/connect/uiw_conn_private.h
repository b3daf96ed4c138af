/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A conn is one connection startup. It has a role and a state. The rows of the role say what
 * happens in a state on an event (docs/connections.md shows them); uiw_conn_step takes each step.
 *
 * Conns belong to the loop's thread. Calls of other threads use evd_loop_call, or hand the conn
 * over by .go; until then a conn that connects belongs to the calling thread. While the consumer
 * decides, a call that has taken the request may read .state and .fd and fill in the private data.
 */
#ifndef ITAPI_VP_UIWARP_CONNECT_UIW_CONN_PRIVATE_H
#define ITAPI_VP_UIWARP_CONNECT_UIW_CONN_PRIVATE_H

#include "base/base_clock.h"
#include "vp/uiwarp/connect/uiw_conn.h"
#include "vp/uiwarp/queue/uiw.h"
#include "vp/uiwarp/stream/uiw_stream.h"

#include <sys/socket.h>

#define UIW_HALF_OPEN_FLOOR 4u /* a quarter of the limit stays when descriptors are scarce */
#define UIW_HALF_OPEN_NS    (10 * BASE_NS_PER_S)
#define UIW_REPLY_NS        (10 * BASE_NS_PER_S) /* time limit to send the Reply */
#define UIW_WITHDRAW_NS     (20 * BASE_NS_PER_MS)
#define UIW_DECISION_NS     (10 * BASE_NS_PER_MS) /* then the peer of a request is watched */
#define UIW_REFUSED_NS      (5 * BASE_NS_PER_MS)  /* then a refused TCP connection is tried again */
#define UIW_ATTEMPT_US      UINT64_C(30000000)    /* default time limit of connect and conversion */

enum uiw_conn_state {
    UIW_CONN_OVER,         /* only its memory is left */
    UIW_CONN_CONNECTING,   /* connect: TCP connects, no octet of the Request was sent */
    UIW_CONN_REFUSED,      /* connect: TCP was refused; the timer tries again */
    UIW_CONN_MESSAGE,      /* conversion: the last streaming message is being sent */
    UIW_CONN_ONLY_MESSAGE, /* the same without MPA frames afterwards */
    UIW_CONN_NEXT_REQUEST, /* conversion: no octet of the Request was sent */
    UIW_CONN_REQUEST,      /* a part of the Request was sent */
    UIW_CONN_WAIT_REPLY,
    UIW_CONN_READ_REPLY, /* a part of the Reply was read */
    UIW_CONN_WAIT_REQUEST,
    UIW_CONN_READ_REQUEST, /* a part of the Request was read */
    UIW_CONN_ANNOUNCED,    /* the consumer decides; the peer is not watched */
    UIW_CONN_WATCHED,      /* the consumer decides; the peer must send nothing */
    UIW_CONN_GONE,         /* the peer has left while a call has the request */
    UIW_CONN_REPLY,        /* the Reply is being sent */
    UIW_CONN_STATES,
    UIW_CONN_SAME = UIW_CONN_STATES /* in a row: the state stays */
};

enum uiw_conn_event {
    UIW_ON_NOTHING,   /* the socket is not ready */
    UIW_ON_MOVED,     /* octets were sent or read */
    UIW_ON_SENT,      /* all octets were sent */
    UIW_ON_DONE,      /* the peer's frame is complete and acceptable */
    UIW_ON_REJECTED,  /* the Reply rejects */
    UIW_ON_REFUSE,    /* the Request must be refused with a Reply */
    UIW_ON_TERMINATE, /* the Reply must be answered with a Terminate */
    UIW_ON_BAD,       /* the octets are no MPA frame */
    UIW_ON_LOST,      /* the peer has closed, or the stream has failed: .error */
    UIW_ON_EXPIRED,   /* of the timer */
    UIW_ON_NO_MEMORY,
    UIW_ON_ACCEPT, /* it_ep_accept */
    UIW_ON_REJECT, /* it_reject */
    UIW_ON_CANCEL, /* the EP gives up the attempt */
    UIW_ON_CLOSE,  /* the IA or listen point ends, or another stream needs the place */
    UIW_ON_EVENTS
};

struct uiw_conn;

/* What a conn does in a step. */
struct uiw_conn_act {
    const char *text; /* for docs/connections.md */
    /* Returns false if the next state is that of .otherwise. */
    bool (*run)(struct uiw_conn *conn);
};

#define UIW_IN(state)      (1u << UIW_CONN_##state)
#define UIW_ON(event)      (1u << UIW_ON_##event)
#define UIW_CONN_UNDECIDED (UIW_IN(ANNOUNCED) | UIW_IN(WATCHED) | UIW_IN(GONE))
#define UIW_FAILURES       (UIW_ON(EXPIRED) | UIW_ON(NO_MEMORY))
#define UIW_GIVEN_UP       (UIW_ON(CANCEL) | UIW_ON(CLOSE))

/* A row of a role: says what happens in these states on these events. */
struct uiw_conn_row {
    unsigned states;                /* UIW_IN bits */
    unsigned events;                /* UIW_ON bits */
    const struct uiw_conn_act *act; /* NULL: only the state changes */
    enum uiw_conn_state next;
    enum uiw_conn_state otherwise;
};

/* clang-format off */
#define UIW_ROW(in, on, act, next) UIW_ROW_OR(in, on, act, next, next)
#define UIW_ROW_OR(in, on, act, next, other) {in, on, act, UIW_CONN_##next, UIW_CONN_##other}
#define UIW_ROWS(table) .rows = table, .count = sizeof(table) / sizeof((table)[0])

/* Rows for the Reply, shared by the Initiator roles. */
#define UIW_ROWS_OF_REPLY \
    UIW_ROW(UIW_IN(READ_REPLY), UIW_ON(DONE), &uiw_act_establish, OVER), \
    UIW_ROW(UIW_IN(READ_REPLY), UIW_ON(REJECTED), &uiw_act_rejected, OVER), \
    UIW_ROW(UIW_IN(READ_REPLY), UIW_ON(TERMINATE), &uiw_act_terminate, OVER), \
    UIW_ROW(UIW_IN(READ_REPLY), UIW_ON(BAD), &uiw_act_fail, OVER)
/* clang-format on */

struct uiw_conn_role {
    bool converts; /* .fd is a copy of the caller's descriptor */
    enum uiw_conn_state first;
    const struct uiw_conn_row *rows;
    size_t count;
};

struct uiw_conn {
    struct base_link link; /* uiw_cm.connections */
    struct uiw_ia *ia;
    const struct uiw_conn_role *role; /* immutable */
    _Atomic enum uiw_conn_state state;
    enum uiw_conn_event event; /* of the current step */
    int fd;                    /* -1: none */
    struct evd_io io;
    struct evd_timer timer;
    struct ual_ep *ep; /* NULL: passive and undecided */
    struct iw_mpa mpa;
    int error; /* errno of LOST; EBADMSG: closed in the middle of a frame; 0: none */

    /* Octets being sent: .frame or the last streaming message. */
    const uint8_t *out;
    size_t out_length;
    size_t out_sent;
    uint8_t frame[IW_MPA_FRAME_MAX]; /* being sent, or read */
    uint8_t private_data[IT_MAX_PRIV_DATA];
    size_t private_length;

    /* Octets that were read but not parsed yet: in .frame or .buffer. */
    const uint8_t *early;
    size_t early_length;

    /* Active. */
    struct sockaddr_storage local;
    struct sockaddr_storage remote; /* also set if passive */
    socklen_t address_length;
    uint64_t limit_ns;    /* for .go */
    uint64_t end_ns;      /* of the attempt */
    uint64_t patience_ns; /* a refused TCP connection is tried again until then */

    /* Passive. */
    struct uiw_listener *listener; /* until the Request is announced */
    struct uiw_half_open half_open;
    struct ual_request request;

    /* Conversion. */
    struct base_net_options options; /* before the conversion */
    uint8_t *buffer;                 /* heap: last streaming message, then early octets */

    /* References: one unless the state is OVER, one per submitted task, one per running step. */
    _Atomic unsigned holders;
    struct evd_task cancel;
    struct evd_task go;
};

/* Converts the time limit of an active attempt; 0 us: the default. */
static inline uint64_t uiw_conn_attempt_ns(uint64_t timeout_us)
{
    return base_ns_of_us(timeout_us != 0 ? timeout_us : UIW_ATTEMPT_US);
}

/* Increments a counter, which any thread may read. */
static inline void uiw_cm_count(uint64_t *counter)
{
    (void)__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

/* ---------------------------------------------------------------- uiw_conn_life.c */

/* Returns a conn, which owns fd. NULL: no memory; fd is still the caller's. */
struct uiw_conn *uiw_conn_new(struct uiw_ia *ia, int fd, const struct uiw_conn_role *role);

/* Any thread. The same for a conn that the thread will hand over. */
struct uiw_conn *uiw_conn_alloc(struct uiw_ia *ia, int fd, const struct uiw_conn_role *role);

/* Any thread. Take and drop a reference; the last drop frees the memory. */
void uiw_conn_hold(struct uiw_conn *conn);
void uiw_conn_drop(struct uiw_conn *conn);

/* Ends the conn and removes it from all lists. It must not have a stream or EP any more. */
void uiw_conn_end(struct uiw_conn *conn);

/* Attaches to the EP and steps it out of UNCONNECTED; false if the EP is in another state. */
bool uiw_conn_attach(struct uiw_conn *conn, struct ual_ep *ep, enum ual_ep_step step,
                     const it_path_t *path);
/* Detaches from the EP and returns it; NULL: none. Only the caller may still use it here. */
struct ual_ep *uiw_conn_detach(struct uiw_conn *conn);

/*
 * Any thread. Attaches like uiw_conn_attach and hands the conn over to the loop, which calls go.
 * That function begins with uiw_conn_arrive.
 */
bool uiw_conn_hand_over(struct uiw_conn *conn, struct ual_ep *ep, enum ual_ep_step step,
                        const it_path_t *path, void (*go)(struct evd_task *task));
/* Returns the conn. NULL: the attempt was given up before. */
struct uiw_conn *uiw_conn_arrive(struct evd_task *task);

/* ---------------------------------------------------------------- uiw_conn_act.c */

extern const struct uiw_conn_act uiw_act_fail;      /* resets the stream */
extern const struct uiw_conn_act uiw_act_close;     /* ends it in order: the peer has closed */
extern const struct uiw_conn_act uiw_act_hand_back; /* leaves the socket to its owner */
extern const struct uiw_conn_act uiw_act_drop;      /* resets the stream without a report */
extern const struct uiw_conn_act uiw_act_leave;     /* ends it in order, without a report */
extern const struct uiw_conn_act uiw_act_establish;
extern const struct uiw_conn_act uiw_act_reply; /* Responder with an EP: makes the Reply */
extern const struct uiw_conn_act uiw_act_rejected;
extern const struct uiw_conn_act uiw_act_refuse;
extern const struct uiw_conn_act uiw_act_terminate;

/* Resets the stream and reports this code, if there is an EP. */
void uiw_conn_fail(struct uiw_conn *conn, it_conn_reject_code_t code);

/* Sends these octets, ends the stream in order, and reports news if there is an EP. */
void uiw_conn_finish(struct uiw_conn *conn, const struct ual_conn_news *news, const void *tail,
                     size_t tail_length);

/* Hands the stream to the data path. private_data: for the event. */
void uiw_conn_establish(struct uiw_conn *conn, const struct iw_mpa_result *result,
                        const void *private_data, size_t private_length);

/* Sets the octets to be sent next. */
void uiw_conn_send(struct uiw_conn *conn, const uint8_t *octets, size_t length);
/* Initiator: the same with the Request. */
void uiw_conn_send_request(struct uiw_conn *conn);

/* Fills in the EP's part of a Reply. */
void uiw_conn_responder_config(struct uiw_conn *conn, struct iw_mpa_config *config);

/* ---------------------------------------------------------------- uiw_conn_step.c */

/* Returns the row of the pair. NULL: the pair does not occur; it would fail the attempt. */
const struct uiw_conn_row *uiw_conn_row(const struct uiw_conn_role *role, enum uiw_conn_state state,
                                        enum uiw_conn_event event);

/*
 * Takes a step for the event, then one for each event of the socket until there is none.
 * UIW_ON_NOTHING: only the latter. The conn may be gone afterwards.
 */
void uiw_conn_step(struct uiw_conn *conn, enum uiw_conn_event event);

/* Starts the timer for UIW_ON_EXPIRED; false if memory runs out. */
bool uiw_conn_limit(struct uiw_conn *conn, uint64_t delay_ns);

/* Returns true if the peer has sent nothing. While the consumer decides, it must not. */
bool uiw_conn_peer_is_quiet(const struct uiw_conn *conn);

/* ---------------------------------------------------------------- uiw_accept.c */

/* Begins a half-open connection of a listen point; takes over fd. */
void uiw_accept_begin(struct uiw_ia *ia, struct uiw_listener *listener, int fd,
                      const struct sockaddr_storage *peer);
/*
 * Returns true if many streams are half-open. already: the last result; if it is true, half as many
 * are enough.
 */
bool uiw_accept_is_crowded(const struct uiw_ia *ia, bool already);
/* Drops the oldest half-open stream to free a descriptor. Returns false if there is none. */
bool uiw_accept_drop_oldest(struct uiw_ia *ia);
/* Ends the listener's connections whose Request was not announced. */
void uiw_accept_abort(struct uiw_ia *ia, const struct uiw_listener *listener);

/* Returns the conn of a request. */
struct uiw_conn *uiw_accept_conn_of(struct ual_request *request);
/* Returns true if the peer has neither left nor sent anything. */
bool uiw_accept_peer_is_there(const struct uiw_conn *conn);

extern const struct uiw_conn_role uiw_accept_role, uiw_connect_role;
extern const struct uiw_conn_role uiw_initiator_role, uiw_responder_role; /* of a conversion */

/* ---------------------------------------------------------------- uiw_conn_log.c */

/* Logs a failed attempt. Called while the stream is still open. */
void uiw_log_attempt(const struct uiw_conn *conn, it_conn_reject_code_t code);

/* ---- uiw_options.c: options of a converted socket ---- */

/* Saves the present options. */
void uiw_options_borrow(struct uiw_conn *conn);

/* Sets the options that MPA and the data path need. */
void uiw_options_change(int fd);

/* Restores the options that were changed so far. */
void uiw_options_restore(const struct uiw_conn *conn);

/* ---------------------------------------------------------------- uiw_listen.c */

struct uiw_listener;

struct uiw_listen_socket {
    struct uiw_listener *listener;
    int fd;
    bool deferring; /* TCP_DEFER_ACCEPT is set, to a second */
    struct evd_io io;
};

/* Sockets: one for all addresses of the host, or one per address of a network interface. */
struct uiw_listener {
    struct uiw_ia *ia;
    struct ual_listen *listen; /* outlives the listener */
    struct evd_timer resume;   /* runs while accept lacks descriptors or memory */
    size_t count;
    struct uiw_listen_socket sockets[];
};

/* Returns the listen point of the IA that serves the port, or NULL. */
struct ual_listen *uiw_listen_find(struct uiw_ia *ia, const it_conn_qual_t *qual, size_t spigot_id);

#endif
