/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls with arguments that the kernel refuses, or that leave it nothing to do. */
#include "hooks/sdp_hooks_kit.h"

#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

static char buffer[1 << 16];
static void *volatile missing = (void *)8; /* the compiler refuses such arguments */
static volatile int none = -1;

/* read does not wait for data if it has no room for any; recv does. */
static void no_octets(void)
{
    struct sdp_hooks_pair pair;
    struct iovec parts[2] = {{buffer, 0}, {buffer, 0}};

    sdp_hooks_open(&pair);
    SAY(read(pair.server, buffer, 0));
    SAY(read(pair.server, NULL, 0));
    SAY(readv(pair.server, parts, 2));
    SAY(readv(pair.server, NULL, 0));
    SAY(writev(pair.server, parts, 2));
    SAY(recv(pair.server, buffer, 0, MSG_DONTWAIT));
    SAY(write(pair.client, "a", 1));
    SAY(recv(pair.server, buffer, 0, 0));
    SAY(recv(pair.server, buffer, 2, 0));
    sdp_hooks_close(&pair);
}

static void long_vectors(void)
{
    static struct iovec parts[IOV_MAX + 1];
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = IOV_MAX + 1};
    struct sdp_hooks_pair pair;

    for (int i = 0; i <= IOV_MAX; i++)
        parts[i] = (struct iovec){buffer + i, 1};
    sdp_hooks_open(&pair);
    SAY(writev(pair.client, parts, IOV_MAX + 1));
    SAY(writev(pair.client, parts, none));
    SAY(readv(pair.server, parts, IOV_MAX + 1));
    SAY(readv(pair.server, parts, none));
    SAY(sendmsg(pair.client, &message, 0));
    SAY(recvmsg(pair.server, &message, MSG_DONTWAIT));
    message.msg_iovlen = 2;
    parts[0].iov_len = SIZE_MAX;
    SAY(writev(pair.client, parts, 2));
    SAY(readv(pair.server, parts, 2));
    SAY(sendmsg(pair.client, &message, 0));
    SAY(recvmsg(pair.server, &message, MSG_DONTWAIT));
    SAY(recv(pair.server, buffer, 1, MSG_DONTWAIT));
    sdp_hooks_close(&pair);
}

static void names_in(int fd)
{
    struct sockaddr_storage name;
    socklen_t length = (socklen_t)-4;

    SAY(getsockname(fd, (struct sockaddr *)&name, &length));
    SAY(getpeername(fd, (struct sockaddr *)&name, &length));
    length = sizeof(name);
    SAY(getsockname(fd, missing, &length));
    SAY(getpeername(fd, (struct sockaddr *)&name, missing));
}

static void options_in(int fd)
{
    socklen_t length = sizeof(int);

    SAY(getsockopt(fd, SOL_SOCKET, SO_TYPE, missing, &length));
    SAY(getsockopt(fd, SOL_SOCKET, SO_TYPE, buffer, missing));
    SAY(getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, missing, &length));
    SAY(setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, missing, sizeof(int)));
    SAY(setsockopt(fd, IPPROTO_TCP, TCP_CORK, missing, sizeof(int)));
    SAY(setsockopt(fd, SOL_SOCKET, SO_LINGER, missing, sizeof(struct linger)));
    SAY(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, missing, sizeof(struct timeval)));
    SAY(ioctl(fd, FIONREAD, missing));
    SAY(ioctl(fd, FIONBIO, missing));
}

static void waits_in(int fd)
{
    struct timeval now = {0, 0};
    struct timespec never = {0, -1};
    struct pollfd polls = {.fd = fd, .events = POLLIN};
    int set = epoll_create1(EPOLL_CLOEXEC);

    SAY(poll(missing, 1, 0));
    SAY(ppoll(&polls, 1, &never, NULL));
    SAY(select(fd + 1, missing, NULL, NULL, &now));
    SAY(epoll_ctl(set, EPOLL_CTL_ADD, fd, missing));
    SAY(close(set));
}

static void missing_arguments(void)
{
    struct sdp_hooks_pair pair;
    int file = open("/dev/zero", O_RDONLY | O_CLOEXEC);

    sdp_hooks_open(&pair);
    names_in(pair.server);
    options_in(pair.server);
    waits_in(pair.server);
    SAY(sendfile(pair.server, file, missing, 3));
    SAY(close(file));
    sdp_hooks_close(&pair);
}

static void *page_with(const void *octets, size_t size)
{
    void *page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return page == MAP_FAILED ? NULL : memcpy(page, octets, size);
}

