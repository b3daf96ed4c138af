/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * faults_calls.h - replaces functions of the C library and lets one call of the library under test
 * fail.
 *
 * It counts the calls of libitapi, of the libraries on top of it and of libevent. It lets them fail
 * only while it is armed, and never those on TCP sockets that were connected when it was armed: the
 * bystander uses these.
 */
#ifndef ITAPI_TESTS_FAULTS_CALLS_H
#define ITAPI_TESTS_FAULTS_CALLS_H

#include <stdbool.h>
#include <stddef.h>

enum fault_call {
    FAULT_HEAP,
    FAULT_THREAD,
    FAULT_SOCKET,
    FAULT_BIND,
    FAULT_LISTEN,
    FAULT_CONNECT,
    FAULT_ACCEPT,
    FAULT_PEER_NAME, /* getsockname has no possible failure */
    FAULT_SET_OPTION,
    FAULT_GET_OPTION,
    FAULT_SEND,    /* on TCP: send, sendmsg */
    FAULT_RECEIVE, /* on TCP: recv, recvmsg */
    FAULT_SHUTDOWN,
    FAULT_CLOSE,
    FAULT_DUPLICATE, /* fcntl(F_DUPFD...), dup, dup2, dup3 */
    FAULT_POLL_SET,  /* epoll_create1 */
    FAULT_POLL_ADD,  /* epoll_ctl(EPOLL_CTL_ADD) */
    FAULT_POLL_WAIT, /* epoll_wait and its variants, poll, ppoll */
    FAULT_EVENTFD,
    FAULT_READ, /* of eventfds, and of /proc/self/maps */
    FAULT_TIMERFD,
    FAULT_RANDOM,
    FAULT_ADDRESSES, /* getifaddrs, if_nameindex, getaddrinfo */
    FAULT_OPEN,      /* also memfd_create and fopen */
    FAULT_MAP,       /* mmap */
    FAULT_PAIR,      /* socketpair, pipe2 */
    FAULT_FILE,      /* pread, pwrite and their variants, fdatasync, fallocate */
    FAULT_DATAGRAM,  /* sendmsg, recvmsg and their variants on UDP */
    FAULT_CALLS
};

#define FAULT_SHORT   (-1) /* no error: only `octets` are sent or received */
#define FAULT_END     (-2) /* receives find the end of the stream */
#define FAULT_FOREVER 1000000000u

struct fault_plan {
    enum fault_call call;
    int error;          /* errno, or FAULT_SHORT, FAULT_END; 0: nothing fails */
    const void *caller; /* the place of the nth call; NULL: any */
    unsigned nth;       /* from 1 */
    unsigned repeat;    /* number of failing calls, from any place */
    size_t octets;      /* of FAULT_SHORT */
};

#define FAULT_SITES 2048

struct fault_site {
    enum fault_call call;
    const void *caller;
    unsigned calls;
    unsigned hits;
    int live; /* FAULT_HEAP: allocations not freed */
};

struct fault_record {
    unsigned count[FAULT_CALLS];
    unsigned hits;
    const void *hit_caller; /* of the first hit */
    unsigned site_count;
    struct fault_site sites[FAULT_SITES];
};

/* Sets the record for the counts from now on, which the caller has zeroed. */
void faults_record(struct fault_record *record);
void faults_arm(const struct fault_plan *plan);
void faults_disarm(void);
/* Fills in the live allocations of each site of the heap. */
void faults_live(struct fault_record *record);

#endif /* ITAPI_TESTS_FAULTS_CALLS_H */
