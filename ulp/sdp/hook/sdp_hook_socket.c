/* SPDX-License-Identifier: BSD-2-Clause */
/* socket, connect, listen, accept, names, options, shutdown. */
#include "hook/sdp_hook.h"

#include "guard/sdp_guard.h"
#include "socket/sdp_decide.h"

#include <netinet/in.h>
#include <stdarg.h>
#include <sys/ioctl.h>

int socket(int domain, int type, int protocol)
{
    int fd = sdp_made(SDP_NEXT(socket)(domain, type, protocol));

    if (fd >= 0 && !sdp_inside() && (domain == AF_INET || domain == AF_INET6) &&
        (type & ~(SOCK_CLOEXEC | SOCK_NONBLOCK)) == SOCK_STREAM &&
        (protocol == 0 || protocol == IPPROTO_TCP)) {
        sdp_region_enter();
        sdp_number_made(fd);
        sdp_region_leave();
    }
    return fd;
}

int socketpair(int domain, int type, int protocol, int pair[2])
{
    int result = SDP_NEXT(socketpair)(domain, type, protocol, pair);

    if (result == 0 && sdp_inside()) {
        pair[0] = sdp_own_keep(pair[0]);
        pair[1] = sdp_own_keep(pair[1]);
    }
    return result;
}

/* Returns false for a name that the kernel refuses. */
static bool has_name(const struct sockaddr *peer, socklen_t length)
{
    return length <= sizeof(struct sockaddr_storage) && sdp_guard_readable(peer, length);
}

/* The kernel's call is made outside the region, since it may block and handlers must run. */
int connect(int fd, const struct sockaddr *peer, socklen_t length)
{
    int result;

    if (sdp_is_kernels(fd) || !has_name(peer, length))
        return SDP_NEXT(connect)(fd, peer, length);
    SDP_IN_REGION(result, sdp_data_refuse(fd, EISCONN));
    if (result != SDP_KERNEL)
        return result;
    sdp_region_enter();
    sdp_decide_connecting(fd, peer, length);
    sdp_region_leave();
    result = SDP_NEXT(connect)(fd, peer, length);
    if (result < 0 && errno != EINPROGRESS && errno != EINTR && errno != EALREADY &&
        errno != EISCONN && errno != EAGAIN) {
        int error = errno;

        sdp_region_enter();
        sdp_decide_connect_failed(fd);
        sdp_region_leave();
        errno = error;
    }
    return result;
}

int bind(int fd, const struct sockaddr *name, socklen_t length)
{
    int result = SDP_KERNEL;

    if (!sdp_is_kernels(fd))
        SDP_IN_REGION(result, sdp_data_refuse(fd, EINVAL));
    return result == SDP_KERNEL ? SDP_NEXT(bind)(fd, name, length) : result;
}

int listen(int fd, int backlog)
{
    int result = SDP_KERNEL;

    if (!sdp_is_kernels(fd))
        SDP_IN_REGION(result, sdp_data_refuse(fd, EINVAL));
    if (result == SDP_KERNEL)
        result = SDP_NEXT(listen)(fd, backlog);
    if (result == 0 && !sdp_is_kernels(fd)) {
        sdp_region_enter();
        sdp_decide_listening(fd);
        sdp_region_leave();
    }
    return result;
}

int accept4(int fd, struct sockaddr *peer, socklen_t *length, int flags)
{
    int made = SDP_KERNEL;

    if (!sdp_is_kernels(fd))
        SDP_IN_REGION(made, sdp_data_refuse(fd, EINVAL));
    if (made == SDP_KERNEL)
        made = sdp_made(SDP_NEXT(accept4)(fd, peer, length, flags));
    if (made >= 0 && !sdp_is_kernels(fd)) {
        sdp_region_enter();
        sdp_decide_accepted(fd, made);
        sdp_region_leave();
    }
    return made;
}

int accept(int fd, struct sockaddr *peer, socklen_t *length)
{
    return accept4(fd, peer, length, 0);
}

int shutdown(int fd, int how)
{
    int result = SDP_KERNEL;

    if (!sdp_is_kernels(fd))
        SDP_IN_REGION(result, sdp_data_shutdown(fd, how));
    return result == SDP_KERNEL ? SDP_NEXT(shutdown)(fd, how) : result;
}

int getsockname(int fd, struct sockaddr *name, socklen_t *length)
{
    int result = SDP_KERNEL;

    if (!sdp_is_kernels(fd))
        SDP_IN_REGION(result, sdp_data_name(fd, 0, name, length));
    return result == SDP_KERNEL ? SDP_NEXT(getsockname)(fd, name, length) : result;
}

int getpeername(int fd, struct sockaddr *name, socklen_t *length)
{
    int result = SDP_KERNEL;

    if (!sdp_is_kernels(fd))
        SDP_IN_REGION(result, sdp_data_name(fd, 1, name, length));
    return result == SDP_KERNEL ? SDP_NEXT(getpeername)(fd, name, length) : result;
}

int getsockopt(int fd, int level, int name, void *value, socklen_t *length)
{
    int result = SDP_KERNEL;

    if (!sdp_is_kernels(fd))
        SDP_IN_REGION(result, sdp_option_get(fd, level, name, value, length));
    return result == SDP_KERNEL ? SDP_NEXT(getsockopt)(fd, level, name, value, length) : result;
}

int setsockopt(int fd, int level, int name, const void *value, socklen_t length)
{
    int result = SDP_KERNEL;

    if (!sdp_is_kernels(fd))
        SDP_IN_REGION(result, sdp_option_set(fd, level, name, value, length));
    return result == SDP_KERNEL ? SDP_NEXT(setsockopt)(fd, level, name, value, length) : result;
}

int ioctl(int fd, unsigned long request, ...)
{
    int result = SDP_KERNEL;
    void *argument;
    va_list list;

    va_start(list, request);
    argument = va_arg(list, void *);
    va_end(list);
    if (!sdp_is_kernels(fd))
        SDP_IN_REGION(result, sdp_option_ioctl(fd, request, argument));
    return result == SDP_KERNEL ? SDP_NEXT(ioctl)(fd, request, argument) : result;
}

/* libc's own asks the kernel by itself. */
int sockatmark(int fd)
{
    int at;

    return ioctl(fd, SIOCATMARK, &at) < 0 ? -1 : at;
}

int __connect(int fd, const struct sockaddr *peer, socklen_t length)
{
    return connect(fd, peer, length);
}
