/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exs.h - Extended Sockets: asynchronous sockets with registered memory and event queues, after the
 * Open Group's ES-API 1.0 and UNH EXS. The library is libitexs (-litexs).
 *
 * The two phases of a call. A call that takes a queue first checks its arguments. Either it returns
 * -1 with errno, and no event follows; or it returns 0, and exactly one event follows in the queue.
 * These change that:
 *
 *   EXS_BLOCK             The call waits for its end and returns the result itself. Queue and
 *                         ahandle are ignored, and no event comes.
 *   EXS_UNSIGNALED        A success gives no event. A failure gives one, unless the queue is NULL.
 *   EXS_QHANDLE_INVALID   As the queue of a call without EXS_BLOCK: only with EXS_UNSIGNALED.
 *
 * Besides the errors in its own comment, every asynchronous call may fail with EBADF (fd is no
 * socket of this library in this process), EINVAL (unknown flag; no such queue) or ENOMEM.
 *
 * Order. The events of one socket and direction come in the order of the calls.
 *
 * Memory. A buffer lies inside the registration that its mhandle names. The program must not touch
 * the buffer until the event. With EXS_MHANDLE_UNREGISTERED the library itself registers or copies
 * the buffer.
 *
 * Threads. Every function may be called by any thread, also by several for one socket or queue. The
 * functions that wait are cancellation points. A cancelled thread's call is cancelled too, as by
 * exs_cancel.
 *
 * Processes. After fork the child calls exs_init again. Sockets, queues and registrations of the
 * parent do not exist in the child (EBADF, EINVAL); those of the parent are not affected.
 *
 * A socket's descriptor is a kernel descriptor: its number is unique, and it counts towards
 * RLIMIT_NOFILE. Only the calls of this header accept it.
 *
 * docs/exs.md is the guide.
 */
#ifndef ITAPI_EXS_H
#define ITAPI_EXS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ==============================================================================================
 * Constants
 * ============================================================================================== */

#define EXS_VERSION1 1
#define EXS_VERSION  EXS_VERSION1 /* the newest of this header */

/* Flags of calls. Flags named MSG_ are those of the system. */
#define EXS_BLOCK       0x00100000 /* wait for the end */
#define EXS_UNSIGNALED  0x00200000 /* no event of a success */
#define EXS_CREDIT_WAIT 0x00400000 /* wait for a credit instead of EBUSY */
#define EXS_DONTWAIT    0x00800000 /* accepted, without effect */
#define EXS_DONTLINGER  0x01000000 /* exs_close: at once */
#define EXS_SHUT_WR     SHUT_WR

/* exs_mregister */
#define EXS_MRF_RECV_DISABLE 0x1 /* send from it only; it may be read-only memory */
#define EXS_MRF_SHARED       0x2 /* accepted: every registration serves all sockets */

#define EXS_MHANDLE_INVALID      ((exs_mhandle_t)0)
#define EXS_MHANDLE_UNREGISTERED ((exs_mhandle_t)-1)
#define EXS_QHANDLE_INVALID      ((exs_qhandle_t)0)

/* Rights of earlier drafts, as flags of exs_mregister. */
#ifndef EXS_DISABLE_DEPRECATED
#define EXS_LOCAL_READ   0x10
#define EXS_LOCAL_WRITE  0x20
#define EXS_REMOTE_READ  0x40
#define EXS_REMOTE_WRITE 0x80
#define EXS_ACCESS_ALL   0xf0
#endif

/* Attributes of a queue: exs_qmodify, exs_qstatus */
#define EXS_QATTR_DEPTH  1 /* int: events that always fit */
#define EXS_QATTR_EVENTS 2 /* int: events queued now; cannot be set */
#define EXS_QATTR_SIGNAL 3 /* exs_signal_t: signal of the first event in an empty queue */
#define EXS_QATTR_WAIT   4 /* int: how exs_qdequeue waits */

#define EXS_WAIT_ADAPTIVE  0 /* polls for a time that adapts itself, then sleeps */
#define EXS_WAIT_BUSY_POLL 1 /* polls */
#define EXS_WAIT_NOTIFY    2 /* sleeps at once */

