/* SPDX-License-Identifier: BSD-2-Clause */
/* Options of a converted socket: saving the owner's, setting those MPA needs, restoring. */
#include "vp/uiwarp/connect/uiw_conn_private.h"

#include <netinet/in.h>
#include <netinet/tcp.h>

static void options_get(int fd, int level, int option, int *value)
{
    socklen_t length = sizeof(*value);

    *value = 0;
    (void)getsockopt(fd, level, option, value, &length); /* cannot fail: a TCP socket */
}

/* If this fails, the stream is only slower. */
static void options_set(int fd, int level, int option, int value)
{
    (void)setsockopt(fd, level, option, &value, sizeof(value));
}

void uiw_options_borrow(struct uiw_conn *conn)
{
    struct uiw_socket_options *options = &conn->options;
    socklen_t length = sizeof(options->linger);

    options_get(conn->fd, IPPROTO_TCP, TCP_NODELAY, &options->nodelay);
    options_get(conn->fd, IPPROTO_TCP, TCP_CORK, &options->cork);
    options_get(conn->fd, SOL_SOCKET, SO_RCVLOWAT, &options->lowat);
    (void)getsockopt(conn->fd, SOL_SOCKET, SO_LINGER, &options->linger, &length);
    /* Otherwise a short Request would not wake the loop. */
    if (options->lowat > 1)
        options_set(conn->fd, SOL_SOCKET, SO_RCVLOWAT, 1);
}

void uiw_options_change(int fd)
{
    struct linger none = {.l_onoff = 0};

    options_set(fd, IPPROTO_TCP, TCP_CORK, 0);
    options_set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    /* close(2) of the last descriptor, which may be this copy, must neither wait nor reset. */
    (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
}

void uiw_options_restore(const struct uiw_conn *conn)
{
    const struct uiw_socket_options *options = &conn->options;

    if (options->lowat > 1)
        options_set(conn->fd, SOL_SOCKET, SO_RCVLOWAT, options->lowat);
    if (conn->state != UIW_CONN_NEXT_REQUEST)
        return; /* nothing else was changed */
    options_set(conn->fd, IPPROTO_TCP, TCP_NODELAY, options->nodelay);
    options_set(conn->fd, IPPROTO_TCP, TCP_CORK, options->cork);
    (void)setsockopt(conn->fd, SOL_SOCKET, SO_LINGER, &options->linger, sizeof(options->linger));
}
