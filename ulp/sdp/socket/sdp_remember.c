/* SPDX-License-Identifier: BSD-2-Clause */
#include "socket/sdp_remember.h"

#include "connection/sdp_connection.h"
#include "socket/sdp_socket.h"

#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

/* What setsockopt does with a value. */
enum form {
    SWITCH,
    AT_LEAST_ONE,
    DOUBLED /* the kernel doubles the size, for its own data */
};

static const struct {
    int level;
    int name;
    enum form form;
    int option; /* enum sdp_option; below 0: of no effect on the connection */
} table[SDP_REMEMBERED] = {{IPPROTO_TCP, TCP_NODELAY, SWITCH, -1},
                           {IPPROTO_TCP, TCP_CORK, SWITCH, SDP_CORK},
                           {SOL_SOCKET, SO_OOBINLINE, SWITCH, SDP_OOB_INLINE},
                           {SOL_SOCKET, SO_RCVLOWAT, AT_LEAST_ONE, SDP_LOW_WATER},
                           {SOL_SOCKET, SO_SNDBUF, DOUBLED, SDP_SEND_BUFFER},
                           {SOL_SOCKET, SO_RCVBUF, DOUBLED, -1}};

void sdp_remember_read(struct sdp_socket *socket, int fd)
{
    for (int i = 0; i < SDP_REMEMBERED; i++) {
        socklen_t length = sizeof(socket->remembered[i]);

        (void)getsockopt(fd, table[i].level, table[i].name, &socket->remembered[i], &length);
    }
}

/* The connection chooses the size of its send buffer unless the program sets one. */
void sdp_remember_apply(struct sdp_socket *socket)
{
    for (int i = 0; i < SDP_REMEMBERED; i++)
        if (table[i].option >= 0 && table[i].form != DOUBLED)
            (void)sdp_set_option(socket->connection, (enum sdp_option)table[i].option,
                                 socket->remembered[i]);
}

int sdp_remember_find(int level, int name)
{
    for (int i = 0; i < SDP_REMEMBERED; i++)
        if (table[i].level == level && table[i].name == name)
            return i;
    return -1;
}

int sdp_remember_set(struct sdp_socket *socket, int which, int value)
{
    if (table[which].form == SWITCH)
        value = value != 0;
    else if (table[which].form == AT_LEAST_ONE)
        value = value < 0 ? INT_MAX : value > 0 ? value : 1;
    else
        value = value > INT_MAX / 2 ? INT_MAX : value * 2;
    socket->remembered[which] = value;
    return table[which].option < 0
               ? 0
               : sdp_set_option(socket->connection, (enum sdp_option)table[which].option, value);
}