#define EXS_SIG_DISABLE 0
#define EXS_SIG_ENABLE  1

#define EXS_EVTVEC_MAX 65536 /* maximum number of events that one exs_qdequeue returns */

/* Types of events */
#define EXS_EVT_ACCEPT      1
#define EXS_EVT_CONNECT     2
#define EXS_EVT_SEND        3
#define EXS_EVT_RECV        4
#define EXS_EVT_CLOSE       5
#define EXS_EVT_SHUTDOWN    6
#define EXS_EVT_SENDMSG     7
#define EXS_EVT_RECVMSG     8
#define EXS_EVT_SENDFILE    9
#define EXS_EVT_POLL        10
#define EXS_EVT_SENDTIMEOUT 11
#define EXS_EVT_RECVTIMEOUT 12

/* exs_poll */
#define EXS_POLLIN       0x1
#define EXS_POLLOUT      0x4
#define EXS_POLLERR      0x8        /* in exs_revents only */
#define EXS_POLLHUP      0x10       /* in exs_revents only */
#define EXS_TIMEOUT_ONCE 0x02000000 /* ignored: a timeout always ends the call */

/* Elements of exs_sendfile */
#define EXS_IOVEC   0
#define EXS_FDVEC   1
#define EXS_PATHVEC 2

/* exs_cancel */
#define EXS_CAF_FILDES  1 /* all calls of the socket */
#define EXS_CAF_AHANDLE 2 /* those of one ahandle */

/* Options of SOL_SOCKET, besides those of the system */
#define SO_ASYNC_RECV_ORDERED 0x45580001 /* int: always 1, receives are served in order */
#define SO_ASYNC_SEND_TIMEOUT 0x45580002 /* struct timeval: limit of a send; 0: none */
#define SO_ASYNC_RECV_TIMEOUT 0x45580003 /* struct timeval: limit of a receive; 0: none */

/* Commands of exs_fcntl */
#define EXS_F_SETFLOWCONTROLCREDITS 1
#define EXS_F_GETFLOWCONTROLCREDITS 2
#define EXS_F_SETSPMAXSIZE          3
#define EXS_F_GETSPMAXSIZE          4
#define EXS_F_SETINLINEMAXSIZE      5
#define EXS_F_GETINLINEMAXSIZE      6
#define EXS_F_SETCOMPTHREADCPU      7
#define EXS_F_GETCOMPTHREADCPU      8
#define EXS_F_SETFD                 9
#define EXS_F_GETFD                 10
#define EXS_F_SETSTREAMBUFSIZE      11
#define EXS_F_GETSTREAMBUFSIZE      12

/* Bits of EXS_F_SETFD */
#define EXS_FD_BUSYPOLL 0x1 /* waits on this socket poll */
#define EXS_FD_NODELAY  0x2 /* small sends leave at once */

/* ==============================================================================================
 * Types
 * ============================================================================================== */

typedef void *exs_ahandle_t; /* the program's value, returned in the event */
typedef struct exs_mhandle *exs_mhandle_t;
typedef struct exs_qhandle *exs_qhandle_t;

/* One element of exs_accept. It belongs to the library until its event. */
typedef struct exs_acceptaddr {
    struct sockaddr *exs_addr; /* room for the peer's address, or NULL */
    socklen_t exs_addrlen;     /* its size, octets */
    exs_ahandle_t exs_ahandle;
} exs_acceptaddr_t;

typedef struct exs_iovec {
    void *exs_iov_base;
    size_t exs_iov_len;
    exs_mhandle_t exs_iov_mhandle;
} exs_iovec_t;

/* A part of an open file. */
typedef struct exs_fdvec {
    int exs_fdv_fildes;
    uint64_t exs_fdv_offset;
    uint64_t exs_fdv_length; /* octets; 0: to the end of the file */
} exs_fdvec_t;

/* A part of a file that the library opens and closes. */
typedef struct exs_pathvec {
    const char *exs_pathv_path;
    uint64_t exs_pathv_offset;
    uint64_t exs_pathv_length; /* octets; 0: to the end of the file */
} exs_pathvec_t;

