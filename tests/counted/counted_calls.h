/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counts what the library asks of the kernel and of the heap, and the payload it copies: by
 * standing in front of the C library's functions, syscall(2) among them, by which the data path
 * enters the kernel. A test that links this must see its own expectations of octets sent and
 * received met by what was counted, or else something went another way.
 */
#ifndef ITAPI_TESTS_COUNTED_CALLS_H
#define ITAPI_TESTS_COUNTED_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Not with sanitizers, which stand there themselves. */
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
    uint64_t others; /* futex, read, write, eventfd, timerfd, ioctl, whatever else by syscall(2) */
    uint64_t heap;   /* malloc, calloc, realloc, free */

    uint64_t sent;           /* octets */
    uint64_t received;       /* octets */
    uint64_t sent_apart;     /* ... of which from elsewhere than the memory named below */
    uint64_t received_apart; /* ... of which to elsewhere */
    uint64_t copied;         /* octets copied from or to that memory */
};

/* Memory of the consumer, whose octets are payload. */
void counted_calls_memory(const void *a, const void *b, size_t size);
/* Of all threads. Counts go on from zero. */
void counted_calls_begin(void);
void counted_calls_end(struct counted_calls *calls);

/* A system call of the test's own, which is not counted. */
long counted_enter(long number, long a, long b, long c);
bool counted_is_send(long number);
bool counted_is_receive(long number);
bool counted_is_poll(long number);

#endif
