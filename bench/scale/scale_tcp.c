/* SPDX-License-Identifier: BSD-2-Clause */
/* The reference: only connect and accept. */
#include "scale.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct sockaddr_in tcp_address(struct in_addr address, uint16_t port)
{
    struct sockaddr_in to;

    memset(&to, 0, sizeof(to));
    to.sin_family = AF_INET;
    to.sin_addr = address;
    to.sin_port = port;
    return to;
}

static int tcp_listener(uint16_t *port)
{
    struct sockaddr_in at = tcp_address((struct in_addr){htonl(INADDR_ANY)}, 0);
    socklen_t length = sizeof(at);
    int sd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (sd < 0 || bind(sd, (struct sockaddr *)&at, sizeof(at)) != 0 || listen(sd, 4096) != 0 ||
        getsockname(sd, (struct sockaddr *)&at, &length) != 0) {
        complain_errno("a listening socket");
        return -1;
    }
    *port = at.sin_port;
    return sd;
}

/* Closes with a reset, so that no local port stays in time-wait. */
static void tcp_close_all(const int *sds, size_t count)
{
    const struct linger hard = {.l_onoff = 1, .l_linger = 0};

    for (size_t i = 0; i < count; i++) {
        (void)setsockopt(sds[i], SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
        (void)close(sds[i]);
    }
}

static size_t tcp_connect_all(int *sds, size_t count, uint16_t port)
{
    for (size_t i = 0; i < count; i++) {
        struct sockaddr_in to = tcp_address(scale_address(i), port);

        sds[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (sds[i] < 0 || connect(sds[i], (struct sockaddr *)&to, sizeof(to)) != 0) {
            complain_errno("a TCP connection");
            return i;
        }
    }
    return count;
}

static size_t tcp_accept_all(int *sds, size_t count, int listener)
{
    for (size_t i = 0; i < count; i++) {
        sds[i] = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (sds[i] < 0) {
            complain_errno("accept");
            return i;
        }
    }
    return count;
}

bool scale_tcp_client(int channel, size_t count, double *seconds)
{
    int *sds = calloc(count, sizeof(*sds));
    uint64_t port;
    size_t done;
    double start;

    if (sds == NULL || !scale_hear(channel, &port) || !scale_meet(channel)) {
        free(sds);
        return false;
    }
    start = scale_clock();
    done = tcp_connect_all(sds, count, (uint16_t)port);
    if (done == count && !scale_meet(channel)) /* all are accepted */
        done = 0;
    *seconds = scale_clock() - start;
    tcp_close_all(sds, done);
    free(sds);
    return done == count && scale_meet(channel);
}

bool scale_tcp_server(int channel, size_t count, double *seconds)
{
    int *sds = calloc(count, sizeof(*sds));
    uint16_t port;
    int listener = tcp_listener(&port);
    size_t done = 0;
    bool good = sds != NULL && listener >= 0 && scale_tell(channel, port) && scale_meet(channel);
    double start;

    if (good) {
        start = scale_clock();
        done = tcp_accept_all(sds, count, listener);
        *seconds = scale_clock() - start;
        good = done == count && scale_meet(channel) && scale_meet(channel);
        tcp_close_all(sds, done);
    }
    if (listener >= 0)
        (void)close(listener);
    free(sds);
    return good;
}