/* An element of exs_sendfile. */
typedef struct exs_xferfile {
    int exs_xfv_type; /* EXS_IOVEC, EXS_FDVEC or EXS_PATHVEC */
    union {
        exs_iovec_t exs_iov;
        exs_fdvec_t exs_fdv;
        exs_pathvec_t exs_pathv;
    } exs_xfvec;
} exs_xferfile_t;

/* The message of exs_sendmsg and exs_recvmsg. It belongs to the library until the event. */
typedef struct exs_msghdr {
    void *exs_msg_name;        /* out: the peer's address; ignored by exs_sendmsg */
    socklen_t exs_msg_namelen; /* size of the buffer; out: of the address */
    exs_iovec_t *exs_msg_iov;
    size_t exs_msg_iovlen;     /* elements, at most 1024 */
    void *exs_msg_control;     /* unused: there is no control data */
    size_t exs_msg_controllen; /* exs_sendmsg: 0; exs_recvmsg sets it to 0 */
    int exs_msg_flags;         /* out, exs_recvmsg: MSG_EOR, MSG_TRUNC */
} exs_msghdr_t;

typedef struct exs_pollfd {
    int exs_fd; /* negative: the element is left out */
    short exs_events;
    short exs_revents; /* out, with the event */
} exs_pollfd_t;

typedef struct exs_signal {
    int exs_sig_enable; /* EXS_SIG_ENABLE or EXS_SIG_DISABLE */
    int exs_sig_signo;
    void *exs_sig_value; /* delivered as si_value.sival_ptr; si_code is SI_QUEUE */
} exs_signal_t;

typedef struct exs_evt_accept {
    int exs_evt_new_socket;        /* -1 on failure */
    struct sockaddr *exs_evt_addr; /* as given */
    socklen_t exs_evt_addrlen; /* length of the peer's address, which may exceed the given space */
} exs_evt_accept_t;

/* SEND, RECV, SENDTIMEOUT, RECVTIMEOUT */
typedef struct exs_evt_xfer {
    void *exs_evt_buffer;
    exs_mhandle_t exs_evt_mhandle;
    size_t exs_evt_length;      /* octets moved */
    size_t exs_evt_amount_lost; /* SEQPACKET: octets of the packet that did not fit */
} exs_evt_xfer_t;

/* SENDMSG, RECVMSG, and SENDTIMEOUT, RECVTIMEOUT of them; the lengths can be read as above, too */
typedef struct exs_evt_xfermsg {
    exs_msghdr_t *exs_evt_msghdr;
    exs_mhandle_t exs_evt_no_mhandle; /* EXS_MHANDLE_INVALID */
    size_t exs_evt_length;
    size_t exs_evt_amount_lost;
} exs_evt_xfermsg_t;

typedef struct exs_evt_xferfile {
    exs_xferfile_t *exs_evt_sendvec;
    int exs_evt_sendvec_cnt;
    uint64_t exs_evt_length; /* octets sent, also before a failure */
} exs_evt_xferfile_t;

typedef struct exs_evt_poll {
    exs_pollfd_t *exs_evt_fds;
    int exs_evt_count; /* elements with exs_revents; 0: timeout */
} exs_evt_poll_t;

typedef struct exs_event {
    int exs_evt_type;
    int exs_evt_errno;  /* 0: success */
    int exs_evt_socket; /* fd of the call; -1 of exs_poll */
    exs_ahandle_t exs_evt_ahandle;
    union {
        exs_evt_accept_t exs_evt_accept;
        exs_evt_xfer_t exs_evt_xfer;
        exs_evt_xfermsg_t exs_evt_xfermsg;
        exs_evt_xferfile_t exs_evt_xferfile;
        exs_evt_poll_t exs_evt_poll;
    } exs_evt_union;
} exs_event_t;

/* ==============================================================================================
 * The library
 * ============================================================================================== */

/**
 * Initializes the library: before any other call, and again in a child after fork. Further calls in
 * the same process do nothing.
 *
 * @param version  EXS_VERSION1, the version that the program was written for; not EXS_VERSION
 *
 * @return 0, or -1 with errno: EINVAL (unknown version), ENOMEM. Before it, every
 *         call that creates something fails with EPERM.
 *
 * Source: ES-API.
 */
