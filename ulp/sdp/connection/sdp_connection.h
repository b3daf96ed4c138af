/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One converted stream, as a socket would have it. All calls from any thread; sender and receiver
 * may differ. Results below 0 are -errno. SIGPIPE is the caller's business.
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

/* 0 or false everywhere: the defaults. */
struct sdp_settings {
    uint32_t buffers;      /* receives, and sends */
    uint32_t receive_size; /* octets of each receive, BSDH included */
    uint32_t agree_ms;     /* limit for conversion and Hello */
    uint32_t zcopy_from;   /* octets of a blocking call from which on they are not copied */
    bool zcopy_off;
    bool crc_off;
};

/*
 * Told to `changed` beside the events of poll: more has arrived, or more room has come, though the
 * events may be the same. Edge-triggered pollers are told again.
 */
#define SDP_NEWS 0x10000u

/*
 * Called with no lock held, from any thread, never from two at a time for one connection; the last
 * call tells what holds. It may call sdp_events, sdp_unread and sdp_watch, nothing that waits.
 */
struct sdp_notify {
    void (*changed)(void *context, unsigned events);
    void *context;
};

/*
 * The Interface of the process, before the first connection: NULL or never called: uiwarp. It is
 * opened when it is needed.
 */
void sdp_use_interface(const char *name);

/* Opens a device, which takes its time: before others wait for it. */
void sdp_interface_prepare(void);

/*
 * Whether it can carry a connection whose own address this is (IPv4 as IPv4 in IPv6): a device does
 * so from its own addresses. Says on stderr, once, that it cannot be opened.
 */
bool sdp_interface_serves(const uint8_t own[16]);

/* Of its transport, below 256: both ends of a connection must have the same. */
unsigned sdp_interface_kind(void);

/*
 * Both ends have agreed, and nobody else uses fd, a connected TCP socket. Returns at once; what is
 * sent meanwhile waits. fd belongs to the connection from now on (it is closed). When the exchange
 * fails the connection has the error ECONNRESET. Below 0: fd is still the caller's, and untouched.
 */
int sdp_connection_start(int fd, enum sdp_role role, const struct sdp_settings *settings,
                         const struct sdp_notify *notify, struct sdp_connection **connection);

/*
 * deadline: CLOCK_MONOTONIC, NULL: never. Both block until then unless MSG_DONTWAIT is given, and
 * give -EAGAIN then; -EINTR or a part when a signal handler ran. Other flags: MSG_MORE, MSG_OOB;
 * MSG_PEEK, MSG_WAITALL, MSG_TRUNC, MSG_OOB. Unknown ones are ignored.
 */
ssize_t sdp_send(struct sdp_connection *connection, const struct iovec *parts, int count, int flags,
                 const struct timespec *deadline);
ssize_t sdp_receive(struct sdp_connection *connection, const struct iovec *parts, int count,
                    int flags, const struct timespec *deadline);

/* SHUT_RD, SHUT_WR, SHUT_RDWR. */
int sdp_shutdown(struct sdp_connection *connection, int how);

/*
 * The last call on it by this process; no other one may be under way. `changed` is not called any
 * more after it. Asynchronous, unless linger says otherwise as SO_LINGER does (0 s: reset).
 */
int sdp_close(struct sdp_connection *connection, const struct linger *linger);

/* Has calls of other threads return, with -EBADF: before sdp_close. */
void sdp_disturb(struct sdp_connection *connection);

/* POLLIN | POLLOUT | POLLPRI | POLLRDHUP | POLLHUP | POLLERR, of now. */
unsigned sdp_events(struct sdp_connection *connection);

/* What `changed` is called for. A program that only blocks pays nothing with SDP_WATCH_NOTHING. */
enum sdp_watch {
    SDP_WATCH_NOTHING,
    SDP_WATCH_EVENTS,
    SDP_WATCH_NEWS
};
void sdp_watch(struct sdp_connection *connection, enum sdp_watch watch); /* first: EVENTS */

/*
 * The calling thread will sleep in a poll of its own, and does the work of all connections if the
 * descriptor that is returned becomes readable. Below 0: another thread does, or none is needed.
 */
int sdp_lead_begin(void);
/* Whether it was readable: `changed` is called. Nothing, where the thread does not lead. */
void sdp_lead_end(bool readable);
extern __thread bool sdp_leads __attribute__((tls_model("initial-exec")));

/* SO_ERROR: reads and clears; errno or 0. */
int sdp_error(struct sdp_connection *connection);
size_t sdp_unread(struct sdp_connection *connection); /* FIONREAD */
size_t sdp_unsent(struct sdp_connection *connection); /* TIOCOUTQ */
bool sdp_at_mark(struct sdp_connection *connection);  /* SIOCATMARK */

enum sdp_option {
    SDP_CORK,       /* TCP_CORK: 0 lets go what has gathered */
    SDP_OOB_INLINE, /* SO_OOBINLINE */
    SDP_LOW_WATER,  /* SO_RCVLOWAT */
    SDP_ZCOPY_FROM, /* octets of a blocking call from which on they are not copied; 0: never */
    SDP_SEND_BUFFER /* SO_SNDBUF: octets that wait here before a send blocks */
};
int sdp_set_option(struct sdp_connection *connection, enum sdp_option option, int value);

/* setsockopt and getsockopt on the TCP stream below, where there is one. */
int sdp_set_stream_option(struct sdp_connection *connection, int level, int name, const void *value,
                          socklen_t length);
int sdp_get_stream_option(struct sdp_connection *connection, int level, int name, void *value,
                          socklen_t *length);

struct sdp_counters {
    uint64_t sent;     /* octets */
    uint64_t received; /* octets */
    uint64_t zcopy_sent;
    uint64_t zcopy_received;
    uint64_t messages_sent;
    uint64_t messages_received;
    char mode[2]; /* sending half, receiving half: b buffered, c combined, p pipelined */
};
void sdp_counters(struct sdp_connection *connection, struct sdp_counters *counters);

/*
 * Around fork(2), for all connections. Each goes on in the process that first uses it; the other
 * one has EBADF. In a child of vfork nothing here may be called.
 */
void sdp_before_fork(void);
void sdp_after_fork_parent(void);
void sdp_after_fork_child(void);

/* Before exit or exec: waits until what was sent has left, or the time is over. */
void sdp_drain(const struct timespec *deadline);

#endif /* ITAPI_ULP_SDP_CONNECTION_SDP_CONNECTION_H */
