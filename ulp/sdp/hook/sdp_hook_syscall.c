/* SPDX-License-Identifier: BSD-2-Clause */
/* syscall(2) with the numbers of hooked calls; and the start of the library. */
#include "hook/sdp_hook.h"
#include "socket/sdp_decide.h"

#include <fcntl.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef long argument_list[6];

/* Returns SDP_KERNEL for other calls. */
static long data_call(long number, const argument_list a)
{
    switch (number) {
    case SYS_read:
        return read((int)a[0], (void *)a[1], (size_t)a[2]);
    case SYS_write:
        return write((int)a[0], (void *)a[1], (size_t)a[2]);
    case SYS_readv:
        return readv((int)a[0], (void *)a[1], (int)a[2]);
    case SYS_writev:
        return writev((int)a[0], (void *)a[1], (int)a[2]);
    case SYS_preadv2: /* a[4] is the high half of the offset on machines of 32 bits */
        return preadv2((int)a[0], (void *)a[1], (int)a[2], a[3], (int)a[5]);
    case SYS_pwritev2:
        return pwritev2((int)a[0], (void *)a[1], (int)a[2], a[3], (int)a[5]);
    case SYS_recvfrom:
        return recvfrom((int)a[0], (void *)a[1], (size_t)a[2], (int)a[3], (void *)a[4],
                        (void *)a[5]);
    case SYS_recvmsg:
        return recvmsg((int)a[0], (void *)a[1], (int)a[2]);
    case SYS_recvmmsg:
        return recvmmsg((int)a[0], (void *)a[1], (unsigned)a[2], (int)a[3], (void *)a[4]);
    case SYS_sendto:
        return sendto((int)a[0], (void *)a[1], (size_t)a[2], (int)a[3], (void *)a[4],
                      (socklen_t)a[5]);
    case SYS_sendmsg:
        return sendmsg((int)a[0], (void *)a[1], (int)a[2]);
    case SYS_sendmmsg:
        return sendmmsg((int)a[0], (void *)a[1], (unsigned)a[2], (int)a[3]);
    case SYS_sendfile:
        return sendfile((int)a[0], (int)a[1], (void *)a[2], (size_t)a[3]);
    case SYS_splice:
        return splice((int)a[0], (void *)a[1], (int)a[2], (void *)a[3], (size_t)a[4],
                      (unsigned)a[5]);
    default:
        return SDP_KERNEL;
    }
}

static long socket_call(long number, const argument_list a)
{
    switch (number) {
    case SYS_socket:
        return socket((int)a[0], (int)a[1], (int)a[2]);
    case SYS_connect:
        return connect((int)a[0], (void *)a[1], (socklen_t)a[2]);
    case SYS_listen:
        return listen((int)a[0], (int)a[1]);
    case SYS_accept:
        return accept((int)a[0], (void *)a[1], (void *)a[2]);
    case SYS_accept4:
        return accept4((int)a[0], (void *)a[1], (void *)a[2], (int)a[3]);
    case SYS_shutdown:
        return shutdown((int)a[0], (int)a[1]);
    case SYS_getsockname:
        return getsockname((int)a[0], (void *)a[1], (void *)a[2]);
    case SYS_getpeername:
        return getpeername((int)a[0], (void *)a[1], (void *)a[2]);
    case SYS_getsockopt:
        return getsockopt((int)a[0], (int)a[1], (int)a[2], (void *)a[3], (void *)a[4]);
    case SYS_setsockopt:
        return setsockopt((int)a[0], (int)a[1], (int)a[2], (void *)a[3], (socklen_t)a[4]);
    default:
        return SDP_KERNEL;
    }
}

static long number_call(long number, const argument_list a)
{
    switch (number) {
    case SYS_close:
        return close((int)a[0]);
    case SYS_close_range:
        return close_range((unsigned)a[0], (unsigned)a[1], (int)a[2]);
    case SYS_dup:
        return dup((int)a[0]);
    case SYS_dup3:
        return dup3((int)a[0], (int)a[1], (int)a[2]);
    case SYS_fcntl:
        return fcntl((int)a[0], (int)a[1], a[2]);
    case SYS_ioctl:
        return ioctl((int)a[0], (unsigned long)a[1], (void *)a[2]);
    case SYS_epoll_ctl:
        return epoll_ctl((int)a[0], (int)a[1], (int)a[2], (void *)a[3]);
    case SYS_epoll_pwait:
        return epoll_pwait((int)a[0], (void *)a[1], (int)a[2], (int)a[3], (void *)a[4]);
    case SYS_ppoll:
        return ppoll((void *)a[0], (nfds_t)a[1], (void *)a[2], (void *)a[3]);
#ifdef SYS_poll /* the older calls, which newer machines do not have */
    case SYS_poll:
        return poll((void *)a[0], (nfds_t)a[1], (int)a[2]);
    case SYS_select:
        return select((int)a[0], (void *)a[1], (void *)a[2], (void *)a[3], (void *)a[4]);
    case SYS_dup2:
        return dup2((int)a[0], (int)a[1]);
    case SYS_epoll_wait:
        return epoll_wait((int)a[0], (void *)a[1], (int)a[2], (int)a[3]);
#endif
    default:
        return SDP_KERNEL;
    }
}

long syscall(long number, ...)
{
    argument_list a;
    long result = SDP_KERNEL;
    va_list list;

    va_start(list, number);
    for (unsigned i = 0; i < 6; i++)
        a[i] = va_arg(list, long);
    va_end(list);
    if (!sdp_inside()) {
        result = data_call(number, a);
        if (result == SDP_KERNEL)
            result = socket_call(number, a);
        if (result == SDP_KERNEL)
            result = number_call(number, a);
    }
    return result == SDP_KERNEL ? SDP_NEXT(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5])
                                : result;
}

/* ---- The start ------------------------------------------------------------------------------ */

static int next_ppoll(struct pollfd *polls, nfds_t count, const struct timespec *limit,
                      const sigset_t *mask)
{
    return SDP_NEXT(ppoll)(polls, count, limit, mask);
}

static int next_epoll_pwait(int set, struct epoll_event *events, int count, int limit_ms,
                            const sigset_t *mask)
{
    return SDP_NEXT(epoll_pwait)(set, events, count, limit_ms, mask);
}

static __attribute__((constructor)) void start(void)
{
    sdp_next_resolve();
    sdp_kernel_ppoll = next_ppoll;
    sdp_kernel_epoll_pwait = next_epoll_pwait;
    sdp_signals_start();
    sdp_region_enter();
    sdp_own_start();
    sdp_process_start();
    sdp_decide_start();
    sdp_region_leave();
}
