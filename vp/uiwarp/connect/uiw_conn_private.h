/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One connection startup: a conn, which has a role and a state. Rows of the role say what happens
 * in which state on which event (docs/connections.md shows them); uiw_conn_step takes each step.
 *
 * Everything here belongs to the loop thread. Calls of other threads come in by evd_loop_call, or
 * hand the conn over by .go. Until then a conn that connects is its caller's. While the consumer
 * decides, a call that has taken the request may read .state and .fd and fill in the private data.
 */
#ifndef ITAPI_VP_UIWARP_CONNECT_UIW_CONN_PRIVATE_H
#define ITAPI_VP_UIWARP_CONNECT_UIW_CONN_PRIVATE_H

#include "base/base_clock.h"
#include "vp/uiwarp/connect/uiw_conn.h"
#include "vp/uiwarp/queue/uiw.h"
#include "vp/uiwarp/stream/uiw_stream.h"

#include <sys/socket.h>

#define UIW_HALF_OPEN_FLOOR 4u /* of those allowed, this part also where descriptors are scarce */
#define UIW_HALF_OPEN_NS    (10 * BASE_NS_PER_S)
#define UIW_REPLY_NS        (10 * BASE_NS_PER_S) /* until the socket must have taken our Reply */
#define UIW_WITHDRAW_NS     (20 * BASE_NS_PER_MS)
#define UIW_DECISION_NS     (10 * BASE_NS_PER_MS) /* then an undecided request is watched */
#define UIW_REFUSED_NS      (5 * BASE_NS_PER_MS)  /* then a TCP connection is tried again */
#define UIW_ATTEMPT_US      UINT64_C(30000000)    /* default limit of connect and conversion */

enum uiw_conn_state {
    UIW_CONN_OVER,         /* holds nothing: only its memory is left */
    UIW_CONN_CONNECTING,   /* connect: TCP connects, and nothing of the Request is out */
    UIW_CONN_REFUSED,      /* connect: TCP was refused, and tries again soon */
    UIW_CONN_MESSAGE,      /* conversion: the last streaming message goes out */
    UIW_CONN_ONLY_MESSAGE, /* the same, and no startup follows */
    UIW_CONN_NEXT_REQUEST, /* conversion: nothing of the Request is out */
    UIW_CONN_REQUEST,      /* some of the Request is out */
    UIW_CONN_WAIT_REPLY,
    UIW_CONN_READ_REPLY, /* some of the Reply is here */
    UIW_CONN_WAIT_REQUEST,
    UIW_CONN_READ_REQUEST, /* some of the Request is here */
    UIW_CONN_ANNOUNCED,    /* the consumer decides; nobody watches the peer */
    UIW_CONN_WATCHED,      /* the consumer decides; the peer has to be quiet */
    UIW_CONN_GONE,         /* the peer has left, and a call has the request in hand */
    UIW_CONN_REPLY,        /* the Reply goes out */
    UIW_CONN_STATES,
    UIW_CONN_SAME = UIW_CONN_STATES /* in a row: the state stays */
};

enum uiw_conn_event {
    UIW_ON_NOTHING,   /* the socket is not ready */
    UIW_ON_MOVED,     /* octets have gone out or come in */
    UIW_ON_SENT,      /* all octets that were to go out have */
    UIW_ON_DONE,      /* the peer's frame is complete and acceptable */
    UIW_ON_REJECTED,  /* the Reply says no */
    UIW_ON_REFUSE,    /* the Request has to be refused with a Reply */
    UIW_ON_TERMINATE, /* the Reply has to be answered with a Terminate */
    UIW_ON_BAD,       /* the octets are no MPA frame */
    UIW_ON_LOST,      /* the peer has closed, or the stream has failed: .error */
    UIW_ON_EXPIRED,   /* the timer */
    UIW_ON_NO_MEMORY,
    UIW_ON_ACCEPT, /* it_ep_accept */
    UIW_ON_REJECT, /* it_reject */
    UIW_ON_CANCEL, /* the EP goes on without the attempt */
    UIW_ON_CLOSE,  /* the IA or the listen point ends, or another stream takes the place */
    UIW_ON_EVENTS
};

/* Options of a converted socket that its owner has set, perhaps. */
struct uiw_socket_options {
    int nodelay;
    int cork;
    int lowat;
    struct linger linger;
};

struct uiw_conn;

/* One thing that a connection does. */
struct uiw_conn_act {
    const char *text; /* for docs/connections.md */
    /* False: the state is that of .otherwise. */
    bool (*run)(struct uiw_conn *conn);
};

#define UIW_IN(state)      (1u << UIW_CONN_##state)
#define UIW_ON(event)      (1u << UIW_ON_##event)
#define UIW_CONN_UNDECIDED (UIW_IN(ANNOUNCED) | UIW_IN(WATCHED) | UIW_IN(GONE)) /* the consumer */
#define UIW_FAILURES       (UIW_ON(EXPIRED) | UIW_ON(NO_MEMORY))
#define UIW_GIVEN_UP       (UIW_ON(CANCEL) | UIW_ON(CLOSE))

