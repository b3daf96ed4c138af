/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counts the library's system calls, its heap calls and the payload that it copies. To do so it
 * replaces functions of the C library, including syscall(2), through which the data path enters the
 * kernel. A test that links this must check that the counted octets sent and received are those
 * that it expects: otherwise some call was not counted.
 */
#ifndef ITAPI_TESTS_COUNTED_CALLS_H
#define ITAPI_TESTS_COUNTED_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Not available with sanitizers, which replace the same functions. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
#define COUNTED_CALLS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define COUNTED_CALLS 0
#endif
#endif
#ifndef COUNTED_CALLS
#define COUNTED_CALLS 1
#endif

struct counted_calls {
    uint64_t sends;          /* send, sendmsg and the like */
    uint64_t receives;       /* recv, recvmsg and the like, that found something */
    uint64_t empty_receives; /* ... or nothing */
    uint64_t polls;          /* epoll_wait and the like */
    uint64_t poll_changes;   /* epoll_ctl */
    uint64_t yields;
    uint64_t others; /* futex, read, write, eventfd, timerfd, ioctl and others through syscall(2) */
    uint64_t heap;   /* malloc, calloc, realloc, free */

    uint64_t sent;           /* octets */
    uint64_t received;       /* octets */
    uint64_t sent_apart;     /* octets sent from memory not named to this module */
    uint64_t received_apart; /* octets received into memory not named to it */
    uint64_t copied;         /* octets copied from or to the named memory */
};

/* Names the consumer's memory. Its octets are payload. */
void counted_calls_memory(const void *a, const void *b, size_t size);
/* Counts the calls of all threads, from zero. */
void counted_calls_begin(void);
void counted_calls_end(struct counted_calls *calls);

/* Makes a system call of the test itself, which is not counted. */
long counted_enter(long number, long a, long b, long c);
bool counted_is_send(long number);
bool counted_is_receive(long number);
bool counted_is_poll(long number);

#endif
