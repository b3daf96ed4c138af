/* SPDX-License-Identifier: BSD-2-Clause */
/* recv and send, read and write, and their variants. */
#include "hook/sdp_hook.h"

#include "guard/sdp_guard.h"

#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Returns SDP_KERNEL, or the result with errno set. */
static ssize_t receive(int fd, const struct iovec *parts, int count, int flags)
{
    ssize_t result;

    SDP_IN_REGION(result, sdp_data_receive(fd, parts, count, flags));
    return result;
}

static ssize_t transmit(int fd, const struct iovec *parts, int count, int flags)
{
    ssize_t result;

    SDP_IN_REGION(result, sdp_data_send(fd, parts, count, flags));
    if (result == -1 && errno == EPIPE && !(flags & MSG_NOSIGNAL)) {
        (void)pthread_kill(pthread_self(), SIGPIPE);
        errno = EPIPE;
    }
    return result;
}

static bool refuse(int error)
{
    errno = error;
    return false;
}

/*
 * Returns false, with errno set, if the array is too long (`too_long`), missing or has a part that
 * is too long. Octets are checked when they move.
 */
static bool has_parts(const struct iovec *parts, size_t count, int too_long)
{
    if (count > IOV_MAX)
        return refuse(too_long);
    if (count == 0)
        return true;
    if (!sdp_guard_readable(parts, count * sizeof(*parts)))
        return refuse(EFAULT);
    for (size_t i = 0; i < count; i++)
        if (parts[i].iov_len > SSIZE_MAX)
            return refuse(EINVAL);
    return true;
}

static bool has_message(const struct msghdr *message)
{
    if (sdp_guard_readable(message, sizeof(*message)))
        return has_parts(message->msg_iov, message->msg_iovlen, EMSGSIZE);
    return refuse(EFAULT);
}

/* Of recvmmsg and sendmmsg, which store how much each message has moved. */
static bool has_entry(struct mmsghdr *message)
{
    return sdp_guard_present(message, sizeof(*message), true) || refuse(EFAULT);
}

static bool has_octets(const struct iovec *parts, int count)
{
    for (int i = 0; i < count; i++)
        if (parts[i].iov_len > 0)
            return true;
    return false;
}

/* The kernel does no more for a read of no octets than to check the descriptor; recv waits. */
static ssize_t receive_parts(int fd, const struct iovec *parts, int count, int flags)
{
    if (!has_parts(parts, (size_t)count, EINVAL))
        return -1;
    return has_octets(parts, count) ? receive(fd, parts, count, flags) : SDP_KERNEL;
}

static ssize_t transmit_parts(int fd, const struct iovec *parts, int count, int flags)
{
    return has_parts(parts, (size_t)count, EINVAL) ? transmit(fd, parts, count, flags) : -1;
}

static ssize_t transmit_message(int fd, const struct msghdr *message, int flags)
{
    return has_message(message) ? transmit(fd, message->msg_iov, (int)message->msg_iovlen, flags)
                                : -1;
}

/* ---- Receiving ------------------------------------------------------------------------------ */

ssize_t recv(int fd, void *buffer, size_t size, int flags)
{
    struct iovec part = {buffer, size};
    ssize_t result = sdp_is_kernels(fd) ? SDP_KERNEL : receive(fd, &part, 1, flags);

    return result == SDP_KERNEL ? SDP_NEXT(recv)(fd, buffer, size, flags) : result;
}

ssize_t read(int fd, void *buffer, size_t size)
{
    struct iovec part = {buffer, size};
    ssize_t result = sdp_is_kernels(fd) || size == 0 ? SDP_KERNEL : receive(fd, &part, 1, 0);

    return result == SDP_KERNEL ? SDP_NEXT(read)(fd, buffer, size) : result;
}

/*
 * TCP returns no peer name here. As the kernel does, checks the length after the octets have been
 * taken.
 */
static bool has_no_name(socklen_t *length)
{
    static const socklen_t none = 0;
    socklen_t room;

    if (!sdp_guard_copy(&room, length, sizeof(room)))
        return refuse(EFAULT);
    return room > INT_MAX ? refuse(EINVAL)
                          : sdp_guard_copy(length, &none, sizeof(none)) || refuse(EFAULT);
}