static void missing_arrays(void)
{
    struct iovec part = {buffer, 1};
    struct mmsghdr messages[2] = {{.msg_hdr = {.msg_iov = &part, .msg_iovlen = 1}}};
    struct epoll_event event = {.events = EPOLLIN};
    struct sdp_hooks_pair pair;
    struct mmsghdr *read_only = page_with(&messages[0], sizeof(messages[0]));
    int set = epoll_create1(EPOLL_CLOEXEC);

    sdp_hooks_open(&pair);
    SAY(epoll_ctl(set, EPOLL_CTL_ADD, pair.server, &event));
    SAY(epoll_wait(set, missing, 1, 0));
    SAY(write(pair.client, "abcdef", 6));
    sdp_hooks_await("in", pair.server, POLLIN, POLLIN);
    SAY(epoll_wait(set, missing, 1, 5000));
    SAY(epoll_wait(set, &event, 1, 0));
    SAY(recvfrom(pair.server, buffer, 1, 0, (struct sockaddr *)buffer, missing));
    SAY(recvfrom(pair.server, buffer, 1, 0, (struct sockaddr *)buffer, NULL));
    SAY(recvfrom(pair.server, buffer, 1, 0, NULL, missing));
    SAY(recvmmsg(pair.server, missing, 1, 0, NULL));
    SAY(recvmmsg(pair.server, messages, 1, 0, NULL));
    SAY(sendmmsg(pair.server, missing, 1, 0));
    SAY(sendmmsg(pair.server, messages, 1, 0));
    SAY(recv(pair.server, buffer, 10, 0));
    SAY(recv(pair.client, buffer, 10, 0));
    if (!read_only || mprotect(read_only, (size_t)sysconf(_SC_PAGESIZE), PROT_READ) != 0)
        return;
    SAY(sendmmsg(pair.server, read_only, 1, 0)); /* on TCP the octet has left */
    SAY(write(pair.client, "g", 1));
    SAY(recvmmsg(pair.server, read_only, 1, 0, NULL));
    SAY(munmap(read_only, (size_t)sysconf(_SC_PAGESIZE)));
    SAY(close(set));
    sdp_hooks_close(&pair);
}

/* What is no end of a pipe, or the wrong one, takes no octets. */
static void no_pipes(void)
{
    struct sdp_hooks_pair pair;
    int ends[2] = {-1, -1};
    int file = open("/dev/null", O_RDWR | O_CLOEXEC);
    loff_t offset = 0;

    sdp_hooks_open(&pair);
    SAY(pipe(ends));
    SAY(write(pair.client, "abcdef", 6));
    sdp_hooks_await("in", pair.server, POLLIN, POLLIN);
    SAY(splice(pair.server, &offset, ends[1], NULL, 3, 0));
    SAY(splice(pair.server, NULL, ends[1], &offset, 3, 0));
    SAY(splice(pair.server, NULL, file, NULL, 3, 0));
    SAY(splice(file, NULL, pair.client, NULL, 3, 0));
    SAY(splice(pair.server, NULL, pair.client, NULL, 3, 0));
    SAY(splice(pair.server, NULL, ends[0], NULL, 3, 0));
    SAY(splice(ends[1], NULL, pair.client, NULL, 3, 0));
    SAY(splice(pair.server, NULL, -1, NULL, 3, 0));
    SAY(splice(pair.server, NULL, ends[1], NULL, 3, 0x100));
    SAY(recv(pair.server, buffer, 10, 0));
    sdp_hooks_close(&pair);
}

static void full_pipe(void)
{
    struct sdp_hooks_pair pair;
    int ends[2] = {-1, -1};

    sdp_hooks_open(&pair);
    SAY(pipe(ends));
    SAY(fcntl(ends[1], F_SETPIPE_SZ, 4096));
    SAY(write(ends[1], buffer, 4096));
    SAY(write(pair.client, "abcdef", 6));
    sdp_hooks_await("in", pair.server, POLLIN, POLLIN);
    SAY(splice(pair.server, NULL, ends[1], NULL, 3, SPLICE_F_NONBLOCK));
    SAY(recv(pair.server, buffer, 10, 0));
    sdp_hooks_close(&pair);
}

/* A connection that both ends have finished has no peer. */
static void no_peer(void)
{
    struct sdp_hooks_pair pair;
    struct sockaddr_storage name;
    socklen_t length = sizeof(name);

    sdp_hooks_open(&pair);
    SAY(shutdown(pair.client, SHUT_WR));
    SAY(recv(pair.server, buffer, 1, 0));
    SAY(getpeername(pair.server, (struct sockaddr *)&name, &length));
    SAY(shutdown(pair.server, SHUT_WR));
    sdp_hooks_await_over(&pair);
    SAY(getpeername(pair.server, (struct sockaddr *)&name, &length));
    SAY(getsockname(pair.server, (struct sockaddr *)&name, &length));
    sdp_hooks_close(&pair);
}

const struct sdp_hooks_named sdp_hooks_bad[] = {{"no_octets", no_octets},
                                                {"long_vectors", long_vectors},
                                                {"missing_arguments", missing_arguments},
                                                {"missing_arrays", missing_arrays},
                                                {"no_pipes", no_pipes},
                                                {"full_pipe", full_pipe},
                                                {"no_peer", no_peer},
                                                {NULL, NULL}};
