/* SPDX-License-Identifier: BSD-2-Clause */
/* Sending and receiving. All calls use rsendmsg and rrecvmsg. */
#include "rsocket/ofa_rsocket.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/uio.h>

static ssize_t fail(int error)
{
    errno = error;
    return -1;
}

static uint32_t least(uint64_t a, uint64_t b)
{
    return (uint32_t)(a < b ? a : b);
}

/* ---- The program's memory ------------------------------------------------------------------- */

struct cursor {
    const struct iovec *iov;
    size_t offset; /* in the first iovec */
    size_t left;   /* octets left in all iovecs */
};

static int start(struct cursor *cursor, const struct msghdr *msg)
{
    *cursor = (struct cursor){.iov = msg->msg_iov};
    if (msg->msg_iovlen > IOV_MAX)
        return EMSGSIZE;
    for (size_t i = 0; i < msg->msg_iovlen; i++) {
        if (msg->msg_iov[i].iov_len > SSIZE_MAX - cursor->left)
            return EINVAL;
        cursor->left += msg->msg_iov[i].iov_len;
    }
    return 0;
}

/* Copies to or from the program's memory. */
static void copy(struct cursor *cursor, unsigned char *ours, size_t length, bool to_program)
{
    while (length > 0) {
        unsigned char *theirs = (unsigned char *)cursor->iov->iov_base + cursor->offset;
        size_t part = cursor->iov->iov_len - cursor->offset;

        part = part < length ? part : length;
        if (to_program && part > 0)
            memcpy(theirs, ours, part);
        else if (part > 0)
            memcpy(ours, theirs, part);
        ours += part;
        length -= part;
        cursor->left -= part;
        cursor->offset += part;
        if (cursor->offset == cursor->iov->iov_len) {
            cursor->iov++;
            cursor->offset = 0;
        }
    }
}

/* ---- Sending -------------------------------------------------------------------------------- */

static int send_part(struct rsock *rs, struct cursor *cursor)
{
    struct rs_span *span = &rs->span[rs->span_used];
    struct rs_write write = {.to = span->address, .key = span->key};
    unsigned char *place = rs_take_ring(rs, &write.length, least(cursor->left, span->length));

    copy(cursor, place, write.length, false);
    write.from = place;
    write.is_inline = write.length <= (uint32_t)rs->option[RS_INLINE];
    write.tag = rs_message(RS_DATA, write.length);
    span->address += write.length;
    span->length -= write.length;
    if (span->length == 0)
        rs->span_used = (rs->span_used + 1) % RS_SPANS;
    rs->requests_left -= 2;
    rs->sent++;
    return rs_post_write(rs, &write);
}

static ssize_t send_stream(struct rsock *rs, const struct msghdr *msg, int flags)
{
    struct cursor cursor;
    int error = start(&cursor, msg);
    size_t length = cursor.left;

    if (error == 0 && rs->maps_pending)
        error = rs_send_maps(rs, rs_nonblocking(rs, flags));
    while (error == 0 && cursor.left > 0) {
        error = rs_await_room(rs, rs_nonblocking(rs, flags));
        if (error == 0)
            error = send_part(rs, &cursor);
    }
    return error != 0 && cursor.left == length ? fail(error) : (ssize_t)(length - cursor.left);
}

ssize_t rsendmsg(int socket, const struct msghdr *msg, int flags)
{
    struct rsock *rs = rs_find(socket);
    ssize_t result;

    if (!rs)
        return -1;
    if (rs->type == SOCK_DGRAM)
        return sendmsg(socket, msg, flags);
    if (msg->msg_name)
        return fail(EISCONN);
    if (msg->msg_control && msg->msg_controllen > 0)
        return fail(ENOTSUP);
    (void)pthread_mutex_lock(&rs->lock);
    result = send_stream(rs, msg, flags);
    (void)pthread_mutex_unlock(&rs->lock);
    return result;
}

static ssize_t send_vector(int socket, const struct iovec *iov, size_t count, int flags)
{
    const struct msghdr msg = {.msg_iov = (struct iovec *)(uintptr_t)iov, .msg_iovlen = count};

    return rsendmsg(socket, &msg, flags);
}

ssize_t rsendto(int socket, const void *buf, size_t len, int flags,
                const struct sockaddr *dest_addr, socklen_t addrlen)
{
    struct iovec iov = {(void *)(uintptr_t)buf, len};
    const struct msghdr msg = {.msg_name = (void *)(uintptr_t)dest_addr,
                               .msg_namelen = addrlen,
                               .msg_iov = &iov,
                               .msg_iovlen = 1};

    return rsendmsg(socket, &msg, flags);
}

