/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One converted stream with the calls of a socket. Any thread may call them, and sender and
 * receiver may be different threads. Results below 0 are -errno. The caller handles SIGPIPE.
 */
#ifndef ITAPI_ULP_SDP_CONNECTION_SDP_CONNECTION_H
#define ITAPI_ULP_SDP_CONNECTION_SDP_CONNECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>

struct sdp_connection;

/* The end that called connect is the active one. */
enum sdp_role {
    SDP_ACTIVE,
    SDP_PASSIVE
};

/* 0 or false: the default. */
struct sdp_settings {
    uint32_t buffers;      /* number of receives, and of sends */
    uint32_t receive_size; /* octets of each receive, including the BSDH */
    uint32_t agree_ms;     /* time limit for conversion and Hello */
    uint32_t zcopy_from;   /* length from which a blocking call does not copy */
    bool zcopy_off;
    bool crc_off;
};

/*
 * Passed to `changed` in addition to the poll events: more data or room has arrived, though the
 * events may be the same. Edge-triggered pollers must be notified again.
 */
#define SDP_NEWS 0x10000u
/* A result of sdp_events in addition: since a fork the connection is another process's. */
#define SDP_ELSEWHERE 0x20000u

/*
 * Called with no lock held, from any thread, but never by two threads at once for one connection;
 * the last call has the current events. It may call sdp_events, sdp_unread and sdp_watch, and
 * nothing that waits.
 */
struct sdp_notify {
    void (*changed)(void *context, unsigned events);
    void *context;
};

/*
 * Sets the Interface of the process; called before the first connection. NULL, or never called:
 * uiwarp. It is opened when it is needed.
 */
void sdp_use_interface(const char *name);

/* Opens a device, which takes time, before the first connection waits for it. */
void sdp_interface_prepare(void);

/*
 * Returns true if the Interface can carry a connection with this own address (IPv4 as IPv4-mapped
 * IPv6): a device can do so from its own addresses. Reports on stderr, once, that it cannot be
 * opened.
 */
bool sdp_interface_serves(const uint8_t own[16]);

/* Returns the kind of its transport, below 256: both ends of a connection must have the same. */
unsigned sdp_interface_kind(void);

/*
 * Starts a connection when both ends have agreed, and no other thread uses fd, a connected TCP
 * socket. Returns at once; data sent before the exchange ends waits. The connection owns fd from
 * now on (it is closed). If the exchange fails the connection has the error ECONNRESET. Below 0:
 * the caller still owns fd, unchanged.
 */
int sdp_connection_start(int fd, enum sdp_role role, const struct sdp_settings *settings,
                         const struct sdp_notify *notify, struct sdp_connection **connection);

/*
 * Both block until deadline (CLOCK_MONOTONIC; NULL: never), or not at all with MSG_DONTWAIT, and
 * then return -EAGAIN. They return -EINTR or a part when a signal handler has run. Other flags of
 * sdp_send: MSG_MORE, MSG_OOB; of sdp_receive: MSG_PEEK, MSG_WAITALL, MSG_TRUNC, MSG_OOB. Unknown
 * flags are ignored.
 */
ssize_t sdp_send(struct sdp_connection *connection, const struct iovec *parts, int count, int flags,
                 const struct timespec *deadline);
ssize_t sdp_receive(struct sdp_connection *connection, const struct iovec *parts, int count,
                    int flags, const struct timespec *deadline);

/* how: SHUT_RD, SHUT_WR or SHUT_RDWR. */
int sdp_shutdown(struct sdp_connection *connection, int how);

/*
 * The last call on the connection by this process; no other call may be in progress. `changed` is
 * not called after it. Does not wait, unless linger demands it, as SO_LINGER does (0 s: reset).
 */
int sdp_close(struct sdp_connection *connection, const struct linger *linger);

/* Makes calls of other threads return with -EBADF; called before sdp_close. */
void sdp_disturb(struct sdp_connection *connection);

/* Returns the present events: POLLIN | POLLOUT | POLLPRI | POLLRDHUP | POLLHUP | POLLERR. */
unsigned sdp_events(struct sdp_connection *connection);

/*
 * When `changed` is called. With SDP_WATCH_NOTHING a program that only blocks pays nothing for it.
 */
enum sdp_watch {
    SDP_WATCH_NOTHING,
    SDP_WATCH_EVENTS,
    SDP_WATCH_NEWS
};
void sdp_watch(struct sdp_connection *connection, enum sdp_watch watch); /* first: EVENTS */

/*
 * The calling thread is going to sleep in a poll of its own. It does the work of all connections if
 * the returned descriptor becomes readable. Below 0: another thread does that work, or it is not
 * needed.
 */
int sdp_lead_begin(void);
/*
 * readable: whether the descriptor was readable; then `changed` may be called. Does nothing if the
 * thread does not lead.
 */
void sdp_lead_end(bool readable);
extern __thread bool sdp_leads __attribute__((tls_model("initial-exec")));

/* SO_ERROR: returns and clears the error; errno or 0. */
int sdp_error(struct sdp_connection *connection);
size_t sdp_unread(struct sdp_connection *connection); /* FIONREAD */
size_t sdp_unsent(struct sdp_connection *connection); /* TIOCOUTQ */
bool sdp_at_mark(struct sdp_connection *connection);  /* SIOCATMARK */

/* Both ends have finished, or it has been reset: TCP has no peer then. It is no use of it. */
bool sdp_is_closed(struct sdp_connection *connection);

enum sdp_option {
    SDP_CORK,       /* TCP_CORK: 0 releases gathered octets */
    SDP_OOB_INLINE, /* SO_OOBINLINE */
    SDP_LOW_WATER,  /* SO_RCVLOWAT */
    SDP_ZCOPY_FROM, /* length from which a blocking call does not copy; 0: it always copies */
    SDP_SEND_BUFFER /* SO_SNDBUF: octets that may wait here before a send blocks */
};
int sdp_set_option(struct sdp_connection *connection, enum sdp_option option, int value);

/* setsockopt and getsockopt on the TCP stream below. -ENOTCONN: there is none any more. */
int sdp_set_stream_option(struct sdp_connection *connection, int level, int name, const void *value,
                          socklen_t length);
int sdp_get_stream_option(struct sdp_connection *connection, int level, int name, void *value,
                          socklen_t *length);

struct sdp_counters {
    uint64_t sent;       /* octets */
    uint64_t received;   /* octets */
    uint64_t zcopy_sent; /* of these, by RDMA */
    uint64_t zcopy_received;
    uint64_t direct_sent; /* of these, between the program's memory and the socket */
    uint64_t direct_received;
    uint64_t messages_sent;
    uint64_t messages_received;
    char mode[2]; /* sending and receiving half: b buffered, c combined, p pipelined */
};
void sdp_counters(struct sdp_connection *connection, struct sdp_counters *counters);

/*
 * Called around fork(2), for all connections. Each continues in the process that first uses it; the
 * other process gets EBADF. What has not been sent by then is sent even if no process uses it. In a
 * child of vfork no function of this header may be called.
 */
void sdp_before_fork(void);
void sdp_after_fork_parent(void);
void sdp_after_fork_child(void);

/*
 * Called before exit or exec: waits until all data has been sent, or the deadline is over. Returns
 * false if some has not been sent.
 */
bool sdp_drain(const struct timespec *deadline);

/*
 * What has not been sent goes to a child, which calls sdp_inherit: the next fork is for that.
 * Returns false if it cannot be.
 */
bool sdp_bequeath(void);
void sdp_inherit(void);

#endif /* ITAPI_ULP_SDP_CONNECTION_SDP_CONNECTION_H */