int exs_init(int version);

/* ==============================================================================================
 * Sockets
 * ============================================================================================== */

/**
 * Creates a socket.
 *
 * @param domain    PF_INET or PF_INET6
 * @param type      SOCK_STREAM: octets, none is lost; SOCK_SEQPACKET: packets; the part of a packet
 *                  that does not fit its receive is lost and counted. SOCK_CLOEXEC may be added
 * @param protocol  0, IPPROTO_TCP
 *
 * @return the descriptor, or -1 with errno: EAFNOSUPPORT, ESOCKTNOSUPPORT, EPROTONOSUPPORT, EMFILE,
 *         ENFILE, ENOMEM, ENOBUFS, EPERM (exs_init)
 *
 * Source: ES-API.
 */
int exs_socket(int domain, int type, int protocol);

/**
 * Gives a socket its own address.
 *
 * @return 0, or -1 with errno: EBADF, EFAULT, EINVAL (length; it has one already, or is connected),
 *         EAFNOSUPPORT, EADDRNOTAVAIL (no address of this machine), EADDRINUSE (if a listening
 *         socket has the address, exs_listen reports it)
 *
 * Source: ES-API.
 */
int exs_bind(int fd, const struct sockaddr *addr, socklen_t addrlen);

/**
 * Makes a socket listen, at an address of the system's choice if it has none.
 *
 * @param backlog  connections that may wait for exs_accept; less than 1 counts as 1
 *
 * @return 0, or -1 with errno: EBADF, EINVAL (connected or connecting), EADDRINUSE, EACCES, ENOBUFS
 *         (the transport has no memory or descriptor left)
 *
 * Source: ES-API.
 */
int exs_listen(int fd, int backlog);

/**
 * Accepts connections: one for each element, in order. Each element has its own event.
 *
 * @param address_vector  elements; the caller keeps each until its event. With EXS_BLOCK the call
 *                        sets exs_addrlen to the length of the address
 * @param count           number of elements; 1 with EXS_BLOCK
 * @param flags           EXS_BLOCK, or 0
 * @param qhandle         queue for the events EXS_EVT_ACCEPT
 *
 * @return 0; with EXS_BLOCK the new descriptor; or -1 with errno: EINVAL (not listening; count),
 *         EFAULT, EMFILE
 *
 * Events: exs_evt_errno ECANCELED (exs_cancel, exs_close), EMFILE, ENFILE, ENOMEM, ENOBUFS.
 * Source: ES-API.
 */
int exs_accept(int fd, exs_acceptaddr_t *address_vector, int count, int flags,
               exs_qhandle_t qhandle);

/**
 * Connects a socket. Until the event, exs_close, exs_cancel and exs_poll may be called on it;
 * another exs_connect fails with EALREADY, transfers with ENOTCONN.
 *
 * @param flags    EXS_BLOCK, or 0
 * @param timeout  time limit; NULL: the library sets none
 *
 * @return 0, or -1 with errno: EISCONN, EALREADY, EAFNOSUPPORT, EFAULT, EINVAL (length, time;
 *         listening; closed connection), ENETUNREACH
 *
 * Event: EXS_EVT_CONNECT with 0, ECONNREFUSED, ETIMEDOUT, EHOSTUNREACH, ENETUNREACH, ECONNRESET,
 * EPROTO (the peer is no EXS socket of this type), ENOBUFS (the transport has no memory or
 * descriptor left), ECANCELED.
 * Source: ES-API.
 */
int exs_connect(int fd, const struct sockaddr *addr, socklen_t addrlen, int flags,
                const struct timeval *timeout, exs_qhandle_t qhandle, exs_ahandle_t ahandle);

/**
 * Closes a socket. fd is invalid at once. The event comes when all sends have been delivered and
 * the peer has been notified; outstanding receives end with ECANCELED. It is the socket's last
 * event. A peer that is connected but does not answer can delay it: see EXS_DONTLINGER.
 *
 * @param flags  EXS_BLOCK; EXS_DONTLINGER: does not wait, outstanding sends are lost and the peer's
 *               calls end with ECONNRESET
 *
 * @return 0, or -1 with errno: EBUSY (another thread is just starting to connect or listen)
 *
 * Event: EXS_EVT_CLOSE with 0, or ECONNRESET if sends could not be delivered.
 * Source: UNH EXS.
 */