ssize_t rsend(int socket, const void *buf, size_t len, int flags)
{
    return rsendto(socket, buf, len, flags, NULL, 0);
}

ssize_t rwrite(int socket, const void *buf, size_t count)
{
    return rsendto(socket, buf, count, 0, NULL, 0);
}

ssize_t rwritev(int socket, const struct iovec *iov, int iovcnt)
{
    return iovcnt < 0 ? fail(EINVAL) : send_vector(socket, iov, (size_t)iovcnt, 0);
}

/* ---- Receiving ------------------------------------------------------------------------------ */

/* Copies the octets that have arrived. */
static void take_ready(struct rsock *rs, struct cursor *cursor, bool peek)
{
    uint32_t size = (uint32_t)rs->option[RS_RCVBUF];
    uint32_t offset = rs->receive_offset;
    uint32_t left = least(rs->ready, cursor->left);

    while (left > 0) {
        uint32_t part = least(left, size - offset);

        copy(cursor, rs->receive_ring + offset, part, true);
        offset = (offset + part) % size;
        left -= part;
        if (peek)
            continue;
        rs->receive_offset = offset;
        rs->ready -= part;
        rs->freed += part;
    }
}

static int await_data(struct rsock *rs, bool nonblocking)
{
    int error;

    if (rs->state < RS_CONNECTING)
        return ENOTCONN;
    if (rs->ready > 0)
        return 0;
    error = rs_await(rs, rs_can_receive, nonblocking);
    if (error == 0 && rs->ready == 0 && rs->state == RS_FAILED)
        return ECONNRESET;
    return error;
}

static ssize_t receive_stream(struct rsock *rs, const struct msghdr *msg, int flags)
{
    struct cursor cursor;
    int error = start(&cursor, msg);
    size_t length = cursor.left;
    size_t before;

    do {
        if (error == 0 && length > 0)
            error = await_data(rs, rs_nonblocking(rs, flags));
        before = cursor.left;
        if (error == 0)
            take_ready(rs, &cursor, flags & MSG_PEEK);
    } while ((flags & MSG_WAITALL) && !(flags & MSG_PEEK) && cursor.left > 0 &&
             cursor.left < before);
    if (rs->freed >= (uint32_t)rs->option[RS_RCVBUF] / 2 && rs->receives.cq)
        rs_progress(rs);
    return error != 0 && cursor.left == length ? fail(error) : (ssize_t)(length - cursor.left);
}

ssize_t rrecvmsg(int socket, struct msghdr *msg, int flags)
{
    struct rsock *rs = rs_find(socket);
    ssize_t result;

    if (!rs)
        return -1;
    if (rs->type == SOCK_DGRAM)
        return recvmsg(socket, msg, flags);
    if (msg->msg_control && msg->msg_controllen > 0)
        return fail(ENOTSUP);
    (void)pthread_mutex_lock(&rs->lock);
    result = receive_stream(rs, msg, flags);
    (void)pthread_mutex_unlock(&rs->lock);
    msg->msg_flags = 0;
    if (result > 0 && msg->msg_name)
        (void)rgetpeername(socket, msg->msg_name, &msg->msg_namelen);
    return result;
}

ssize_t rrecvfrom(int socket, void *buf, size_t len, int flags, struct sockaddr *src_addr,
                  socklen_t *addrlen)
{
    struct iovec iov = {buf, len};
    struct msghdr msg = {.msg_name = src_addr,
                         .msg_namelen = src_addr && addrlen ? *addrlen : 0,
                         .msg_iov = &iov,
                         .msg_iovlen = 1};
    ssize_t result = rrecvmsg(socket, &msg, flags);

    if (result >= 0 && src_addr && addrlen)
        *addrlen = msg.msg_namelen;
    return result;
}

ssize_t rrecv(int socket, void *buf, size_t len, int flags)
{
    return rrecvfrom(socket, buf, len, flags, NULL, NULL);
}

ssize_t rread(int socket, void *buf, size_t count)
{
    return rrecvfrom(socket, buf, count, 0, NULL, NULL);
}

ssize_t rreadv(int socket, const struct iovec *iov, int iovcnt)
{
    struct msghdr msg = {.msg_iov = (struct iovec *)(uintptr_t)iov, .msg_iovlen = (size_t)iovcnt};

    return iovcnt < 0 ? fail(EINVAL) : rrecvmsg(socket, &msg, 0);
}