/* A row of a role: what happens in these states on these events. The act runs in the old state. */
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

/* Every Initiator judges the Reply in the same way. */
#define UIW_ROWS_OF_REPLY \
    UIW_ROW(UIW_IN(READ_REPLY), UIW_ON(DONE), &uiw_act_establish, OVER), \
    UIW_ROW(UIW_IN(READ_REPLY), UIW_ON(REJECTED), &uiw_act_rejected, OVER), \
    UIW_ROW(UIW_IN(READ_REPLY), UIW_ON(TERMINATE), &uiw_act_terminate, OVER), \
    UIW_ROW(UIW_IN(READ_REPLY), UIW_ON(BAD), &uiw_act_fail, OVER)
/* clang-format on */

struct uiw_conn_role {
    bool converts; /* fd shares the caller's socket */
    enum uiw_conn_state first;
    const struct uiw_conn_row *rows;
    size_t count;
};

struct uiw_conn {
    struct base_link link; /* uiw_cm.connections */
    struct uiw_ia *ia;
    const struct uiw_conn_role *role; /* immutable */
    _Atomic enum uiw_conn_state state;
    enum uiw_conn_event event; /* of the step under way */
    int fd;                    /* -1: none */
    struct evd_io io;
    struct evd_timer timer;
    struct ual_ep *ep; /* NULL: passive and undecided */
    struct iw_mpa mpa;
    int error; /* errno of LOST, EBADMSG: closed in the middle of a frame; 0: none */

    /* Octets on their way out: .frame or the last streaming message. */
    const uint8_t *out;
    size_t out_length;
    size_t out_sent;
    uint8_t frame[IW_MPA_FRAME_MAX]; /* going out, or as read */
    uint8_t private_data[IT_MAX_PRIV_DATA];
    size_t private_length;

    /* Octets that have been read but not judged: in .frame or .buffer. */
    const uint8_t *early;
    size_t early_length;

    /* Active. */
    struct sockaddr_storage local;
    struct sockaddr_storage remote; /* also of the peer of a passive one */
    socklen_t address_length;
    uint64_t limit_ns;    /* for .go */
    uint64_t end_ns;      /* of the attempt */
    uint64_t patience_ns; /* until then a refused TCP connection is tried again */

    /* Passive. */
    struct uiw_listener *listener; /* until the Request is announced */
    struct uiw_half_open half_open;
    struct ual_request request;

    /* Conversion. */
    struct uiw_socket_options options; /* as they were */
    uint8_t *buffer;                   /* heap: last streaming message, then early octets */

    /* The state but OVER, each task under way and each step under way hold the memory. */
    _Atomic unsigned holders;
    struct evd_task cancel;
    struct evd_task go;
};

/* Time limit of an attempt of ours; 0 us: the default. */
static inline uint64_t uiw_conn_attempt_ns(uint64_t timeout_us)
{
    return base_ns_of_us(timeout_us != 0 ? timeout_us : UIW_ATTEMPT_US);
}

