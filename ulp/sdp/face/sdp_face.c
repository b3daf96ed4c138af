/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The face is one of a pair of datagram sockets, whose two ends can differ more than those of a
 * stream. How each event is shown:
 *
 * | shown    | by                                                                            |
 * | POLLIN   | datagrams of no octets in the face's queue, so that a read finds end of file  |
 * | POLLOUT  | the room in the face's send buffer: a datagram that stays in the hand's queue |
 * |          | is charged to it, and the buffer is made smaller or larger than that          |
 * | RDHUP    | shutdown of the face for reading                                              |
 * | HUP      | shutdown of the face for both                                                 |
 * | ERR      | the hand disconnects with that datagram unread: ECONNRESET                    |
 *
 * The hand is shut down for reading, so a write to the face fails with EPIPE.
 */
#include "face/sdp_face.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define WEIGHT    1024 /* octets of the datagram in the hand's queue */
#define NO_ROOM   1    /* send buffer: the kernel's least, less than four times what WEIGHT takes */
#define ROOM      8192
#define MARKS_MAX 8
#define FOR_GOOD  (POLLRDHUP | POLLHUP | POLLERR)

static void set_room(int fd, int octets)
{
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &octets, sizeof(octets));
}

int sdp_face_open(struct sdp_face *face, int *fd)
{
    static const char weight[WEIGHT];
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0)
        return -errno;
    if (send(pair[0], weight, sizeof(weight), 0) < 0 || shutdown(pair[1], SHUT_RD) < 0) {
        int error = errno;

        (void)close(pair[0]);
        (void)close(pair[1]);
        return -error;
    }
    set_room(pair[0], NO_ROOM);
    *face = (struct sdp_face){.hand = pair[1]};
    *fd = pair[0];
    return 0;
}

/*
 * Adds a datagram; drops the oldest if there are too many. recv of no octets does no harm on
 * another file.
 */
static void mark(struct sdp_face *face, int fd)
{
    if (send(face->hand, "", 0, MSG_NOSIGNAL) == 0 && ++face->marks > MARKS_MAX) {
        (void)recv(fd, NULL, 0, MSG_DONTWAIT);
        face->marks--;
    }
}

static void unmark(struct sdp_face *face, int fd)
{
    while (face->marks > 0 && recv(fd, NULL, 0, MSG_DONTWAIT) == 0)
        face->marks--;
    face->marks = 0;
}

/* Shows events that stay once shown. */
static void end(struct sdp_face *face, int fd, unsigned events)
{
    static const struct sockaddr nobody = {.sa_family = AF_UNSPEC};

    mark(face, fd); /* for SIGIO */
    if (events & POLLERR)
        (void)connect(face->hand, &nobody, sizeof(nobody));
    (void)shutdown(fd, events & POLLHUP ? SHUT_RDWR : SHUT_RD);
}

void sdp_face_show(struct sdp_face *face, int fd, unsigned events, unsigned news)
{
    unsigned gone;
    unsigned come;

    events |= face->shown & (POLLRDHUP | POLLHUP);
    if (events & FOR_GOOD)
        events |= POLLIN | POLLRDHUP;
    come = events & (~face->shown | news);
    gone = face->shown & ~events;
    if (come & POLLOUT)
        set_room(fd, ROOM);
    if (gone & POLLOUT)
        set_room(fd, NO_ROOM);
    if (come & FOR_GOOD)
        end(face, fd, events);
    else if (come & POLLIN && events & POLLRDHUP)
        (void)shutdown(fd, SHUT_RD); /* wakes waiting threads */
    else if (come & POLLIN)
        mark(face, fd);
    if (gone & POLLIN)
        unmark(face, fd);
    face->shown = events;
}

void sdp_face_error_read(struct sdp_face *face, int fd)
{
    int error;
    socklen_t length = sizeof(error);

    (void)getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length);
    face->shown &= ~(unsigned)POLLERR;
}

void sdp_face_close(struct sdp_face *face)
{
    (void)close(face->hand);
    face->hand = -1;
}
