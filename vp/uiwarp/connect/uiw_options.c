/* SPDX-License-Identifier: BSD-2-Clause */
/* Options of a converted socket: saving the owner's, setting those MPA needs, restoring. */
#include "vp/uiwarp/connect/uiw_conn_private.h"

#include "base/base_net.h"

#include <netinet/tcp.h>

void uiw_options_borrow(struct uiw_conn *conn)
{
    base_net_get_options(conn->fd, &conn->options);
    /* Otherwise a short Request would not wake the loop. */
    if (conn->options.lowat > 1)
        base_net_set_option(conn->fd, SOL_SOCKET, SO_RCVLOWAT, 1);
}

void uiw_options_change(int fd)
{
    base_net_set_option(fd, IPPROTO_TCP, TCP_CORK, 0);
    base_net_set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    base_net_drop_linger(fd);
}

void uiw_options_restore(const struct uiw_conn *conn)
{
    const struct base_net_options *options = &conn->options;

    if (options->lowat > 1)
        base_net_set_option(conn->fd, SOL_SOCKET, SO_RCVLOWAT, options->lowat);
    if (conn->state != UIW_CONN_NEXT_REQUEST)
        return; /* nothing else was changed */
    base_net_set_option(conn->fd, IPPROTO_TCP, TCP_NODELAY, options->nodelay);
    base_net_set_option(conn->fd, IPPROTO_TCP, TCP_CORK, options->cork);
    (void)setsockopt(conn->fd, SOL_SOCKET, SO_LINGER, &options->linger, sizeof(options->linger));
}
