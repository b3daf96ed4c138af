/* SPDX-License-Identifier: BSD-2-Clause */
/* syscall(2): programs and languages that make calls by their numbers. */
#include "hooks/sdp_hooks_kit.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static char buffer[4096];

/* Numbers of descriptors need not be the same, so only success is compared. */
#define GIVES(call) SAY((call) >= 0)

static void numbered_data(void)
{
    struct sdp_hooks_pair pair;
    struct iovec parts[2] = {{buffer, 3}, {buffer + 3, 100}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    struct mmsghdr messages[1] = {{.msg_hdr = message}};
    off_t before = -1;
    int pipes[2], file;

    sdp_hooks_open(&pair);
    SAY(syscall(SYS_sendto, pair.client, "abcdefghij", 10, 0, NULL, 0));
    SAY(syscall(SYS_recvfrom, pair.server, buffer, 10, MSG_WAITALL, NULL, NULL));
    SAY(syscall(SYS_writev, pair.client, parts, 2));
    SAY(syscall(SYS_recvfrom, pair.server, buffer, 103, MSG_WAITALL, NULL, NULL));
    SAY(syscall(SYS_sendmsg, pair.client, &message, 0));
    SAY(syscall(SYS_recvmsg, pair.server, &message, MSG_WAITALL));
    SAY(syscall(SYS_sendmmsg, pair.client, messages, 1, 0));
    SAY(syscall(SYS_recvmmsg, pair.server, messages, 1, MSG_WAITALL, NULL));
    SAY(syscall(SYS_write, pair.client, buffer, 103));
    SAY(syscall(SYS_readv, pair.server, parts, 2) > 0);
    sdp_hooks_close(&pair);

    sdp_hooks_open(&pair);
    SAY(pipe(pipes));
    SAY(write(pipes[1], "spliced", 7));
    SAY(syscall(SYS_splice, pipes[0], NULL, pair.client, NULL, 7, 0));
    SAY(syscall(SYS_recvfrom, pair.server, buffer, 7, MSG_WAITALL, NULL, NULL));
    sdp_hooks_note("%.7s", buffer);
    SAY(syscall(SYS_sendfile, pair.client, pipes[0], NULL, 7));
    file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    SAY(syscall(SYS_sendfile, pair.client, file, &before, 7));
    (void)close(file);
    (void)close(pipes[0]);
    (void)close(pipes[1]);
    sdp_hooks_close(&pair);
}

static void numbered_sockets(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    struct sockaddr_in peer;
    socklen_t length = sizeof(address);
    socklen_t peer_length = sizeof(peer);
    int listener, client, server, value = 1;
    socklen_t value_length = sizeof(value);

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    listener = (int)syscall(SYS_socket, AF_INET, SOCK_STREAM, 0);
    SAY(syscall(SYS_setsockopt, listener, SOL_SOCKET, SO_REUSEADDR, &value, sizeof(value)));
    SAY(bind(listener, (struct sockaddr *)&address, sizeof(address)));
    SAY(syscall(SYS_listen, listener, 4));
    SAY(syscall(SYS_getsockname, listener, &address, &length));
    client = (int)syscall(SYS_socket, AF_INET, SOCK_STREAM, 0);
    SAY(syscall(SYS_connect, client, &address, sizeof(address)));
    server = (int)syscall(SYS_accept4, listener, NULL, NULL, SOCK_CLOEXEC);
    GIVES(server);
    SAY(syscall(SYS_getpeername, client, &peer, &peer_length));
    SAY(peer.sin_port == address.sin_port);
    SAY(syscall(SYS_getsockopt, client, SOL_SOCKET, SO_TYPE, &value, &value_length));
    sdp_hooks_note("%d %u", value, value_length);
    SAY(syscall(SYS_shutdown, client, SHUT_WR));
    SAY(syscall(SYS_read, server, buffer, 1));
    SAY(syscall(SYS_close, server));
    SAY(syscall(SYS_close, client));
    client = (int)syscall(SYS_socket, AF_INET, SOCK_STREAM, 0);
    SAY(syscall(SYS_connect, client, &address, sizeof(address)));
    server = (int)syscall(SYS_accept, listener, NULL, NULL);
    GIVES(server);
    SAY(syscall(SYS_close_range, server, server, 0));
    SAY(syscall(SYS_close, client));
    SAY(syscall(SYS_close, listener));
}

static void numbered_waits(const struct sdp_hooks_pair *pair)
{
    struct pollfd polled = {.fd = pair->server, .events = POLLIN};
    struct timespec second = {.tv_sec = 1};
    struct epoll_event event = {.events = EPOLLIN};
    int set = epoll_create1(EPOLL_CLOEXEC);

    SAY(syscall(SYS_ppoll, &polled, 1, &second, NULL));
    sdp_hooks_note("%#x", (unsigned)polled.revents);
    SAY(syscall(SYS_epoll_ctl, set, EPOLL_CTL_ADD, pair->server, &event));
    SAY(syscall(SYS_epoll_pwait, set, &event, 1, 1000, NULL));
    sdp_hooks_note("%#x", event.events);
#ifdef SYS_poll
    {
        struct timeval limit = {.tv_sec = 1};
        fd_set readable;

        SAY(syscall(SYS_poll, &polled, 1, 1000));
        FD_ZERO(&readable);
        FD_SET(pair->server, &readable);
        SAY(syscall(SYS_select, pair->server + 1, &readable, NULL, NULL, &limit));
        SAY(FD_ISSET(pair->server, &readable) != 0);
        SAY(syscall(SYS_epoll_wait, set, &event, 1, 1000));
    }
#endif
    SAY(syscall(SYS_close, set));
}

static void numbered_descriptors(void)
{
    struct sdp_hooks_pair pair;
    int copy, waiting = 0;

    sdp_hooks_open(&pair);
    SAY(syscall(SYS_write, pair.client, "abc", 3));
    numbered_waits(&pair);
    SAY(syscall(SYS_ioctl, pair.server, FIONREAD, &waiting));
    sdp_hooks_note("%d", waiting);
    copy = (int)syscall(SYS_dup, pair.server);
    GIVES(copy);
    SAY(syscall(SYS_read, copy, buffer, 1));
#ifdef SYS_dup2
    SAY(syscall(SYS_dup2, pair.server, copy) == copy);
    SAY(syscall(SYS_read, copy, buffer, 1));
#endif
    SAY(syscall(SYS_dup3, pair.server, copy, O_CLOEXEC) == copy);
    SAY(syscall(SYS_read, copy, buffer, 10));
    SAY(syscall(SYS_fcntl, copy, F_SETFL, O_NONBLOCK));
    SAY(syscall(SYS_read, copy, buffer, 10));
    SAY(syscall(SYS_fcntl, copy, F_SETFL, 0));
    SAY(syscall(SYS_close, copy));
    SAY(syscall(SYS_getpid) == getpid());
    sdp_hooks_close(&pair);
}

const struct sdp_hooks_named sdp_hooks_numbered[] = {{"numbered_data", numbered_data},
                                                     {"numbered_sockets", numbered_sockets},
                                                     {"numbered_descriptors", numbered_descriptors},
                                                     {NULL, NULL}};
