/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fdopen on a socket: libc reads and writes its streams internally, so these get functions of this
 * library.
 */
#include "hook/sdp_hook.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static ssize_t read_stream(void *cookie, char *buffer, size_t size)
{
    return read((int)(intptr_t)cookie, buffer, size);
}

/* Writes everything: libc counts a short write as an error. */
static ssize_t write_stream(void *cookie, const char *buffer, size_t size)
{
    size_t done = 0;

    while (done < size) {
        ssize_t sent = write((int)(intptr_t)cookie, buffer + done, size - done);

        if (sent < 0)
            return done > 0 ? (ssize_t)done : 0;
        done += (size_t)sent;
    }
    return (ssize_t)done;
}

static int seek_stream(void *cookie, off64_t *offset, int whence)
{
    (void)cookie;
    (void)offset;
    (void)whence;
    errno = ESPIPE;
    return -1;
}

static int close_stream(void *cookie)
{
    return close((int)(intptr_t)cookie);
}

static FILE *open_stream(int fd, const char *mode)
{
    static const cookie_io_functions_t functions = {
        .read = read_stream, .write = write_stream, .seek = seek_stream, .close = close_stream};
    FILE *stream = fopencookie((void *)(intptr_t)fd, mode, functions);

    if (stream)
        stream->_fileno = fd; /* for fileno */
    return stream;
}

FILE *fdopen(int fd, const char *mode)
{
    FILE *stream;

    if (sdp_inside() || sdp_table_kind(fd) != SDP_NUMBER_SOCKET)
        return SDP_NEXT(fdopen)(fd, mode);
    stream = open_stream(fd, mode);
    if (stream && strchr(mode, 'e'))
        (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    return stream;
}

/* The new stream also serves whatever the number refers to later. */
void sdp_stream_over(int number)
{
    FILE **const streams[] = {&stdin, &stdout, &stderr};
    static FILE *ours[3];

    if (ours[number])
        return;
    ours[number] = open_stream(number, number == STDIN_FILENO ? "r" : "w");
    if (!ours[number])
        return;
    if (number == STDERR_FILENO)
        (void)setvbuf(ours[number], NULL, _IONBF, 0);
    *streams[number] = ours[number];
}

FILE *_IO_fdopen(int fd, const char *mode)
{
    return fdopen(fd, mode);
}
