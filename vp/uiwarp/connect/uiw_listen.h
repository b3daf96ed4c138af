/* SPDX-License-Identifier: BSD-2-Clause */
/* The TCP listeners behind a listen point. Loop thread only. */
#ifndef ITAPI_VP_UIWARP_CONNECT_UIW_LISTEN_H
#define ITAPI_VP_UIWARP_CONNECT_UIW_LISTEN_H

#include "vp/uiwarp/queue/uiw.h"

struct uiw_listener;

struct uiw_listen_socket {
    struct uiw_listener *listener;
    int fd;
    bool deferring; /* the kernel keeps streams until their first octet, for a second */
    struct evd_io io;
};

/* One socket for all addresses of the host, or one for each address of a network interface. */
struct uiw_listener {
    struct uiw_ia *ia;
    struct ual_listen *listen; /* lives at least as long */
    struct evd_timer resume;   /* accept has run out of descriptors or memory */
    size_t count;
    struct uiw_listen_socket sockets[];
};

/* The listen point of the IA that serves the port (network byte order), or NULL. */
struct ual_listen *uiw_listen_find(struct uiw_ia *ia, const it_conn_qual_t *qual, size_t spigot_id);

#endif