ssize_t recvfrom(int fd, void *buffer, size_t size, int flags, struct sockaddr *from,
                 socklen_t *length)
{
    struct iovec part = {buffer, size};
    ssize_t result = sdp_is_kernels(fd) ? SDP_KERNEL : receive(fd, &part, 1, flags);

    if (result == SDP_KERNEL)
        return SDP_NEXT(recvfrom)(fd, buffer, size, flags, from, length);
    return result < 0 || !from || has_no_name(length) ? result : -1;
}

ssize_t readv(int fd, const struct iovec *parts, int count)
{
    ssize_t result = sdp_is_kernels(fd) ? SDP_KERNEL : receive_parts(fd, parts, count, 0);

    return result == SDP_KERNEL ? SDP_NEXT(readv)(fd, parts, count) : result;
}

#define FLAGS_OF_PARTS (RWF_HIPRI | RWF_DSYNC | RWF_SYNC | RWF_NOWAIT | RWF_APPEND)

/* A socket has no other offset. The kernel refuses flags that it does not know. */
static bool is_kernels_at(int fd, off64_t offset, int flags)
{
    return sdp_is_kernels(fd) || offset != -1 || flags & ~FLAGS_OF_PARTS;
}

static int flags_of_nowait(int flags)
{
    return flags & RWF_NOWAIT ? MSG_DONTWAIT : 0;
}

ssize_t preadv64v2(int fd, const struct iovec *parts, int count, off64_t offset, int flags)
{
    ssize_t result = is_kernels_at(fd, offset, flags)
                         ? SDP_KERNEL
                         : receive_parts(fd, parts, count, flags_of_nowait(flags));

    return result == SDP_KERNEL ? SDP_NEXT(preadv64v2)(fd, parts, count, offset, flags) : result;
}

ssize_t preadv2(int fd, const struct iovec *parts, int count, off_t offset, int flags)
{
    return preadv64v2(fd, parts, count, offset, flags);
}

/* Returns no name and no control messages, as TCP has none here. */
static ssize_t receive_message(int fd, struct msghdr *message, int flags)
{
    ssize_t result =
        has_message(message) ? receive(fd, message->msg_iov, (int)message->msg_iovlen, flags) : -1;

    if (result >= 0) {
        message->msg_namelen = 0;
        message->msg_controllen = 0;
        message->msg_flags = flags & (MSG_OOB | MSG_CMSG_CLOEXEC);
    }
    return result;
}

ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
    ssize_t result = sdp_is_kernels(fd) ? SDP_KERNEL : receive_message(fd, message, flags);

    return result == SDP_KERNEL ? SDP_NEXT(recvmsg)(fd, message, flags) : result;
}

/* Returns the deadline of recvmmsg, or NULL with *error: 0, if it has none. */
static const struct timespec *until_of(struct timespec *until, const struct timespec *limit,
                                       int *error)
{
    struct timespec wanted;

    *error = 0;
    if (!limit)
        return NULL;
    if (!sdp_guard_copy(&wanted, limit, sizeof(wanted)))
        *error = EFAULT;
    else if (wanted.tv_sec < 0 || wanted.tv_nsec < 0 || wanted.tv_nsec > 999999999)
        *error = EINVAL;
    return *error ? NULL : sdp_deadline(until, wanted.tv_sec * 1000000LL + wanted.tv_nsec / 1000);
}

/*
 * The time limit is checked between messages, as in the kernel. An error after the first message is
 * lost.
 */
static int receive_messages(int fd, struct mmsghdr *messages, unsigned count, int flags,
                            const struct timespec *deadline)
{
    struct timespec left;
    unsigned done = 0;

    while (done < count) {
        int how =
            (flags & ~MSG_WAITFORONE) | (done > 0 && flags & MSG_WAITFORONE ? MSG_DONTWAIT : 0);
        ssize_t got;

        if (!has_entry(&messages[done]))
            return done > 0 ? (int)done : -1;
        got = receive_message(fd, &messages[done].msg_hdr, how);
        if (got == SDP_KERNEL)
            return SDP_KERNEL;
        if (got < 0)
            return done > 0 ? (int)done : -1;
        messages[done++].msg_len = (unsigned)got;
        if (sdp_time_left(&left, deadline) && left.tv_sec == 0 && left.tv_nsec == 0)
            break;
    }
    return (int)done;
}

