/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How the two ends of a TCP connection find out, before the first octet of either program, that
 * both run this library. README.md has the protocol and explains why it is safe. Each connected
 * socket that is not decided yet has one struct sdp_agreement. This floor does not know SDP. No
 * function blocks unless its comment says so.
 *
 * The functions use the kernel through plain calls of libc (send, recv, poll, ...), also on the
 * program's descriptor. The floor above passes these calls on to the kernel; it recognises them by
 * their thread: they are made inside calls of this header, and in the one thread that announces
 * itself by thread_begins.
 */
#ifndef ITAPI_ULP_SDP_AGREE_SDP_AGREE_H
#define ITAPI_ULP_SDP_AGREE_SDP_AGREE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

struct sdp_agreement;

/*
 * The functions that this floor needs from the floor above; called once, before anything else.
 * Members may be NULL. All except `decided` are called with the lock of this floor held, so no
 * function of this header may be called with a lock that they take.
 */
struct sdp_agree_host {
    /* A thread of this floor begins: its calls of libc go to the kernel. */
    void (*thread_begins)(void);
    /* Moves a descriptor of this floor to a high number, which the program does not close. */
    int (*keep_descriptor)(int fd);
    void (*drop_descriptor)(int fd); /* closes such a descriptor */
    /*
     * Returns true if there is room (descriptors, memory) to convert one more. Asked before each
     * promise.
     */
    bool (*may_convert)(const uint8_t own[16]); /* own: this end's address, IPv4 as mapped IPv6 */
    /* The kind of transport to convert to: both ends must have the same. NULL: 0. */
    unsigned (*kind)(void);
    /*
     * The thread of this floor has decided an accepted socket, SDP_TCP or SDP_CONVERT: from now on
     * sdp_agree_step returns the same. No lock is held. Waiting threads must check again.
     */
    void (*decided)(void *context, int verdict);
};

struct sdp_agree_settings {
    const char *key_file; /* 32 hexadecimal digits; NULL: no key, so other hosts are strangers */
    uint16_t mapper_port; /* UDP; 0: SDP_MAPPER_PORT */
    uint32_t patience_ms; /* time for a peer's process that runs this library; 0: SDP_PATIENCE_MS */
    uint32_t negative_s;  /* time for which a stranger is remembered; 0: SDP_NEGATIVE_S */
};
#define SDP_MAPPER_PORT 18517
#define SDP_PATIENCE_MS 20
#define SDP_NEGATIVE_S  30

int sdp_agree_start(const struct sdp_agree_host *host, const struct sdp_agree_settings *settings);

/* ---- Objects -------------------------------------------------------------------------------- */

/*
 * Called right before connect(2) on a TCP socket whose policy is not TCP: sends the question ahead
 * of the SYN. Returns NULL for plain TCP: the answer is known to be no, or resources are lacking. A
 * socket whose connect fails for good is freed by sdp_agree_free like any other.
 */
struct sdp_agreement *sdp_agree_connecting(int fd, const struct sockaddr *peer, socklen_t length);

/* Called right after accept(2) on a socket that sdp_agree_listening knows. Makes no system call. */
struct sdp_agreement *sdp_agree_accepted(int fd, void *context);

/* Called after listen(2), and before the last number of a listening socket is closed. */
void sdp_agree_listening(int fd);
void sdp_agree_listens_no_more(int fd);

/*
 * Called before the last number of the socket is closed in this process, or when it has been
 * decided.
 */
void sdp_agree_free(struct sdp_agreement *agreement);

/* ---- The decision --------------------------------------------------------------------------- */

enum sdp_agree_call {
    SDP_READS,
    SDP_WRITES, /* of at least one octet */
    SDP_POLLS   /* poll, select; epoll: when the socket is added, and when the set is waited for */
};

enum sdp_agree_verdict {
    SDP_TCP,     /* final: free the agreement; all calls go to the kernel */
    SDP_CONVERT, /* final: sdp_connection_start with sdp_agree_active, then free the agreement */
    SDP_PASS,    /* undecided: this call goes to the kernel, the next one steps again */
    SDP_WAIT     /* undecided: wait for what *wait says, then step again */
};

/*
 * The events to wait for; the first one ends the wait. A non-blocking program may get EAGAIN
 * instead.
 */
struct sdp_agree_wait {
    int fd[2];          /* readable; -1: none. The program's own descriptor may be one of them */
    int64_t timeout_us; /* -1: none */
    bool short_one;     /* short, whatever others do: non-blocking programs wait too */
};

/*
 * Called before each data call in this process, by any thread. For an accepted socket, SDP_WAIT
 * with the socket itself in fd[0] and no time limit means: wait for it as the program does, and
 * step again before reporting the socket as readable (it may be reported as writable at once).
 */
enum sdp_agree_verdict sdp_agree_step(struct sdp_agreement *agreement, enum sdp_agree_call call,
                                      struct sdp_agree_wait *wait);

/* Repeats sdp_agree_step and short waits. Returns the last verdict. */
enum sdp_agree_verdict sdp_agree_settle(struct sdp_agreement *agreement, enum sdp_agree_call call,
                                        struct sdp_agree_wait *wait);

/* After SDP_CONVERT: returns true if this end called connect, and so begins. */
bool sdp_agree_active(const struct sdp_agreement *agreement);

/*
 * Called when the socket escapes this library (close, shutdown, exec without close-on-exec,
 * SCM_RIGHTS, io_uring). Returns SDP_TCP, with no octet of this library left in the stream, or
 * SDP_CONVERT if that has been agreed already. Blocks for a short time at most. The agreement must
 * be freed in either case.
 */
enum sdp_agree_verdict sdp_agree_abandon(struct sdp_agreement *agreement);

/* ---- Processes ------------------------------------------------------------------------------ */

/*
 * Called around fork(2), before locks that `decided` takes. Pending questions and promises are
 * decided first. A socket without a data call so far stays undecided, and is converted only while a
 * single process has it: each sdp_agree_free is counted.
 */
void sdp_agree_before_fork(void);
void sdp_agree_after_fork_parent(void);
void sdp_agree_after_fork_child(void);

#endif /* ITAPI_ULP_SDP_AGREE_SDP_AGREE_H */
