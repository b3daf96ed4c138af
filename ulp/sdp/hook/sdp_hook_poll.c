/* SPDX-License-Identifier: BSD-2-Clause */
/* poll, select, epoll. */
#include "hook/sdp_hook.h"

#include "guard/sdp_guard.h"
#include "socket/sdp_interest.h"

#include <limits.h>
#include <string.h>

#define MASK_OCTETS 8 /* of a signal mask that the kernel reads */

static const struct timespec *after_ms(struct timespec *deadline, int limit_ms)
{
    return sdp_deadline(deadline, limit_ms < 0 ? -1 : limit_ms * 1000LL);
}

static const struct timespec *after(struct timespec *deadline, const struct timespec *limit)
{
    return limit ? sdp_deadline(deadline, limit->tv_sec * 1000000LL + (limit->tv_nsec + 999) / 1000)
                 : NULL;
}

/* The shortest way: returns true if no socket is undecided or converted. */
static bool nothing_is_ours(void)
{
    return sdp_inside() || sdp_nothing_to_wait_for();
}

/* Returns false if the kernel refuses a limit or a mask. */
static bool is_good(const struct timespec *limit, const sigset_t *mask)
{
    struct timespec time = {0, 0};

    return (!limit || sdp_guard_copy(&time, limit, sizeof(time))) && time.tv_sec >= 0 &&
           time.tv_nsec >= 0 && time.tv_nsec <= 999999999 &&
           (!mask || sdp_guard_readable(mask, MASK_OCTETS));
}

/* Returns true if the kernel alone answers: also where the memory is missing, or a limit is bad. */
static bool is_kernels_poll(struct pollfd *polls, nfds_t count, const struct timespec *limit,
                            const sigset_t *mask)
{
    return nothing_is_ours() || count > INT_MAX || !is_good(limit, mask) ||
           !sdp_guard_present(polls, count * sizeof(*polls), false);
}

/* The kernel reads and writes whole words of a set. */
static bool is_kernels_select(int count, const fd_set *in, const fd_set *out, const fd_set *urgent)
{
    const fd_set *const sets[3] = {in, out, urgent};
    size_t octets = count > 0 ? ((size_t)count + NFDBITS - 1) / NFDBITS * sizeof(fd_mask) : 0;

    if (nothing_is_ours())
        return true;
    for (unsigned i = 0; i < 3; i++)
        if (sets[i] && !sdp_guard_present((void *)(uintptr_t)sets[i], octets, true))
            return true;
    return false;
}

/*
 * The kernel ignores numbers beyond its table, which descriptors of this library have made larger:
 * it would read and write more than the program's sets have.
 */
static int known_numbers(int count)
{
    int error = errno;
    int known;

    if (sdp_inside())
        return count;
    sdp_region_enter();
    known = sdp_own_table_size();
    sdp_region_leave();
    errno = error;
    return known < count ? known : count;
}

/* Returns true if a call that has failed may be repeated without numbers beyond the table. */
static bool has_beyond(int result, int *count)
{
    int known = result < 0 && errno == EBADF ? known_numbers(*count) : *count;
    bool beyond = known < *count;

    *count = known;
    return beyond;
}

int ppoll(struct pollfd *polls, nfds_t count, const struct timespec *limit, const sigset_t *mask)
{
    struct timespec deadline;
    int result = SDP_KERNEL;

    if (!is_kernels_poll(polls, count, limit, mask))
        SDP_IN_REGION(result, sdp_wait_poll(polls, count, after(&deadline, limit), mask));
    return result == SDP_KERNEL ? SDP_NEXT(ppoll)(polls, count, limit, mask) : result;
}

int poll(struct pollfd *polls, nfds_t count, int limit_ms)
{
    struct timespec deadline;
    int result = SDP_KERNEL;

    if (!is_kernels_poll(polls, count, NULL, NULL))
        SDP_IN_REGION(result, sdp_wait_poll(polls, count, after_ms(&deadline, limit_ms), NULL));
    return result == SDP_KERNEL ? SDP_NEXT(poll)(polls, count, limit_ms) : result;
}

static int pselect_of(int count, fd_set *in, fd_set *out, fd_set *urgent,
                      const struct timespec *limit, const sigset_t *mask)
{
    struct timespec deadline;
    int result = SDP_KERNEL;

    if (is_good(limit, mask) && !is_kernels_select(count, in, out, urgent))
        SDP_IN_REGION(result,
                      sdp_wait_select(count, in, out, urgent, after(&deadline, limit), mask));
    return result == SDP_KERNEL ? SDP_NEXT(pselect)(count, in, out, urgent, limit, mask) : result;
}

