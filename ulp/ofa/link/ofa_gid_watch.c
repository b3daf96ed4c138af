/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel sends a message when an address changes. The contents of messages are not used, so
 * some may be lost: the table is read anew and compared.
 */
#include "link/ofa_gid_watch.h"

#include "port/ofa_gid.h"
#include "queue/ofa_event.h"
#include "support/ofa_watch.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MESSAGE_BYTES 8192 /* dropped by one call */

struct ofa_gid_watch {
    struct ofa_watch watch;
    struct ofa_context *context;
    struct ofa_gid table[OFA_MAX_GIDS]; /* as the program knows it */
    int count;
};

static int open_socket(void)
{
    struct sockaddr_nl address = {.nl_family = AF_NETLINK,
                                  .nl_groups =
                                      RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR};
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);

    if (fd >= 0 && bind(fd, (const struct sockaddr *)&address, sizeof(address)) != 0) {
        (void)close(fd);
        fd = -1;
    }
    return fd;
}

/* Reads all messages. ENOBUFS means that some were lost. */
static void drop_messages(int fd)
{
    unsigned char bytes[MESSAGE_BYTES];

    while (recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT | MSG_TRUNC) >= 0 || errno == EINTR ||
           errno == ENOBUFS) {
    }
}

/* Reads the table. Returns true if it has changed. */
static bool read_table(struct ofa_gid_watch *gids)
{
    struct ofa_gid table[OFA_MAX_GIDS];
    int count = ofa_gid_table(gids->context->device, table);
    bool same = count == gids->count;

    for (int i = 0; i < count && same; i++)
        same = memcmp(&table[i].gid, &gids->table[i].gid, sizeof(table[i].gid)) == 0;
    memcpy(gids->table, table, (size_t)count * sizeof(table[0]));
    gids->count = count;
    return !same;
}

static void on_message(struct ofa_watch *watch)
{
    struct ofa_gid_watch *gids = (struct ofa_gid_watch *)(void *)watch; /* the first member */

    drop_messages(watch->fd);
    if (read_table(gids))
        ofa_event_raise_port(gids->context, IBV_EVENT_GID_CHANGE);
    ofa_watch_arm(watch);
}

void ofa_gid_watch_open(struct ofa_context *context)
{
    struct ofa_gid_watch *gids = calloc(1, sizeof(*gids));

    if (!gids)
        return;
    gids->context = context;
    gids->watch.callback = on_message;
    gids->watch.fd = open_socket();
    (void)read_table(gids); /* after the socket listens, so that no later change is missed */
    if (gids->watch.fd >= 0 && ofa_watch_open(&gids->watch) == 0) {
        context->gid_watch = gids;
        return;
    }
    if (gids->watch.fd >= 0)
        (void)close(gids->watch.fd);
    free(gids);
}

void ofa_gid_watch_close(struct ofa_context *context)
{
    struct ofa_gid_watch *gids = context->gid_watch;

    if (!gids)
        return;
    ofa_watch_close(&gids->watch);
    (void)close(gids->watch.fd);
    free(gids);
    context->gid_watch = NULL;
}
