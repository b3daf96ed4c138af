/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How the two ends of a TCP connection find out that both are ours, before the first octet of
 * either program; README.md has the protocol and why it is safe. One struct sdp_agreement for
 * each connected socket that is not decided yet. Nothing here knows SDP. Nothing blocks, but where
 * it says so.
 *
 * Calls of the kernel are plain calls of libc (send, recv, poll, ...), on the program's descriptor
 * too: the floor above passes them on. It recognises them by the thread: they are made inside of
 * calls of this header, and in the one thread that announces itself by thread_begins.
 */
#ifndef ITAPI_ULP_SDP_AGREE_SDP_AGREE_H
#define ITAPI_ULP_SDP_AGREE_SDP_AGREE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

struct sdp_agreement;

/*
 * Once, before anything else. The floor above, as far as it is needed here; members may be NULL.
 * All but `decided` are called with the lock of this floor: no function of this header may be
 * called with a lock that they take.
 */
struct sdp_agree_host {
    /* A thread of this floor begins: its calls of libc mean the kernel. */
    void (*thread_begins)(void);
    /* Descriptors of this floor: gives it a high number, which the program does not close. */
    int (*keep_descriptor)(int fd);
    void (*drop_descriptor)(int fd); /* closes it */
    /* Is there room (descriptors, memory) to convert one more? Asked before we promise it. */
    bool (*may_convert)(const uint8_t own[16]); /* from this address; IPv4 as IPv4 in IPv6 */
    /* Both ends must say the same of what they would convert to. NULL: 0. */
    unsigned (*kind)(void);
    /*
     * An accepted socket has been decided by the thread of this floor, SDP_TCP or SDP_CONVERT: from
     * now on sdp_agree_step says the same. No lock is held. Threads that wait must look again.
     */
    void (*decided)(void *context, int verdict);
};

struct sdp_agree_settings {
    const char *key_file; /* 32 hexadecimal digits; NULL: none, and other hosts are strangers */
    uint16_t mapper_port; /* UDP; 0: SDP_MAPPER_PORT */
    uint32_t patience_ms; /* for a peer's process that is ours; 0: SDP_PATIENCE_MS */
    uint32_t negative_s;  /* for how long a peer without us is remembered; 0: SDP_NEGATIVE_S */
};
#define SDP_MAPPER_PORT 18517
#define SDP_PATIENCE_MS 20
#define SDP_NEGATIVE_S  30

int sdp_agree_start(const struct sdp_agree_host *host, const struct sdp_agree_settings *settings);

/* ---- Objects -------------------------------------------------------------------------------- */

/*
 * Right before connect(2) on a TCP socket whose policy is not TCP: the question leaves ahead of the
 * SYN. NULL: the answer is known to be no, or there are no means: plain TCP. A socket whose connect
 * fails for good is freed by sdp_agree_free, as any.
 */
struct sdp_agreement *sdp_agree_connecting(int fd, const struct sockaddr *peer, socklen_t length);

/* Right after accept(2) on a socket that sdp_agree_listening knows. No system call. */
struct sdp_agreement *sdp_agree_accepted(int fd, void *context);

/* After listen(2), and before the last number of a listening socket is closed. */
void sdp_agree_listening(int fd);
void sdp_agree_listens_no_more(int fd);

/* Before the last number of the socket is closed in this process, or when it has been decided. */
void sdp_agree_free(struct sdp_agreement *agreement);

/* ---- The decision --------------------------------------------------------------------------- */

enum sdp_agree_call {
    SDP_READS,
    SDP_WRITES, /* at least one octet */
    SDP_POLLS   /* poll, select; epoll: when it is added, and when it is waited for */
};

enum sdp_agree_verdict {
    SDP_TCP,     /* for good: free it, all calls go to the kernel */
    SDP_CONVERT, /* for good: sdp_connection_start by sdp_agree_active, then free it */
    SDP_PASS,    /* not yet, and this call may go to the kernel: ask again with the next one */
    SDP_WAIT     /* not yet: wait as told, then call again */
};

/* What to wait for; whichever comes first. A non-blocking program may be told EAGAIN instead. */
struct sdp_agree_wait {
    int fd[2];          /* readable; -1: none. The program's own descriptor may be one of them */
    int64_t timeout_us; /* -1: none */
    bool short_one;     /* over soon, whatever others do: to be waited for even by a program
                           that does not block */
};

/*
 * A data call is about to be made in this process. Any thread. On an accepted socket SDP_WAIT with
 * the socket itself in fd[0] and no time limit means: wait for it as the program does, and ask
 * again before telling the program that it is readable (writable may be told at once).
 */
enum sdp_agree_verdict sdp_agree_step(struct sdp_agreement *agreement, enum sdp_agree_call call,
                                      struct sdp_agree_wait *wait);

/* Repeats sdp_agree_step and waits, while it is a short wait: the last verdict. */
enum sdp_agree_verdict sdp_agree_settle(struct sdp_agreement *agreement, enum sdp_agree_call call,
                                        struct sdp_agree_wait *wait);

/* SDP_CONVERT: whether this end called connect, and begins. */
bool sdp_agree_active(const struct sdp_agreement *agreement);

/*
 * The socket leaves our sight (close, shutdown, exec without close-on-exec, SCM_RIGHTS, io_uring):
 * SDP_TCP, and no octet of ours is left in it; or SDP_CONVERT: it has been agreed already. Blocks
 * for a short time at most. To be freed in either case.
 */
enum sdp_agree_verdict sdp_agree_abandon(struct sdp_agreement *agreement);

/* ---- Processes ------------------------------------------------------------------------------ */

/*
 * Around fork(2), before locks that `decided` takes. What has been asked or promised is decided
 * first. What has seen no data call stays undecided, and is converted only while one process alone
 * has it: each sdp_agree_free counts.
 */
void sdp_agree_before_fork(void);
void sdp_agree_after_fork_parent(void);
void sdp_agree_after_fork_child(void);

#endif /* ITAPI_ULP_SDP_AGREE_SDP_AGREE_H */