int exs_close(int fd, int flags, exs_qhandle_t qhandle, exs_ahandle_t ahandle);

/**
 * Shuts down one direction of a connection, or both. A direction that is already shut down is no
 * error, nor is a connection that the peer has closed.
 *
 * @param how    SHUT_RD: later receives find the end of the stream; SHUT_WR: the peer finds the end
 *               after the data sent; SHUT_RDWR: both
 * @param flags  EXS_BLOCK, or 0
 *
 * @return 0, or -1 with errno: ENOTCONN, ECONNRESET (the connection has broken), EINVAL (how),
 *         EBUSY (one is outstanding in that direction)
 *
 * Event: EXS_EVT_SHUTDOWN with 0 or ECONNRESET.
 * Source: UNH EXS.
 */
int exs_shutdown(int fd, int how, int flags, exs_qhandle_t qhandle, exs_ahandle_t ahandle);

/** As getsockname: the address of this end. ENOTCONN, EFAULT, EINVAL. */
int exs_getsockname(int fd, struct sockaddr *addr, socklen_t *addrlen);

/** As getpeername: the address of the other end, also after its end. ENOTCONN, EFAULT, EINVAL. */
int exs_getpeername(int fd, struct sockaddr *addr, socklen_t *addrlen);

/**
 * Sets an option. Level SOL_SOCKET:
 *
 *   SO_ASYNC_SEND_TIMEOUT  struct timeval, 0: none. Limit of each exs_send, exs_sendmsg from now on
 *   SO_ASYNC_RECV_TIMEOUT  struct timeval, 0: none. Limit of each exs_recv, exs_recvmsg from now on
 *   SO_ASYNC_RECV_ORDERED  int, 1: receives are served in order, always
 *   SO_REUSEADDR           int, 1: always on for listening sockets
 *   SO_RCVBUF              int: as EXS_F_SETSTREAMBUFSIZE
 *
 * Level IPPROTO_TCP: TCP_NODELAY, int: as EXS_FD_NODELAY.
 *
 * @return 0, or -1 with errno: EBADF, ENOPROTOOPT, EFAULT, EINVAL (length, value), EDOM (a time),
 *         EISCONN (too late to change it)
 */
int exs_setsockopt(int fd, int level, int name, const void *value, socklen_t length);

/**
 * Reads these options, and of SOL_SOCKET also SO_TYPE, SO_DOMAIN, SO_PROTOCOL, SO_ACCEPTCONN and
 * SO_ERROR (always 0: each failure has its event).
 *
 * @param length  size of the buffer; out: octets of the value. A longer value is truncated
 *
 * @return 0, or -1 with errno: EBADF, ENOPROTOOPT, EFAULT
 */
int exs_getsockopt(int fd, int level, int name, void *value, socklen_t *length);

/**
 * Settings of a socket. EXS_F_SET... takes one int and returns the former value of this end;
 * accepted sockets inherit the settings of the listening one. EXS_F_GET... returns the present
 * value: once connected, the one that both ends have agreed on.
 *
 *   FLOWCONTROLCREDITS  32       sends, and receives, that may be outstanding: the smaller of both
 *                                ends' numbers. 1 to 65535. Before connecting
 *   SPMAXSIZE           0        SEQPACKET: the smaller of both ends' numbers, without effect:
 *                                short packets are always copied. Before connecting. STREAM:
 *                                EINVAL
 *   INLINEMAXSIZE       largest  sends of up to this many octets are copied by the call. A larger
 *                                value is reduced. Before connecting
 *   COMPTHREADCPU       INT_MAX  number of the processor on which the library's thread runs;
 *                                INT_MAX: any
 *   FD                  0        EXS_FD_ bits. Before connecting
 *   STREAMBUFSIZE       1 MiB    size of the buffer for data without a receive. 0: none, senders
 *                                wait for receives, and EXS_FD_NODELAY is set. An unsigned int, up
 *                                to 3 GiB, of which a connection gets 1 GiB. Before connecting; on
 *                                a server, before its first exs_accept
 *
 * @return the value, or -1 with errno: EBADF, EINVAL (command, value), EISCONN (too late)
 *
 * Source: UNH EXS.
 */
