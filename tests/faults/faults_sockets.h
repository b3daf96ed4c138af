/* SPDX-License-Identifier: BSD-2-Clause */
/* faults_sockets.h - a scenario over stream sockets, whatever functions they have. */
#ifndef ITAPI_TESTS_FAULTS_SOCKETS_H
#define ITAPI_TESTS_FAULTS_SOCKETS_H

#include "faults/faults_find.h"

#include <poll.h>
#include <sys/socket.h>

struct socket_calls {
    int (*socket)(int domain, int type, int protocol);
    int (*bind)(int fd, const struct sockaddr *address, socklen_t length);
    int (*listen)(int fd, int backlog);
    int (*accept)(int fd, struct sockaddr *address, socklen_t *length);
    int (*connect)(int fd, const struct sockaddr *address, socklen_t length);
    int (*name)(int fd, struct sockaddr *address, socklen_t *length);
    ssize_t (*send)(int fd, const void *data, size_t length, int flags);
    ssize_t (*receive)(int fd, void *data, size_t length, int flags);
    int (*poll)(struct pollfd *fds, nfds_t count, int timeout_ms);
    int (*get_option)(int fd, int level, int option, void *value, socklen_t *length);
    /* NULL: there are no time limits. */
    int (*set_option)(int fd, int level, int option, const void *value, socklen_t length);
    int (*shutdown)(int fd, int how);
    int (*close)(int fd);
    int (*set_waiting)(int fd, bool waits);
};

struct socket_pair {
    int listener, client, server; /* -1: not open */
};

/* Each failure of a call must be one that a fault explains. strict: nothing may fail. */
void sockets_begin(const struct socket_calls *calls, bool strict);
void sockets_stage(const char *stage);
const char *sockets_get_stage(void);

bool sockets_open(struct socket_pair *pair);
void sockets_close(struct socket_pair *pair);
/* Small and long data, without and with waiting, in both directions; the end of the stream. */
void sockets_traffic(const struct socket_pair *pair);
/* Somebody connects to nobody. */
void sockets_refused(void);
/*
 * Exchanges data on a connection that no fault has touched. A call may lack memory, unless
 * this is the last ping.
 */
void sockets_ping(const struct socket_pair *pair, bool last);

#endif /* ITAPI_TESTS_FAULTS_SOCKETS_H */