/* Like the kernel, stores the time that is left. */
int recvmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags, struct timespec *limit)
{
    struct timespec until;
    struct timespec left;
    const struct timespec *deadline;
    int result = SDP_KERNEL;
    int error;

    if (!sdp_is_kernels(fd)) {
        deadline = until_of(&until, limit, &error);
        if (error != 0) {
            errno = error;
            return -1;
        }
        result = receive_messages(fd, messages, count, flags, deadline);
        if (result > 0 && sdp_time_left(&left, deadline) &&
            !sdp_guard_copy(limit, &left, sizeof(left))) {
            errno = EFAULT;
            return -1;
        }
    }
    return result == SDP_KERNEL ? SDP_NEXT(recvmmsg)(fd, messages, count, flags, limit) : result;
}

/* ---- Sending -------------------------------------------------------------------------------- */

ssize_t send(int fd, const void *buffer, size_t size, int flags)
{
    struct iovec part = {(void *)(uintptr_t)buffer, size};
    ssize_t result = sdp_is_kernels(fd) ? SDP_KERNEL : transmit(fd, &part, 1, flags);

    return result == SDP_KERNEL ? SDP_NEXT(send)(fd, buffer, size, flags) : result;
}

ssize_t write(int fd, const void *buffer, size_t size)
{
    struct iovec part = {(void *)(uintptr_t)buffer, size};
    ssize_t result = sdp_is_kernels(fd) ? SDP_KERNEL : transmit(fd, &part, 1, 0);

    return result == SDP_KERNEL ? SDP_NEXT(write)(fd, buffer, size) : result;
}

/* A connected TCP socket ignores the address. */
ssize_t sendto(int fd, const void *buffer, size_t size, int flags, const struct sockaddr *to,
               socklen_t length)
{
    struct iovec part = {(void *)(uintptr_t)buffer, size};
    ssize_t result = sdp_is_kernels(fd) ? SDP_KERNEL : transmit(fd, &part, 1, flags);

    return result == SDP_KERNEL ? SDP_NEXT(sendto)(fd, buffer, size, flags, to, length) : result;
}

ssize_t writev(int fd, const struct iovec *parts, int count)
{
    ssize_t result = sdp_is_kernels(fd) ? SDP_KERNEL : transmit_parts(fd, parts, count, 0);

    return result == SDP_KERNEL ? SDP_NEXT(writev)(fd, parts, count) : result;
}

ssize_t pwritev64v2(int fd, const struct iovec *parts, int count, off64_t offset, int flags)
{
    ssize_t result = is_kernels_at(fd, offset, flags)
                         ? SDP_KERNEL
                         : transmit_parts(fd, parts, count, flags_of_nowait(flags));

    return result == SDP_KERNEL ? SDP_NEXT(pwritev64v2)(fd, parts, count, offset, flags) : result;
}

ssize_t pwritev2(int fd, const struct iovec *parts, int count, off_t offset, int flags)
{
    return pwritev64v2(fd, parts, count, offset, flags);
}

/* Sockets that are passed to another process become TCP; those that are SDP cannot be passed. */
static bool passes_descriptors(const struct msghdr *message)
{
    struct msghdr copy;

    if (sdp_inside() || !sdp_guard_copy(&copy, message, sizeof(copy)) || !copy.msg_control ||
        copy.msg_controllen < sizeof(struct cmsghdr))
        return true;
    if (!sdp_guard_readable(copy.msg_control, copy.msg_controllen))
        return true; /* the kernel refuses it */
    for (struct cmsghdr *part = CMSG_FIRSTHDR(&copy); part; part = CMSG_NXTHDR(&copy, part)) {
        size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);

        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS)
            continue;
        for (size_t i = 0; i < count; i++) {
            bool plain;
            int fd;

            memcpy(&fd, CMSG_DATA(part) + i * sizeof(fd), sizeof(fd));
            sdp_region_enter();
            plain = sdp_data_escapes(fd);
            sdp_region_leave();
            if (!plain)
                return false;
        }
    }
    return true;
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    ssize_t result = SDP_KERNEL;

    if (!sdp_is_kernels(fd))
        result = transmit_message(fd, message, flags);
    else if (!passes_descriptors(message)) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return result == SDP_KERNEL ? SDP_NEXT(sendmsg)(fd, message, flags) : result;
}