int pselect(int count, fd_set *in, fd_set *out, fd_set *urgent, const struct timespec *limit,
            const sigset_t *mask)
{
    int result;

    if (count > FD_SETSIZE)
        count = known_numbers(count);
    do
        result = pselect_of(count, in, out, urgent, limit, mask);
    while (has_beyond(result, &count));
    return result;
}

/* The kernel's select stores the remaining time in `limit`. */
static int select_of(int count, fd_set *in, fd_set *out, fd_set *urgent, struct timeval *limit)
{
    struct timespec storage;
    struct timespec left;
    const struct timespec *deadline =
        limit ? sdp_deadline(&storage, limit->tv_sec * 1000000LL + limit->tv_usec) : NULL;
    int result = SDP_KERNEL;

    if (!is_kernels_select(count, in, out, urgent) &&
        !(limit && (limit->tv_sec < 0 || limit->tv_usec < 0)))
        SDP_IN_REGION(result, sdp_wait_select(count, in, out, urgent, deadline, NULL));
    if (result == SDP_KERNEL)
        return SDP_NEXT(select)(count, in, out, urgent, limit);
    if (sdp_time_left(&left, deadline))
        *limit = (struct timeval){left.tv_sec, left.tv_nsec / 1000};
    return result;
}

int select(int count, fd_set *in, fd_set *out, fd_set *urgent, struct timeval *limit)
{
    int result;

    if (count > FD_SETSIZE)
        count = known_numbers(count);
    do
        result = select_of(count, in, out, urgent, limit);
    while (has_beyond(result, &count));
    return result;
}

/* ---- epoll ---------------------------------------------------------------------------------- */

int epoll_create1(int flags)
{
    int set = sdp_made(SDP_NEXT(epoll_create1)(flags));

    if (set >= 0 && !sdp_inside()) {
        sdp_region_enter();
        sdp_interest_set_made(set);
        sdp_region_leave();
    }
    return set;
}

int epoll_create(int size)
{
    if (size <= 0) {
        errno = EINVAL;
        return -1;
    }
    return epoll_create1(0);
}

int epoll_ctl(int set, int operation, int fd, struct epoll_event *event)
{
    int result = SDP_KERNEL;

    /* The kernel refuses an operation, an event or a set that it cannot use. */
    if (!sdp_is_kernels(fd) && (!event || sdp_guard_readable(event, sizeof(*event))))
        SDP_IN_REGION(result, sdp_wait_epoll_control(set, operation, fd, event));
    return result == SDP_KERNEL ? SDP_NEXT(epoll_ctl)(set, operation, fd, event) : result;
}

int epoll_pwait(int set, struct epoll_event *events, int count, int limit_ms, const sigset_t *mask)
{
    struct timespec deadline;
    int result = SDP_KERNEL;

    if (!sdp_is_kernels(set) && is_good(NULL, mask))
        SDP_IN_REGION(result,
                      sdp_wait_epoll(set, events, count, after_ms(&deadline, limit_ms), mask));
    return result == SDP_KERNEL ? SDP_NEXT(epoll_pwait)(set, events, count, limit_ms, mask)
                                : result;
}

int epoll_wait(int set, struct epoll_event *events, int count, int limit_ms)
{
    if (sdp_is_kernels(set))
        return SDP_NEXT(epoll_wait)(set, events, count, limit_ms);
    return epoll_pwait(set, events, count, limit_ms, NULL);
}

int epoll_pwait2(int set, struct epoll_event *events, int count, const struct timespec *limit,
                 const sigset_t *mask)
{
    struct timespec deadline;
    int result = SDP_KERNEL;

    if (!sdp_is_kernels(set) && is_good(limit, mask))
        SDP_IN_REGION(result, sdp_wait_epoll(set, events, count, after(&deadline, limit), mask));
    return result == SDP_KERNEL ? SDP_NEXT(epoll_pwait2)(set, events, count, limit, mask) : result;
}

/* ---- Checked forms, and other names ---------------------------------------------------------- */

void __chk_fail(void) __attribute__((noreturn));

int __poll(struct pollfd *polls, nfds_t count, int limit_ms)
{
    return poll(polls, count, limit_ms);
}

int __poll_chk(struct pollfd *polls, nfds_t count, int limit_ms, size_t room)
{
    if (room / sizeof(*polls) < count)
        __chk_fail();
    return poll(polls, count, limit_ms);
}

int __ppoll_chk(struct pollfd *polls, nfds_t count, const struct timespec *limit,
                const sigset_t *mask, size_t room)
{
    if (room / sizeof(*polls) < count)
        __chk_fail();
    return ppoll(polls, count, limit, mask);
}

int __select(int count, fd_set *in, fd_set *out, fd_set *urgent, struct timeval *limit)
{
    return select(count, in, out, urgent, limit);
}
