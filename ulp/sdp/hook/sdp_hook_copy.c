/* SPDX-License-Identifier: BSD-2-Clause */
/* sendfile and splice with a socket that is not the kernel's: by copying. */
#include "hook/sdp_hook.h"

#include "guard/sdp_guard.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/sendfile.h>
#include <unistd.h>

#define COPY_MAX     65536
#define SPLICE_FLAGS (SPLICE_F_MOVE | SPLICE_F_NONBLOCK | SPLICE_F_MORE | SPLICE_F_GIFT)

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Returns true for a socket whose octets the kernel does not have; decides an undecided one. */
static bool is_converted(int fd, bool writes)
{
    struct iovec none = {NULL, 0};
    ssize_t result;

    if (sdp_is_kernels(fd))
        return false;
    SDP_IN_REGION(result, writes ? sdp_data_send(fd, &none, 1, 0)
                                 : sdp_data_receive(fd, &none, 1, MSG_PEEK | MSG_DONTWAIT));
    return result != SDP_KERNEL;
}

/* Returns where sendfile begins to read; below 0: it fails, as the kernel's does. */
static off_t start_of(int from, const off_t *offset, size_t count)
{
    int mode = fcntl(from, F_GETFL);
    off_t at;

    if (mode < 0 || mode & O_PATH || (mode & O_ACCMODE) == O_WRONLY) {
        errno = EBADF;
        return -1;
    }
    at = offset ? *offset : lseek(from, 0, SEEK_CUR);
    if (at < 0 ? offset || errno == ESPIPE : count > SSIZE_MAX) {
        errno = EINVAL;
        return -1;
    }
    return at;
}

/* The error of sendfile for one of pread or write. */
static int error_of(int error, const off_t *offset)
{
    return error == EISDIR || (error == ESPIPE && !offset) ? EINVAL : error;
}

/* Copies from a file that can be read again, so that octets that are not sent are not lost. */
ssize_t sendfile(int to, int from, off_t *offset, size_t count)
{
    char buffer[COPY_MAX];
    off_t at;
    size_t done = 0;
    ssize_t got = 0;
    ssize_t sent = 0;

    if (sdp_is_kernels(to) || !is_converted(to, true))
        return SDP_NEXT(sendfile)(to, from, offset, count);
    if (offset && !sdp_guard_present(offset, sizeof(*offset), true)) {
        errno = EFAULT;
        return -1;
    }
    at = start_of(from, offset, count);
    if (at < 0)
        return -1;
    while (done < count) {
        got = pread(from, buffer, smaller(count - done, sizeof(buffer)), at + (off_t)done);
        sent = got > 0 ? write(to, buffer, (size_t)got) : got;
        if (sent <= 0)
            break;
        done += (size_t)sent;
        if (sent < got)
            break;
    }
    if (done == 0 && sent < 0) {
        errno = error_of(errno, offset);
        return -1;
    }
    if (offset)
        *offset = at + (off_t)done;
    else
        (void)lseek(from, at + (off_t)done, SEEK_SET);
    return (ssize_t)done;
}

ssize_t sendfile64(int to, int from, off64_t *offset, size_t count)
{
    return sendfile(to, from, offset, count);
}

/* Returns true if the next call finds what it needs, or waits for it; otherwise sets errno. */
static bool is_ready(int pipe, short events, unsigned flags)
{
    struct pollfd polls = {.fd = pipe, .events = events};

    if (!(flags & SPLICE_F_NONBLOCK) || poll(&polls, 1, 0) != 0)
        return true;
    errno = EAGAIN;
    return false;
}

/* From a socket: peeks at the octets, and reads as many as the pipe has taken. */
static ssize_t splice_in(int socket, int pipe, size_t size, unsigned flags)
{
    char buffer[COPY_MAX];
    ssize_t got;
    ssize_t put;

    if (!is_ready(pipe, POLLOUT, flags))
        return -1;
    got = recv(socket, buffer, smaller(size, sizeof(buffer)),
               MSG_PEEK | (flags & SPLICE_F_NONBLOCK ? MSG_DONTWAIT : 0));
    if (got <= 0)
        return got;
    put = write(pipe, buffer, smaller((size_t)got, PIPE_BUF));
    return put <= 0 ? put : recv(socket, buffer, (size_t)put, 0);
}

/* To a socket: sends a copy of the pipe's contents (tee), and reads as much from the pipe. */
static ssize_t splice_out(int pipe, int socket, size_t size, unsigned flags)
{
    char buffer[COPY_MAX];
    int copy[2];
    ssize_t got;
    ssize_t sent = -1;

    if (pipe2(copy, O_CLOEXEC) < 0)
        return -1;
    got = tee(pipe, copy[1], smaller(size, sizeof(buffer)), flags & SPLICE_F_NONBLOCK);
    if (got > 0) {
        got = read(copy[0], buffer, (size_t)got);
        sent = send(socket, buffer, (size_t)got,
                    (flags & SPLICE_F_NONBLOCK ? MSG_DONTWAIT : 0) |
                        (flags & SPLICE_F_MORE ? MSG_MORE : 0));
    } else
        sent = got;
    (void)close(copy[0]);
    (void)close(copy[1]);
    return sent > 0 ? read(pipe, buffer, (size_t)sent) : sent;
}

/* Returns 0, or why the kernel refuses to move octets between this end of a pipe and a socket. */
static int why_no_pipe(int pipe, int access)
{
    int mode = fcntl(pipe, F_GETFL);

    if (mode < 0 || ((mode & O_ACCMODE) != access && (mode & O_ACCMODE) != O_RDWR))
        return EBADF;
    return fcntl(pipe, F_GETPIPE_SZ) < 0 ? EINVAL : 0;
}

ssize_t splice(int from, off64_t *from_offset, int to, off64_t *to_offset, size_t size,
               unsigned flags)
{
    bool in = is_converted(from, false);
    bool out = !in && is_converted(to, true);
    int error;

    if ((!in && !out) || size == 0 || flags & ~(unsigned)SPLICE_FLAGS)
        return SDP_NEXT(splice)(from, from_offset, to, to_offset, size, flags);
    error = in ? why_no_pipe(to, O_WRONLY) : why_no_pipe(from, O_RDONLY);
    if (error == 0 && (in ? to_offset : from_offset))
        error = ESPIPE; /* a pipe has no positions, nor has a socket */
    else if (error == 0 && (from_offset || to_offset))
        error = EINVAL;
    if (error != 0) {
        errno = error;
        return -1;
    }
    return in ? splice_in(from, to, size, flags) : splice_out(from, to, size, flags);
}
