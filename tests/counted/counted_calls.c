/* SPDX-License-Identifier: BSD-2-Clause */
#include "counted/counted_calls.h"

#include "counted/counted_schedule.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_bool counting;
static const unsigned char *memory[2];
static size_t memory_size;

/* The same counters as in struct counted_calls. */
static struct {
    atomic_uint_fast64_t sends, receives, empty_receives, polls, poll_changes, yields, others;
    atomic_uint_fast64_t heap, sent, received, sent_apart, received_apart, copied;
} count;

static void add(atomic_uint_fast64_t *counter, uint64_t amount)
{
    (void)atomic_fetch_add_explicit(counter, amount, memory_order_relaxed);
}

static bool is_counting(void)
{
    return atomic_load_explicit(&counting, memory_order_acquire);
}

static bool is_payload(const void *address)
{
    for (unsigned i = 0; i < 2; i++) {
        uintptr_t start = (uintptr_t)memory[i];

        if ((uintptr_t)address >= start && (uintptr_t)address < start + memory_size)
            return true;
    }
    return false;
}

void counted_calls_memory(const void *a, const void *b, size_t size)
{
    memory[0] = a;
    memory[1] = b;
    memory_size = size;
}

void counted_calls_begin(void)
{
    atomic_uint_fast64_t *all[] = {
        &count.sends,  &count.receives,   &count.empty_receives, &count.polls, &count.poll_changes,
        &count.yields, &count.others,     &count.heap,           &count.sent,  &count.received,
        &count.copied, &count.sent_apart, &count.received_apart,
    };

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        atomic_store(all[i], 0);
    atomic_store_explicit(&counting, true, memory_order_release);
}

void counted_calls_end(struct counted_calls *calls)
{
    atomic_store_explicit(&counting, false, memory_order_release);
    *calls = (struct counted_calls){
        .sends = atomic_load(&count.sends),
        .receives = atomic_load(&count.receives),
        .empty_receives = atomic_load(&count.empty_receives),
        .polls = atomic_load(&count.polls),
        .poll_changes = atomic_load(&count.poll_changes),
        .yields = atomic_load(&count.yields),
        .others = atomic_load(&count.others),
        .heap = atomic_load(&count.heap),
        .sent = atomic_load(&count.sent),
        .received = atomic_load(&count.received),
        .sent_apart = atomic_load(&count.sent_apart),
        .received_apart = atomic_load(&count.received_apart),
        .copied = atomic_load(&count.copied),
    };
}

#if COUNTED_CALLS

/* ---------------------------------------------------------------- what a call moved */

static uint64_t octets_apart(const struct iovec *iov, size_t iov_count, size_t moved)
{
    uint64_t apart = 0;

    for (size_t i = 0; i < iov_count && moved > 0; i++) {
        size_t piece = iov[i].iov_len < moved ? iov[i].iov_len : moved;

        if (!is_payload(iov[i].iov_base))
            apart += piece;
        moved -= piece;
    }
    return apart;
}

static void account_send(const struct iovec *iov, size_t iov_count, long result)
{
    add(&count.sends, 1);
    if (result <= 0)
        return;
    add(&count.sent, (uint64_t)result);
    add(&count.sent_apart, octets_apart(iov, iov_count, (size_t)result));
}

static void account_receive(const struct iovec *iov, size_t iov_count, long result)
{
    add(result > 0 ? &count.receives : &count.empty_receives, 1);
    if (result <= 0)
        return;
    add(&count.received, (uint64_t)result);
    add(&count.received_apart, octets_apart(iov, iov_count, (size_t)result));
}

bool counted_is_send(long number)
{
    return number == SYS_sendto || number == SYS_sendmsg;
}

bool counted_is_receive(long number)
{
    return number == SYS_recvfrom || number == SYS_recvmsg;
}

bool counted_is_poll(long number)
{
    switch (number) {
#ifdef SYS_epoll_wait
    case SYS_epoll_wait:
    case SYS_poll:
#endif
    case SYS_epoll_pwait:
    case SYS_epoll_pwait2:
    case SYS_ppoll:
        return true;
    default:
        return false;
    }
}

static void account(long number, const long *argument, long result)
{
    /* Converts a number to an address, as the kernel does. */
    struct iovec one = {(void *)argument[1], (size_t)argument[2]};     /* NOLINT */
    const struct msghdr *message = (const struct msghdr *)argument[1]; /* NOLINT */
    int error = errno;

    if (number == SYS_sendto)
        account_send(&one, 1, result);
    else if (number == SYS_sendmsg)
        account_send(message->msg_iov, message->msg_iovlen, result);
    else if (number == SYS_recvfrom)
        account_receive(&one, 1, result);
    else if (number == SYS_recvmsg)
        account_receive(message->msg_iov, message->msg_iovlen, result);
    else if (counted_is_poll(number))
        add(&count.polls, 1);
    else if (number == SYS_epoll_ctl)
        add(&count.poll_changes, 1);
    else if (number == SYS_sched_yield)
        add(&count.yields, 1);
    else
        add(&count.others, 1);
    errno = error;
}

/* ---------------------------------------------------------------- in place of the C library's */

typedef long enter_function(long number, ...);

static enter_function *real_syscall;

__attribute__((constructor)) static void find_syscall(void)
{
    union {
        void *object;
        enter_function *function;
    } found = {dlsym(RTLD_NEXT, "syscall")};

    real_syscall = found.function;
}

/* Weak: a test that needs other functions of this file may have one of its own. */
__attribute__((weak)) long syscall(long number, ...)
{
    long argument[6];
    va_list list;
    long result;

    va_start(list, number);
    for (unsigned i = 0; i < 6; i++)
        argument[i] = va_arg(list, long);
    va_end(list);
    if (!real_syscall)
        find_syscall();
    counted_call_begins(number, (int)argument[0]);
    result = real_syscall(number, argument[0], argument[1], argument[2], argument[3], argument[4],
                          argument[5]);
    counted_call_ends(number, (int)argument[0], result);
    if (is_counting())
        account(number, argument, result);
    return result;
}