long exs_fcntl(int fd, int command, ...);

/* ==============================================================================================
 * Transfer
 * ============================================================================================== */

/**
 * Sends data. A stream may deliver the octets in any pieces; a packet is sent as one.
 *
 * @param flags    EXS_BLOCK, EXS_UNSIGNALED, EXS_CREDIT_WAIT, EXS_DONTWAIT, MSG_EOR, MSG_NOSIGNAL,
 *                 MSG_DONTWAIT (all three without effect)
 * @param mhandle  registration of buffer, or EXS_MHANDLE_UNREGISTERED
 *
 * @return 0; with EXS_BLOCK the octets; or -1 with errno: ENOTCONN, EPIPE (shut down),
 *         ECONNRESET (the connection has broken), EBUSY (no credit), EFAULT (outside of mhandle;
 *         memory without mhandle that cannot be accessed), EINVAL (mhandle), EOPNOTSUPP (MSG_OOB),
 *         EMSGSIZE (a packet above 2 GiB); with EXS_BLOCK also ETIMEDOUT (SO_ASYNC_SEND_TIMEOUT,
 *         and nothing was sent)
 *
 * Event: EXS_EVT_SEND with 0, ECONNRESET, EPIPE, ECANCELED; EXS_EVT_SENDTIMEOUT with ETIMEDOUT.
 * After the event the buffer may be changed.
 * Source: ES-API.
 */
ssize_t exs_send(int fd, const void *buffer, size_t length, int flags, exs_qhandle_t qhandle,
                 exs_ahandle_t ahandle, exs_mhandle_t mhandle);

/**
 * Receives data. The end of the stream is an event of length 0 without error.
 *
 * @param flags    those of exs_send, and MSG_WAITALL (STREAM: the event comes when all max_length
 *                 octets have arrived, or the stream ends), MSG_PEEK (the data stays for the next
 *                 receive)
 * @param mhandle  registration of buffer, without EXS_MRF_RECV_DISABLE, or EXS_MHANDLE_UNREGISTERED
 *
 * @return 0; with EXS_BLOCK the octets; or -1 with errno: as exs_send, except EPIPE; EACCES
 *         (mhandle is for sends only), EOPNOTSUPP (MSG_PEEK without a buffer, or of packets); with
 *         EXS_BLOCK also ETIMEDOUT (SO_ASYNC_RECV_TIMEOUT, and nothing was received)
 *
 * Event: EXS_EVT_RECV with 0, ECONNRESET, ECANCELED, EFAULT and ENOMEM (the memory cannot be
 * registered, now that it is needed); EXS_EVT_RECVTIMEOUT with ETIMEDOUT and the
 * octets received until then.
 * Source: ES-API.
 */
ssize_t exs_recv(int fd, void *buffer, size_t max_length, int flags, exs_qhandle_t qhandle,
                 exs_ahandle_t ahandle, exs_mhandle_t mhandle);

/**
 * Sends the contents of several pieces of memory, on SOCK_SEQPACKET as one packet.
 *
 * @return as exs_send; EMSGSIZE (more than 1024 pieces), EINVAL (lengths beyond SSIZE_MAX; control
 *         data)
 *
 * Event: EXS_EVT_SENDMSG, as EXS_EVT_SEND.
 * Source: ES-API.
 */
ssize_t exs_sendmsg(int fd, const exs_msghdr_t *msg, int flags, exs_qhandle_t qhandle,
                    exs_ahandle_t ahandle);

/**
 * Receives into several pieces of memory, one after the other. Every packet sets MSG_EOR, also an
 * empty one; the end of the packets does not. A packet longer than all pieces sets MSG_TRUNC.
 *
 * Event: EXS_EVT_RECVMSG, as EXS_EVT_RECV.
 * Source: ES-API.
 */
ssize_t exs_recvmsg(int fd, exs_msghdr_t *msg, int flags, exs_qhandle_t qhandle,
                    exs_ahandle_t ahandle);

