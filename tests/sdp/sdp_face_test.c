/* SPDX-License-Identifier: BSD-2-Clause */
/* What a face shows to poll and to epoll, and what calls find that bypass the hooks. */
#include "face/sdp_face.h"

#include "support/check.h"

#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define ALL (POLLIN | POLLOUT | POLLPRI | POLLRDHUP)

static struct sdp_face face;
static int fd;
static int set;

static unsigned polled(void)
{
    struct pollfd one = {.fd = fd, .events = ALL};

    (void)poll(&one, 1, 0);
    return (unsigned)one.revents;
}

/* Returns the events since the last call, edge-triggered. */
static unsigned told(void)
{
    struct epoll_event event = {.events = 0};

    return epoll_wait(set, &event, 1, 0) == 1 ? event.events : 0;
}

static void expect(unsigned events, unsigned news, unsigned shown, unsigned edge)
{
    sdp_face_show(&face, fd, events, news);
    EXPECT_EQ(shown, polled());
    EXPECT_EQ(edge, told());
    EXPECT_EQ(0, told());
}

static void escapes(void)
{
    char octet;

    EXPECT(write(fd, "x", 1) < 0 && errno == EPIPE);
    EXPECT(send(fd, "x", 1, MSG_NOSIGNAL) < 0 && (errno == EPIPE || errno == EAGAIN));
    EXPECT(read(fd, &octet, 1) <= 0);
}

int main(void)
{
    struct epoll_event event = {.events = EPOLLET | ALL};

    CHECK_EQ(0, sdp_face_open(&face, &fd));
    set = epoll_create1(EPOLL_CLOEXEC);
    CHECK(set >= 0 && epoll_ctl(set, EPOLL_CTL_ADD, fd, &event) == 0);

    expect(0, 0, 0, 0);
    expect(POLLOUT, 0, POLLOUT, POLLOUT);
    expect(POLLOUT, 0, POLLOUT, 0);
    expect(POLLOUT, POLLOUT, POLLOUT, POLLOUT);
    expect(POLLIN | POLLOUT, 0, POLLIN | POLLOUT, POLLIN | POLLOUT);
    for (int i = 0; i < 30; i++)
        expect(POLLIN | POLLOUT, POLLIN, POLLIN | POLLOUT, POLLIN | POLLOUT);
    expect(POLLIN, 0, POLLIN, 0);
    expect(0, 0, 0, 0);
    expect(POLLOUT, 0, POLLOUT, POLLOUT);
    escapes();

    expect(POLLOUT | POLLIN | POLLRDHUP, 0, POLLOUT | POLLIN | POLLRDHUP,
           POLLOUT | POLLIN | POLLRDHUP);
    expect(POLLOUT | POLLIN | POLLRDHUP, POLLIN, POLLOUT | POLLIN | POLLRDHUP,
           POLLOUT | POLLIN | POLLRDHUP);
    expect(POLLIN | POLLRDHUP, 0, POLLIN | POLLRDHUP, 0);
    escapes();
    expect(POLLOUT | POLLHUP, 0, (ALL & ~POLLPRI) | POLLHUP, (ALL & ~POLLPRI) | POLLHUP);
    expect(POLLOUT | POLLHUP | POLLERR, 0, (ALL & ~POLLPRI) | POLLHUP | POLLERR,
           (ALL & ~POLLPRI) | POLLHUP | POLLERR);
    sdp_face_error_read(&face, fd);
    EXPECT_EQ((ALL & ~POLLPRI) | POLLHUP, polled());
    escapes();

    sdp_face_close(&face);
    CHECK(close(fd) == 0 && close(set) == 0);
    check_done();
    return 0;
}
