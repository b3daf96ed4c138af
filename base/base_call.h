/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * System calls of the data path, without the C library's wrappers. Those are cancellation points,
 * and a thread cancelled inside one would keep a token for ever. This also saves two atomic
 * operations a call. With sanitizers the wrappers are used, since sanitizers intercept them.
 */
#ifndef ITAPI_BASE_BASE_CALL_H
#define ITAPI_BASE_BASE_CALL_H

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define BASE_CALL_WRAPPED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define BASE_CALL_WRAPPED 1
#endif
#endif

static inline ssize_t base_send(int fd, const void *data, size_t length, int flags)
{
#if defined(BASE_CALL_WRAPPED) || !defined(SYS_sendto)
    return send(fd, data, length, flags);
#else
    return (ssize_t)syscall(SYS_sendto, fd, data, length, flags, NULL, 0);
#endif
}

static inline ssize_t base_recv(int fd, void *data, size_t length, int flags)
{
#if defined(BASE_CALL_WRAPPED) || !defined(SYS_recvfrom)
    return recv(fd, data, length, flags);
#else
    return (ssize_t)syscall(SYS_recvfrom, fd, data, length, flags, NULL, NULL);
#endif
}

static inline ssize_t base_sendmsg(int fd, const struct msghdr *message, int flags)
{
#if defined(BASE_CALL_WRAPPED) || !defined(SYS_sendmsg)
    return sendmsg(fd, message, flags);
#else
    return (ssize_t)syscall(SYS_sendmsg, fd, message, flags);
#endif
}

static inline ssize_t base_recvmsg(int fd, struct msghdr *message, int flags)
{
#if defined(BASE_CALL_WRAPPED) || !defined(SYS_recvmsg)
    return recvmsg(fd, message, flags);
#else
    return (ssize_t)syscall(SYS_recvmsg, fd, message, flags);
#endif
}

static inline ssize_t base_read(int fd, void *data, size_t length)
{
#if defined(BASE_CALL_WRAPPED) || !defined(SYS_read)
    return read(fd, data, length);
#else
    return (ssize_t)syscall(SYS_read, fd, data, length);
#endif
}

/* Adds one to an eventfd. */
static inline void base_event_raise(int fd)
{
    const uint64_t one = 1;

    /* It cannot fail: the count never gets near its limit. */
#if defined(BASE_CALL_WRAPPED) || !defined(SYS_write)
    (void)!write(fd, &one, sizeof(one));
#else
    (void)syscall(SYS_write, fd, &one, sizeof(one));
#endif
}

/* Sets an eventfd, which does not block, to zero. */
static inline void base_event_clear(int fd)
{
    uint64_t count;

    (void)base_read(fd, &count, sizeof(count));
}

/* Milliseconds, rounded up, for epoll_wait; -1: no timeout. */
static inline int base_ceil_ms(const struct timespec *timeout)
{
    if (!timeout)
        return -1;
    if (timeout->tv_sec >= INT_MAX / 1000)
        return INT_MAX;
    return (int)(timeout->tv_sec * 1000 + (timeout->tv_nsec + 999999) / 1000000);
}

static inline int base_epoll_wait(int fd, struct epoll_event *events, int count, int timeout_ms)
{
#if defined(BASE_CALL_WRAPPED) || !defined(SYS_epoll_pwait)
    return epoll_wait(fd, events, count, timeout_ms);
#else
    return (int)syscall(SYS_epoll_pwait, fd, events, count, timeout_ms, NULL, 0);
#endif
}

/* Timeout in nanoseconds; NULL: none. Where the call is not known (valgrind), full milliseconds. */
static inline int base_epoll_wait_for(int fd, struct epoll_event *events, int count,
                                      const struct timespec *timeout)
{
    int result;

#if defined(BASE_CALL_WRAPPED)
    /* ThreadSanitizer does not know this call, so it only sleeps; epoll_wait returns the events. */
    result = epoll_pwait2(fd, events, count, timeout, NULL);
    if (result >= 0)
        return epoll_wait(fd, events, count, 0);
#elif defined(SYS_epoll_pwait2)
    result = (int)syscall(SYS_epoll_pwait2, fd, events, count, timeout, NULL, 0);
#else
    result = epoll_pwait2(fd, events, count, timeout, NULL);
#endif
    if (result >= 0 || errno != ENOSYS)
        return result;
    return base_epoll_wait(fd, events, count, base_ceil_ms(timeout));
}

#endif
