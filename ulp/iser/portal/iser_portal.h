/* SPDX-License-Identifier: BSD-2-Clause */
/* A running target: listening sockets, connections that have not logged in, and what all share. */
#ifndef ITAPI_ULP_ISER_PORTAL_ISER_PORTAL_H
#define ITAPI_ULP_ISER_PORTAL_ISER_PORTAL_H

#include "session/iser_session.h"

struct itiser;

struct iser_portal {
    struct itiser *owner;
    struct itiser_portal_config config; /* .address with the port in use */
    int fd;                             /* -1: closed, or of a device */
    it_listen_handle_t listen;          /* of a device */
    struct event readable;
    struct event resume; /* accept has run out of descriptors */
};

/* A connection that has not logged in. */
struct iser_arrival {
    struct iser_arrival *younger, *older;
    struct itiser *owner;
    struct iser_portal *portal;
    struct sockaddr_storage peer;
    uint64_t born_ms;
    int fd; /* until its first octets are there; then -1 */
    struct event readable;
    struct iser_session *session;
};

struct itiser {
    struct iser_service service;
    struct iser_portal *portals;
    size_t portal_count;
    struct iser_pool *pool;
    struct event pool_readable;
    struct iser_fabric *fabric; /* NULL: no portal serves RDMA */
    /* Way (B): a stream that begins with an MPA Request becomes the IA's; fd stays the caller's. */
    void (*request)(struct itiser *target, int fd);

    /* Connections that have not logged in. */
    struct iser_arrival *oldest, *youngest;
    unsigned half_logins, half_max, half_share;
    uint64_t half_refused;
    unsigned login_timeout_ms;
    struct event login_timer;
    /* Those of way (B) that this turn of the loop has taken on. */
    struct timeval turn;
    unsigned requests;

    /* The end. */
    struct event stop_timer;
    uint64_t stop_at_ms;
    void (*stopped)(void *argument);
    void *stopped_argument;
};

uint64_t iser_now_ms(void);

/* ---- iser_listen.c ---- */

/* 0 or errno. */
int iser_portal_open(struct iser_portal *portal);
void iser_portal_close(struct iser_portal *portal);

/* ---- iser_arrival.c ---- */

/* Takes fd. */
void iser_arrival_begin(struct iser_portal *portal, int fd, const struct sockaddr_storage *peer);
/* The same for one that has a link of RDMA already; takes it. False without memory. */
bool iser_arrival_begin_rdma(struct iser_portal *portal, struct iser_link *link);
/* It has logged in, or is gone. */
void iser_arrival_settled(struct iser_session *session);
/* False: there is none. */
bool iser_arrival_drop_oldest(struct itiser *target);
void iser_arrivals_expire(struct itiser *target);

/* ---- iser_fabric.c ---- */

/* Opens the IA. False: error says why. */
bool iser_fabric_open(struct itiser *target, const struct itiser_config *config, char error[256]);
/* The port of such a portal is the device's, so it serves RDMA alone. */
bool iser_fabric_has_ports(const struct iser_fabric *fabric);
/* The same as iser_portal_open for it. False: status says why. */
bool iser_fabric_listen(struct iser_fabric *fabric, struct iser_portal *portal, const char **why);
void iser_fabric_unlisten(struct iser_portal *portal);
/* No session is left. */
void iser_fabric_close(struct itiser *target);

/* ---- iser_config.c ---- */

/* False without memory. */
bool iser_config_copy(struct itiser_target_config *to, const struct itiser_target_config *from);
void iser_config_free(struct itiser_target_config *config);
/* The secrets of discovery sessions alone. */
struct itiser_target_config iser_config_discovery(const struct itiser_config *config);
/* Exchanges who may log in. */
void iser_config_swap_access(struct itiser_target_config *a, struct itiser_target_config *b);

#endif