/**
 * Sends files and memory, all elements one after the other; on SOCK_SEQPACKET each element is one
 * packet. A file's length is that at the time of the call.
 *
 * @param sendvec  elements; until the event the caller keeps them, and their descriptors open
 * @param flags    EXS_BLOCK, EXS_UNSIGNALED, EXS_CREDIT_WAIT
 *
 * @return 0; with EXS_BLOCK the octets; or -1 with errno: as exs_send; EINVAL (count, kind, offset
 *         beyond the end of the file), errors of open and fstat, ESPIPE (the file cannot be
 *         read at an offset)
 *
 * Event: EXS_EVT_SENDFILE with 0, EIO (a file was truncated or cannot be read: the peer has
 * exs_evt_length octets, and gets no more) or as EXS_EVT_SEND.
 * Source: ES-API; EXS_PATHVEC: UNH EXS.
 */
ssize_t exs_sendfile(int fd, exs_xferfile_t *sendvec, int sendvec_cnt, int flags,
                     exs_qhandle_t qhandle, exs_ahandle_t ahandle);

/**
 * Reports when one of several sockets is ready: EXS_POLLIN (a receive or an accept would complete,
 * perhaps with the end of the stream), EXS_POLLOUT (a send would get a credit). EXS_POLLERR and
 * EXS_POLLHUP are always reported; the latter also of a socket that neither is connected nor will
 * be.
 *
 * @param fds      elements; the caller keeps them until the event
 * @param n        number of elements, at most 65536
 * @param flags    EXS_BLOCK, EXS_TIMEOUT_ONCE, or 0
 * @param timeout  longest time; NULL: no limit
 *
 * @return 0; with EXS_BLOCK the number of elements that are ready, 0 after timeout; or -1 with
 *         errno: EBADF (an element), EINVAL (n, time, flags), EFAULT
 *
 * Event: EXS_EVT_POLL with 0; with EBADF if one of the sockets was closed; ECANCELED.
 * Source: ES-API.
 */
int exs_poll(exs_pollfd_t *fds, int n, int flags, const struct timeval *timeout,
             exs_qhandle_t qhandle, exs_ahandle_t ahandle);

/**
 * Cancels outstanding calls of a socket. Each has its event: with ECANCELED and the octets that had
 * been moved, or as usual if it was too late to cancel. A call that still waits with
 * EXS_CREDIT_WAIT returns 0 and has its event, too.
 *
 * @param selector  EXS_CAF_FILDES: all; EXS_CAF_AHANDLE: those with this ahandle
 *
 * @return the number of calls that were outstanding and end now; or -1 with errno: EINVAL
 *
 * A stream continues after the octets of a cancelled send that have been sent. A packet that is
 * partly sent is completed. If the peer does not answer for 10 seconds, and 1 second more for each
 * MiB outstanding, the connection ends. The same holds for calls that reach their time limit.
 * Source: ES-API.
 */
int exs_cancel(int fd, int selector, exs_ahandle_t ahandle);

/* ==============================================================================================
 * Memory
 * ============================================================================================== */

/**
 * Registers memory.
 *
 * @param flags  EXS_MRF_ bits; 0: for sends and receives
 *
 * @return the registration, or EXS_MHANDLE_INVALID with errno: EINVAL (flags, length 0, wraps),
 *         EFAULT (not mapped, or not writable), ENOMEM (also: above RLIMIT_MEMLOCK, on devices),
 *         EPERM (exs_init)
 *
 * Source: ES-API.
 */
exs_mhandle_t exs_mregister(void *addr, size_t length, int flags);

/**
 * Changes the memory that a registration covers, or its rights. The handle stays valid.
 *
 * @return 0, or -1 with errno: EINVAL (handle), EBUSY (a call uses it), and as exs_mregister;
 *         after a failure the registration is unchanged
 *
 * Source: ES-API.
 */
int exs_mmodify(exs_mhandle_t mhandle, void *addr, size_t length, int flags);

/**
 * Ends a registration.
 *
 * @param flags  0
 *
 * @return 0, or -1 with errno: EINVAL (handle, flags), EBUSY (a call uses it)
 *
 * Source: ES-API.
 */