/* As the kernel does with messages that it refuses, it sends those before the first one. */
static int send_to_kernel(int fd, struct mmsghdr *messages, unsigned count, int flags)
{
    unsigned good = 0;

    while (good < count && (!sdp_guard_readable(&messages[good], sizeof(messages[good])) ||
                            passes_descriptors(&messages[good].msg_hdr)))
        good++;
    if (good == 0 && count > 0) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return SDP_NEXT(sendmmsg)(fd, messages, good, flags);
}

int sendmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags)
{
    unsigned done = 0;

    if (count > IOV_MAX)
        count = IOV_MAX; /* of a call */
    if (sdp_is_kernels(fd))
        return send_to_kernel(fd, messages, count, flags);
    while (done < count) {
        const struct msghdr *message = &messages[done].msg_hdr;
        ssize_t sent;

        if (!has_entry(&messages[done]))
            return done > 0 ? (int)done : -1;
        sent = transmit_message(fd, message, flags);
        if (sent == SDP_KERNEL)
            return SDP_NEXT(sendmmsg)(fd, messages, count, flags);
        if (sent < 0)
            return done > 0 ? (int)done : -1;
        messages[done++].msg_len = (unsigned)sent;
    }
    return (int)done;
}

/* ---- Formatted ------------------------------------------------------------------------------ */

static int write_all(int fd, const char *text, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t sent = write(fd, text + done, size - done);

        if (sent < 0)
            return -1;
        done += (size_t)sent;
    }
    return (int)size;
}

int vdprintf(int fd, const char *format, va_list list)
{
    char *text;
    int size;

    if (sdp_is_kernels(fd))
        return SDP_NEXT(vdprintf)(fd, format, list);
    size = vasprintf(&text, format, list);
    if (size < 0)
        return -1;
    size = write_all(fd, text, (size_t)size);
    free(text);
    return size;
}

int dprintf(int fd, const char *format, ...)
{
    va_list list;
    int result;

    va_start(list, format);
    result = vdprintf(fd, format, list);
    va_end(list);
    return result;
}

/* ---- Checked forms, and other names ---------------------------------------------------------- */

void __chk_fail(void) __attribute__((noreturn));

ssize_t __read(int fd, void *buffer, size_t size)
{
    return read(fd, buffer, size);
}

ssize_t __write(int fd, const void *buffer, size_t size)
{
    return write(fd, buffer, size);
}

ssize_t __send(int fd, const void *buffer, size_t size, int flags)
{
    return send(fd, buffer, size, flags);
}

ssize_t __read_chk(int fd, void *buffer, size_t size, size_t room)
{
    if (size > room)
        __chk_fail();
    return read(fd, buffer, size);
}

ssize_t __recv_chk(int fd, void *buffer, size_t size, size_t room, int flags)
{
    if (size > room)
        __chk_fail();
    return recv(fd, buffer, size, flags);
}

ssize_t __recvfrom_chk(int fd, void *buffer, size_t size, size_t room, int flags,
                       struct sockaddr *from, socklen_t *length)
{
    if (size > room)
        __chk_fail();
    return recvfrom(fd, buffer, size, flags, from, length);
}

int __vdprintf_chk(int fd, int flag, const char *format, va_list list)
{
    (void)flag;
    return vdprintf(fd, format, list);
}

int __dprintf_chk(int fd, int flag, const char *format, ...)
{
    va_list list;
    int result;

    (void)flag;
    va_start(list, format);
    result = vdprintf(fd, format, list);
    va_end(list);
    return result;
}
