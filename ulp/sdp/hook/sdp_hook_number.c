/* SPDX-License-Identifier: BSD-2-Clause */
/* close, dup, fcntl, and calls that create descriptors. */
#include "hook/sdp_hook.h"

#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <unistd.h>

/* Closes a descriptor of this library. */
static int close_own(int fd)
{
    if (sdp_table_kind(fd) == SDP_NUMBER_OWN)
        (void)sdp_table_set(fd, SDP_NUMBER_FREE, NULL);
    return SDP_NEXT(close)(fd);
}

int close(int fd)
{
    int result;

    if (sdp_inside())
        return close_own(fd);
    if (sdp_is_kernels(fd))
        return SDP_NEXT(close)(fd);
    SDP_IN_REGION(result, sdp_number_close(fd));
    return result;
}

int close_range(unsigned first, unsigned last, int flags)
{
    int result;

    if (sdp_inside())
        return SDP_NEXT(close_range)(first, last, flags);
    SDP_IN_REGION(result, sdp_number_close_range(first, last, flags));
    return result;
}

void closefrom(int first)
{
    (void)close_range(first < 0 ? 0 : (unsigned)first, UINT_MAX, 0);
}

/* ---- dup ------------------------------------------------------------------------------------ */

static int dup_it(const void *how)
{
    int made = SDP_NEXT(dup)(*(const int *)how);

    return made < 0 ? -errno : made;
}

int dup(int fd)
{
    int result = SDP_KERNEL;

    if (!sdp_is_kernels(fd))
        SDP_IN_REGION(result, sdp_number_dup(fd, dup_it, &fd));
    return result == SDP_KERNEL ? SDP_NEXT(dup)(fd) : result;
}

static int with_stream(int to)
{
    if (to >= 0 && to <= STDERR_FILENO && sdp_table_kind(to) == SDP_NUMBER_SOCKET)
        sdp_stream_over(to);
    return to;
}

int dup2(int fd, int to)
{
    int result = SDP_KERNEL;

    if (!sdp_is_kernels(fd) || !sdp_is_kernels(to))
        SDP_IN_REGION(result, sdp_number_dup2(fd, to, 0));
    return with_stream(result == SDP_KERNEL ? SDP_NEXT(dup2)(fd, to) : result);
}

int dup3(int fd, int to, int flags)
{
    int result = SDP_KERNEL;

    if (!sdp_is_kernels(fd) || !sdp_is_kernels(to))
        SDP_IN_REGION(result, sdp_number_dup2(fd, to, flags));
    return with_stream(result == SDP_KERNEL ? SDP_NEXT(dup3)(fd, to, flags) : result);
}

struct fcntl_call {
    int fd;
    int command;
    long argument;
};

static int fcntl_it(const void *how)
{
    const struct fcntl_call *call = how;
    int made = SDP_NEXT(fcntl)(call->fd, call->command, call->argument);

    return made < 0 ? -errno : made;
}

int fcntl(int fd, int command, ...)
{
    struct fcntl_call call = {fd, command, 0};
    int result = SDP_KERNEL;
    va_list list;

    va_start(list, command);
    call.argument = va_arg(list, long);
    va_end(list);
    if (sdp_is_kernels(fd)) {
        result = SDP_NEXT(fcntl)(fd, command, call.argument);
        /* Only this library asks for any number at all. */
        return command == F_DUPFD_CLOEXEC && call.argument == 0 ? sdp_made(result) : result;
    }
    if (command == F_DUPFD || command == F_DUPFD_CLOEXEC)
        SDP_IN_REGION(result, sdp_number_dup(fd, fcntl_it, &call));
    else
        SDP_IN_REGION(result, sdp_option_fcntl(fd, command, call.argument));
    return result == SDP_KERNEL ? SDP_NEXT(fcntl)(fd, command, call.argument) : result;
}

int fcntl64(int fd, int command, ...)
{
    long argument;
    va_list list;

    va_start(list, command);
    argument = va_arg(list, long);
    va_end(list);
    return fcntl(fd, command, argument);
}

/* ---- Making --------------------------------------------------------------------------------- */

/* rdma-core opens its devices so. Files of the program are passed on. */
int open(const char *path, int flags, ...)
{
    mode_t mode = 0;
    va_list list;

    if ((flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE) {
        va_start(list, flags);
        mode = va_arg(list, mode_t);
        va_end(list);
    }
    return sdp_made(SDP_NEXT(open)(path, flags, mode));
}

int eventfd(unsigned value, int flags)
{
    return sdp_made(SDP_NEXT(eventfd)(value, flags));
}

int timerfd_create(int clock, int flags)
{
    return sdp_made(SDP_NEXT(timerfd_create)(clock, flags));
}

int pipe2(int pair[2], int flags)
{
    int result = SDP_NEXT(pipe2)(pair, flags);

    if (result == 0 && sdp_inside()) {
        pair[0] = sdp_own_keep(pair[0]);
        pair[1] = sdp_own_keep(pair[1]);
    }
    return result;
}

/* ---- Limits of descriptors ------------------------------------------------------------------ */

int getrlimit(__rlimit_resource_t resource, struct rlimit *limit)
{
    int result;

    if (resource != RLIMIT_NOFILE || sdp_inside())
        return SDP_NEXT(getrlimit)(resource, limit);
    SDP_IN_REGION(result, sdp_own_limit(NULL, limit));
    return result;
}

int setrlimit(__rlimit_resource_t resource, const struct rlimit *limit)
{
    int result;

    if (resource != RLIMIT_NOFILE || sdp_inside())
        return SDP_NEXT(setrlimit)(resource, limit);
    SDP_IN_REGION(result, sdp_own_limit(limit, NULL));
    return result;
}

int prlimit(pid_t process, __rlimit_resource_t resource, const struct rlimit *limit,
            struct rlimit *old)
{
    int result;

    if (resource != RLIMIT_NOFILE || sdp_inside() || (process != 0 && process != getpid()))
        return SDP_NEXT(prlimit)(process, resource, limit, old);
    SDP_IN_REGION(result, sdp_own_limit(limit, old));
    return result;
}

int getrlimit64(__rlimit_resource_t resource, struct rlimit64 *limit)
{
    return getrlimit(resource, (struct rlimit *)limit);
}

int setrlimit64(__rlimit_resource_t resource, const struct rlimit64 *limit)
{
    return setrlimit(resource, (const struct rlimit *)limit);
}

int prlimit64(pid_t process, __rlimit_resource_t resource, const struct rlimit64 *limit,
              struct rlimit64 *old)
{
    return prlimit(process, resource, (const struct rlimit *)limit, (struct rlimit *)old);
}

long sysconf(int name)
{
    struct rlimit limit;

    if (name != _SC_OPEN_MAX || getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return SDP_NEXT(sysconf)(name);
    return limit.rlim_cur == RLIM_INFINITY ? -1 : (long)limit.rlim_cur;
}

int getdtablesize(void)
{
    return (int)sysconf(_SC_OPEN_MAX);
}

/* ---- Other names ---------------------------------------------------------------------------- */

int __close(int fd)
{
    return close(fd);
}

int __dup2(int fd, int to)
{
    return dup2(fd, to);
}

int __fcntl(int fd, int command, ...)
{
    long argument;
    va_list list;

    va_start(list, command);
    argument = va_arg(list, long);
    va_end(list);
    return fcntl(fd, command, argument);
}