/* Counters are read by any thread. */
static inline void uiw_cm_count(uint64_t *counter)
{
    (void)__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

/* ---------------------------------------------------------------- uiw_conn_life.c */

/* fd is the conn's from now on. NULL without memory: fd is still the caller's. */
struct uiw_conn *uiw_conn_new(struct uiw_ia *ia, int fd, const struct uiw_conn_role *role);

/* The same by any thread, which is to hand it over. */
struct uiw_conn *uiw_conn_alloc(struct uiw_ia *ia, int fd, const struct uiw_conn_role *role);

/* Any thread. The last holder frees the memory. */
void uiw_conn_hold(struct uiw_conn *conn);
void uiw_conn_drop(struct uiw_conn *conn);

/* Leaves all lists: the conn is over. Stream and EP are not its own any more. */
void uiw_conn_end(struct uiw_conn *conn);

/* Binds to the EP with the step out of UNCONNECTED; false when the EP is in another state. */
bool uiw_conn_attach(struct uiw_conn *conn, struct ual_ep *ep, enum ual_ep_step step,
                     const it_path_t *path);
/* From here on the EP knows of no attempt. The caller is the last to use what is returned. */
struct ual_ep *uiw_conn_detach(struct uiw_conn *conn);

/*
 * Any thread. The same for a conn that the loop is to go on with: it calls go, which begins with
 * uiw_conn_arrive.
 */
bool uiw_conn_hand_over(struct uiw_conn *conn, struct ual_ep *ep, enum ual_ep_step step,
                        const it_path_t *path, void (*go)(struct evd_task *task));
/* NULL: it has been given up before. */
struct uiw_conn *uiw_conn_arrive(struct evd_task *task);

/* ---------------------------------------------------------------- uiw_conn_act.c */

extern const struct uiw_conn_act uiw_act_fail;      /* resets the stream */
extern const struct uiw_conn_act uiw_act_close;     /* the same, after the peer: an orderly end */
extern const struct uiw_conn_act uiw_act_hand_back; /* MPA has not begun: the owner keeps it */
extern const struct uiw_conn_act uiw_act_drop;      /* resets the stream without a report */
extern const struct uiw_conn_act uiw_act_leave;     /* ends it in order, without a report */
extern const struct uiw_conn_act uiw_act_establish;
extern const struct uiw_conn_act uiw_act_reply; /* Responder with an EP: makes the Reply */
extern const struct uiw_conn_act uiw_act_rejected;
extern const struct uiw_conn_act uiw_act_refuse;
extern const struct uiw_conn_act uiw_act_terminate;

/* Resets the stream and reports this code when there is an EP. */
void uiw_conn_fail(struct uiw_conn *conn, it_conn_reject_code_t code);

/* Reports news when there is an EP; the peer gets these octets before the stream ends. */
void uiw_conn_finish(struct uiw_conn *conn, const struct ual_conn_news *news, const void *tail,
                     size_t tail_length);

/* Hands the stream to the engine. private_data: for the event. */
void uiw_conn_establish(struct uiw_conn *conn, const struct iw_mpa_result *result,
                        const void *private_data, size_t private_length);

/* The next octets to go out. */
void uiw_conn_send(struct uiw_conn *conn, const uint8_t *octets, size_t length);
/* Initiator: the same with the Request. */
void uiw_conn_send_request(struct uiw_conn *conn);

/* The part of the EP in a Reply. */
void uiw_conn_responder_config(struct uiw_conn *conn, struct iw_mpa_config *config);

/* ---------------------------------------------------------------- uiw_conn_step.c */

/* NULL: the pair does not occur, and would fail the attempt. */
const struct uiw_conn_row *uiw_conn_row(const struct uiw_conn_role *role, enum uiw_conn_state state,
                                        enum uiw_conn_event event);

/*
 * The one function that steps: takes the event, then those of the socket until there is none.
 * UIW_ON_NOTHING: only the latter. The conn may be gone afterwards.
 */
void uiw_conn_step(struct uiw_conn *conn, enum uiw_conn_event event);

/* Until UIW_ON_EXPIRED; false without memory. */
bool uiw_conn_limit(struct uiw_conn *conn, uint64_t delay_ns);

/* The peer says nothing while the consumer decides: an octet or an end means it is out. */
bool uiw_conn_peer_is_quiet(const struct uiw_conn *conn);

/* ---------------------------------------------------------------- uiw_accept.c */

/* A half-open connection of a listen point; takes fd. */
void uiw_accept_begin(struct uiw_ia *ia, struct uiw_listener *listener, int fd,
                      const struct sockaddr_storage *peer);
/* Many wait for their Request; already so: half as many are still many. */
bool uiw_accept_is_crowded(const struct uiw_ia *ia, bool already);
/* Out of descriptors: ends the oldest that still waits for its Request. False: there is none. */
bool uiw_accept_drop_oldest(struct uiw_ia *ia);
/* Ends those whose Request has not been announced. */
void uiw_accept_abort(struct uiw_ia *ia, const struct uiw_listener *listener);

/* The connection of a request. */
struct uiw_conn *uiw_accept_conn_of(struct ual_request *request);
bool uiw_accept_peer_is_there(const struct uiw_conn *conn);

extern const struct uiw_conn_role uiw_accept_role, uiw_connect_role;
extern const struct uiw_conn_role uiw_initiator_role, uiw_responder_role; /* of a conversion */

/* ---------------------------------------------------------------- uiw_conn_log.c */

/* While the stream is still there: an attempt of ours or of a peer comes to nothing. */
void uiw_log_attempt(const struct uiw_conn *conn, it_conn_reject_code_t code);

/* ---- uiw_options.c: of a converted socket ---- */

/* Notes the options as they are. */
void uiw_options_borrow(struct uiw_conn *conn);

/* Sets the options that MPA and the engine need. */
void uiw_options_change(int fd);

/* The options as they were, as far as the state has changed them. */
void uiw_options_restore(const struct uiw_conn *conn);

/* ---------------------------------------------------------------- uiw_listen.c */

struct uiw_listener;

struct uiw_listen_socket {
    struct uiw_listener *listener;
    int fd;
    bool deferring; /* the kernel keeps streams until their first octet, for a second */
    struct evd_io io;
};

/* One socket for all addresses of the host, or one for each address of a network interface. */
struct uiw_listener {
    struct uiw_ia *ia;
    struct ual_listen *listen; /* lives at least as long */
    struct evd_timer resume;   /* accept has run out of descriptors or memory */
    size_t count;
    struct uiw_listen_socket sockets[];
};

/* The listen point of the IA that serves the port (network byte order), or NULL. */
struct ual_listen *uiw_listen_find(struct uiw_ia *ia, const it_conn_qual_t *qual, size_t spigot_id);

#endif
