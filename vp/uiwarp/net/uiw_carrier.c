/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Watches the carrier. The kernel sends a message when a network interface or an address changes.
 * The IA is online if it has an address on an interface that runs, as it_ia_query shows. The
 * contents of the messages are not used, so some may be lost.
 */
#include "vp/uiwarp/net/uiw_carrier.h"

#include "base/base_log.h"
#include "evd/deliver/evd_deliver.h"
#include "vp/uiwarp/net/uiw_net.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "ual/object/ual.h"

#define LINK_BYTES 8192 /* of messages dropped by one call */

/* Returns a netlink socket, or -1. */
static int carrier_socket(void)
{
    struct sockaddr_nl address = {
        .nl_family = AF_NETLINK,
        .nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR,
    };
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);

    if (fd >= 0 && bind(fd, (const struct sockaddr *)&address, sizeof(address)) != 0) {
        (void)close(fd);
        fd = -1;
    }
    return fd;
}

/* Reads all messages. ENOBUFS means that some were lost. */
static void carrier_drain(const struct uiw_carrier *carrier)
{
    unsigned char messages[LINK_BYTES];

    while (recv(carrier->fd, messages, sizeof(messages), MSG_DONTWAIT | MSG_TRUNC) >= 0 ||
           errno == EINTR || errno == ENOBUFS) {
    }
}

static void carrier_ready(void *argument, unsigned events)
{
    struct uiw_carrier *carrier = argument;
    struct ual_ia *ia = carrier->ual;
    bool online;

    (void)events;
    carrier_drain(carrier);
    if (!uiw_net_is_online(carrier->interface, &online) || online == carrier->online)
        return;
    carrier->online = online;
    base_log(BASE_LOG_INFO, "ia %p: %s is %s", (void *)ia, ia->name, online ? "online" : "offline");
    evd_raise_unaffiliated_spigot(
        &ia->evd, online ? IT_ASYNC_UNAFF_SPIGOT_ONLINE : IT_ASYNC_UNAFF_SPIGOT_OFFLINE,
        UIW_SPIGOT);
}

static void carrier_open_on_loop(void *argument)
{
    struct uiw_carrier *carrier = argument;
    struct ual_ia *ia = carrier->ual;

    carrier->fd = carrier_socket();
    if (carrier->fd >= 0 && !evd_io_watch(&carrier->io, ia->evd.loop, carrier->fd, EVD_IO_READ,
                                          carrier_ready, carrier)) {
        (void)close(carrier->fd);
        carrier->fd = -1;
    }
    /* Read after the socket listens, so that no later change is missed. */
    if (!uiw_net_is_online(carrier->interface, &carrier->online))
        carrier->online = true;
    if (carrier->fd < 0)
        base_log(BASE_LOG_WARN, "ia %p: cannot watch %s for changes: %s", (void *)ia, ia->name,
                 strerror(errno));
}

void uiw_carrier_open(struct uiw_carrier *carrier, struct ual_ia *ia, const char *interface)
{
    carrier->ual = ia;
    carrier->interface = interface;
    evd_loop_call(ia->evd.loop, carrier_open_on_loop, carrier);
}

static void carrier_close_on_loop(void *argument)
{
    struct uiw_carrier *carrier = argument;

    evd_io_unwatch(&carrier->io);
    if (carrier->fd >= 0)
        (void)close(carrier->fd);
}

void uiw_carrier_close(struct uiw_carrier *carrier)
{
    evd_loop_call(carrier->ual->evd.loop, carrier_close_on_loop, carrier);
}
