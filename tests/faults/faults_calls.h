/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * faults_calls.h - stands before the C library and makes one call of the library under test fail.
 *
 * Only what libitapi and libevent call is counted and fails, and only while armed. Calls on
 * TCP sockets that were connected when it was armed are left alone: they are the bystander's.
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
    FAULT_PEER_NAME, /* getsockname has nothing to fail of */
    FAULT_SET_OPTION,
    FAULT_GET_OPTION,
    FAULT_SEND,    /* on TCP: send, sendmsg */
    FAULT_RECEIVE, /* on TCP: recv, recvmsg */
    FAULT_SHUTDOWN,
    FAULT_CLOSE,
    FAULT_DUPLICATE, /* fcntl(F_DUPFD...), dup3 */
    FAULT_POLL_SET,  /* epoll_create1 */
    FAULT_POLL_ADD,  /* epoll_ctl(EPOLL_CTL_ADD) */
    FAULT_POLL_WAIT, /* epoll_wait and its kin, ppoll */
    FAULT_EVENTFD,
    FAULT_READ, /* of eventfds, and of /proc/self/maps */
    FAULT_TIMERFD,
    FAULT_RANDOM,
    FAULT_ADDRESSES, /* getifaddrs */
    FAULT_OPEN,
    FAULT_CALLS
};

#define FAULT_SHORT   (-1) /* no error: only `octets` are sent or received */
#define FAULT_END     (-2) /* receives: the stream has ended */
#define FAULT_FOREVER 1000000000u

struct fault_plan {
    enum fault_call call;
    int error;          /* errno, or FAULT_SHORT, FAULT_END; 0: nothing fails */
    const void *caller; /* who calls for the nth time; NULL: anybody */
    unsigned nth;       /* from 1 */
    unsigned repeat;    /* this one and the next ones, whoever calls */
    size_t octets;      /* of FAULT_SHORT */
};

#define FAULT_SITES 1024

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

/* Where counts go from now on; zeroed by the caller. */
void faults_record(struct fault_record *record);
void faults_arm(const struct fault_plan *plan);
void faults_disarm(void);
/* Fills in what each site of the heap has allocated and nobody has freed. */
void faults_live(struct fault_record *record);

#endif /* ITAPI_TESTS_FAULTS_CALLS_H */