long counted_enter(long number, long a, long b, long c)
{
    if (!real_syscall)
        find_syscall();
    return real_syscall(number, a, b, c, 0L, 0L, 0L);
}

ssize_t send(int fd, const void *data, size_t length, int flags)
{
    return (ssize_t)syscall(SYS_sendto, (long)fd, data, length, (long)flags, 0L, 0L);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    return (ssize_t)syscall(SYS_sendmsg, (long)fd, message, (long)flags, 0L, 0L, 0L);
}

ssize_t recv(int fd, void *data, size_t length, int flags)
{
    return (ssize_t)syscall(SYS_recvfrom, (long)fd, data, length, (long)flags, 0L, 0L);
}

ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
    return (ssize_t)syscall(SYS_recvmsg, (long)fd, message, (long)flags, 0L, 0L, 0L);
}

ssize_t read(int fd, void *data, size_t length)
{
    return (ssize_t)syscall(SYS_read, (long)fd, data, length, 0L, 0L, 0L);
}

ssize_t write(int fd, const void *data, size_t length)
{
    return (ssize_t)syscall(SYS_write, (long)fd, data, length, 0L, 0L, 0L);
}

ssize_t readv(int fd, const struct iovec *iov, int iov_count)
{
    return (ssize_t)syscall(SYS_readv, (long)fd, iov, (long)iov_count, 0L, 0L, 0L);
}

ssize_t writev(int fd, const struct iovec *iov, int iov_count)
{
    return (ssize_t)syscall(SYS_writev, (long)fd, iov, (long)iov_count, 0L, 0L, 0L);
}

int eventfd_read(int fd, eventfd_t *value)
{
    return read(fd, value, sizeof(*value)) == sizeof(*value) ? 0 : -1;
}

int eventfd_write(int fd, eventfd_t value)
{
    return write(fd, &value, sizeof(value)) == sizeof(value) ? 0 : -1;
}

int epoll_ctl(int set, int operation, int fd, struct epoll_event *event)
{
    return (int)syscall(SYS_epoll_ctl, (long)set, (long)operation, (long)fd, event, 0L, 0L);
}

int epoll_pwait(int set, struct epoll_event *events, int room, int timeout_ms,
                const sigset_t *signals)
{
    return (int)syscall(SYS_epoll_pwait, (long)set, events, (long)room, (long)timeout_ms, signals,
                        (long)(_NSIG / 8));
}

int epoll_pwait2(int set, struct epoll_event *events, int room, const struct timespec *timeout,
                 const sigset_t *signals)
{
    return (int)syscall(SYS_epoll_pwait2, (long)set, events, (long)room, timeout, signals,
                        (long)(_NSIG / 8));
}

int ppoll(struct pollfd *fds, nfds_t fd_count, const struct timespec *timeout,
          const sigset_t *signals)
{
    struct timespec left = timeout ? *timeout : (struct timespec){0, 0};

    return (int)syscall(SYS_ppoll, fds, fd_count, timeout ? &left : NULL, signals,
                        (long)(_NSIG / 8), 0L);
}

int sched_yield(void)
{
    return (int)syscall(SYS_sched_yield, 0L, 0L, 0L, 0L, 0L, 0L);
}

int timerfd_settime(int fd, int flags, const struct itimerspec *time, struct itimerspec *old)
{
    return (int)syscall(SYS_timerfd_settime, (long)fd, (long)flags, time, old, 0L, 0L);
}

int ioctl(int fd, unsigned long request, ...)
{
    va_list list;
    void *argument;

    va_start(list, request);
    argument = va_arg(list, void *);
    va_end(list);
    return (int)syscall(SYS_ioctl, (long)fd, request, argument, 0L, 0L, 0L);
}

/* ---------------------------------------------------------------- heap and copies */

/* The C library provides its own functions under these names, too. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t number, size_t size);
void *__libc_realloc(void *old, size_t size);
void __libc_free(void *old);

static void account_heap(void)
{
    if (is_counting())
        add(&count.heap, 1);
}

void *malloc(size_t size)
{
    account_heap();
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size)
{
    account_heap();
    return __libc_calloc(number, size);
}

void *realloc(void *old, size_t size)
{
    account_heap();
    return __libc_realloc(old, size);
}

void free(void *old)
{
    if (old)
        account_heap();
    __libc_free(old);
}

typedef void *move_function(void *to, const void *from, size_t length);

static move_function *real_move;

/* Used before that. The compiler must not turn this loop into a call of memmove itself. */
static void move_early(volatile unsigned char *to, const unsigned char *from, size_t length)
{
    if ((uintptr_t)to <= (uintptr_t)from) {
        for (size_t i = 0; i < length; i++)
            to[i] = from[i];
    } else {
        while (length-- > 0)
            to[length] = from[length];
    }
}

__attribute__((constructor)) static void find_move(void)
{
    union {
        void *object;
        move_function *function;
    } found = {dlsym(RTLD_NEXT, "memmove")};

    real_move = found.function;
}

static void *move(void *to, const void *from, size_t length)
{
    if (is_counting() && (is_payload(to) || is_payload(from)))
        add(&count.copied, length);
    if (real_move)
        return real_move(to, from, length);
    move_early(to, from, length);
    return to;
}

void *memmove(void *to, const void *from, size_t length)
{
    return move(to, from, length);
}

void *memcpy(void *restrict to, const void *restrict from, size_t length)
{
    return move(to, from, length);
}

#endif