int exs_mderegister(exs_mhandle_t mhandle, int flags);

/* ==============================================================================================
 * Event queues
 * ============================================================================================== */

/**
 * Creates a queue of events.
 *
 * @param depth  events that always fit; the queue grows with the calls that use it. 1 to 2^24
 *
 * @return the queue, or EXS_QHANDLE_INVALID with errno: EINVAL, ENOMEM, EPERM (exs_init)
 *
 * Source: ES-API.
 */
exs_qhandle_t exs_qcreate(int depth);

/**
 * Deletes a queue, with the events in it.
 *
 * @return 0, or -1 with errno: EINVAL (handle), EBUSY (a call uses it, or a thread waits on it)
 *
 * Source: ES-API.
 */
int exs_qdelete(exs_qhandle_t qhandle);

/**
 * Takes events, oldest first.
 *
 * @param evec     out: the events
 * @param count    number of events that fit: waits for one, and takes all that are there. Negative:
 *                 waits for -count events and takes that many. 0: returns 0 at once
 * @param timeout  longest time to wait; NULL: no limit; {0, 0}: none
 *
 * @return the number of events taken; after a timeout those that were there, perhaps 0; or -1 with
 *         errno: EINVAL (queue, time, more than EXS_EVTVEC_MAX), EFAULT, EINTR (a signal handler
 *         ran and there was no event)
 *
 * A cancellation point; a cancelled thread takes nothing.
 * Source: ES-API.
 */
int exs_qdequeue(exs_qhandle_t qhandle, exs_event_t *evec, int count,
                 const struct timeval *timeout);

/**
 * Sets an attribute of a queue.
 *
 * @param attribute  EXS_QATTR_DEPTH or EXS_QATTR_WAIT, followed by an int; EXS_QATTR_SIGNAL,
 *                   followed by a const exs_signal_t *
 *
 * @return 0, or -1 with errno: EINVAL, EFAULT, ENOMEM
 *
 * Source: ES-API; EXS_QATTR_WAIT: UNH EXS.
 */
int exs_qmodify(exs_qhandle_t qhandle, int attribute, ...);

/**
 * Reads an attribute of a queue.
 *
 * @param value  out: an int, or for EXS_QATTR_SIGNAL an exs_signal_t
 *
 * @return 0, or -1 with errno: EINVAL, EFAULT
 *
 * Source: ES-API.
 */
int exs_qstatus(exs_qhandle_t qhandle, int attribute, void *value);

/**
 * Returns a descriptor for poll, select and epoll: readable while the queue has events. It belongs
 * to the queue: the program neither reads nor closes it. Every call returns the same one.
 *
 * @return the descriptor, or -1 with errno: EINVAL (handle), EMFILE, ENFILE
 *
 * Source: extension of this library.
 */
int exs_qfd(exs_qhandle_t qhandle);

/* ==============================================================================================
 * Calls that always wait
 * ============================================================================================== */

/** exs_accept of one connection with EXS_BLOCK; addr and addrlen as in accept. Source: ES-API. */
int exs_blocking_accept(int fd, struct sockaddr *addr, socklen_t *addrlen);
/** exs_connect with EXS_BLOCK. Source: ES-API. */
int exs_blocking_connect(int fd, const struct sockaddr *addr, socklen_t addrlen);
/** exs_close with EXS_BLOCK. Source: ES-API. */
int exs_blocking_close(int fd);
/** exs_send with EXS_BLOCK. Source: UNH EXS. */
ssize_t exs_blocking_send(int fd, const void *buffer, size_t length, int flags,
                          exs_mhandle_t mhandle);
/** exs_recv with EXS_BLOCK. Source: UNH EXS. */
ssize_t exs_blocking_recv(int fd, void *buffer, size_t max_length, int flags,
                          exs_mhandle_t mhandle);
/** exs_blocking_recv into unregistered memory. Source: ES-API. */
ssize_t exs_read(int fd, void *buffer, size_t max_length);
/** exs_blocking_send from unregistered memory. Source: ES-API. */
ssize_t exs_write(int fd, const void *buffer, size_t length);

#ifdef __cplusplus
}
#endif

#endif
