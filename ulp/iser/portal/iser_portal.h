/* SPDX-License-Identifier: BSD-2-Clause */
/* A running target: listening sockets, connections that have not logged in, and shared state. */
#ifndef ITAPI_ULP_ISER_PORTAL_ISER_PORTAL_H
#define ITAPI_ULP_ISER_PORTAL_ISER_PORTAL_H

#include "session/iser_session.h"
#include "transfer/iser_stay.h"

struct itiser;

struct iser_portal {
    struct itiser *owner;
    struct itiser_portal_config config; /* .address has the port in use */
    int fd;                             /* -1: closed, or a device's portal */
    it_listen_handle_t listen;          /* a device's portal */
    struct event readable;
    struct event resume; /* after accept has run out of descriptors */
};

/* A connection that has not logged in, or a discovery session without a proof. */
struct iser_arrival {
    struct iser_arrival *younger, *older;
    struct itiser *owner;
    struct iser_portal *portal;
    struct sockaddr_storage peer;
    uint64_t born_ms;
    int fd; /* until its first octets have arrived; then -1 */
    struct event readable;
    struct iser_session *session;
};

struct itiser {
    struct iser_service service;
    struct iser_portal *portals;
    size_t portal_count;
    struct iser_pool *pool;
    struct event pool_readable;
    struct iser_stay stay;
    struct iser_fabric *fabric; /* NULL: no portal serves RDMA */
    /* Way (B): passes a stream that begins with an MPA Request to the IA; fd stays the caller's. */
    void (*request)(struct itiser *target, int fd);

    /* Connections that have not logged in. */
    struct iser_arrival *oldest, *youngest;
    unsigned half_logins, half_max, half_share;
    uint64_t half_refused;
    unsigned login_timeout_ms;
    struct event login_timer;
    /* Way (B): endpoints created in this turn of the loop. */
    struct timeval turn;
    unsigned requests;

    /* Shutdown. */
    struct event stop_timer;
    uint64_t stop_at_ms;
    void (*stopped)(void *argument);
    void *stopped_argument;
};

uint64_t iser_now_ms(void);

/* ---- iser_listen.c ---- */

/* Returns 0 or errno. */
int iser_portal_open(struct iser_portal *portal);
void iser_portal_close(struct iser_portal *portal);

/* ---- iser_arrival.c ---- */

/* Takes ownership of fd. */
void iser_arrival_begin(struct iser_portal *portal, int fd, const struct sockaddr_storage *peer);
/*
 * The same for a connection that already has an RDMA link; takes the link. Returns false if
 * memory runs out.
 */
bool iser_arrival_begin_rdma(struct iser_portal *portal, struct iser_link *link);
/* Called when the session is no arrival any more, or is gone. */
void iser_arrival_settled(struct iser_session *session);
/* Returns false if there is none. */
bool iser_arrival_drop_oldest(struct itiser *target);
/* Called every now and then: their time may be over, or their octets may have come. */
void iser_arrivals_look(struct itiser *target);
/* Drops all but discovery sessions. */
void iser_arrivals_cut(struct itiser *target);
/* Drops logins that have begun: what they were allowed by other rules does not count any more. */
void iser_arrivals_begin_anew(struct itiser *target);

/* ---- iser_fabric.c ---- */

/* Opens the IA. Returns false with the reason in error. */
bool iser_fabric_open(struct itiser *target, const struct itiser_config *config, char error[256]);
/* Returns true if the portal's port is the device's, so that it serves only RDMA. */
bool iser_fabric_has_ports(const struct iser_fabric *fabric);
/* iser_portal_open for such a portal. Returns false with the reason in *why. */
bool iser_fabric_listen(struct iser_fabric *fabric, struct iser_portal *portal, const char **why);
void iser_fabric_unlisten(struct iser_portal *portal);
/* Called when no session is left. */
void iser_fabric_close(struct itiser *target);

/* ---- iser_config.c ---- */

/* Copies as much as the caller knows of. Returns false if that is less than the first release. */
bool iser_config_read(struct itiser_config *to, const struct itiser_config *from);
/* Returns false if a value is outside of its range: *what says which range, *which whose it is. */
bool iser_config_is_usable(const struct itiser_config *config, const char **what,
                           const char **which);

/* Returns false without memory. */
bool iser_config_copy(struct itiser_target_config *to, const struct itiser_target_config *from);
void iser_config_free(struct itiser_target_config *config);
/* Returns the first text that is not a network, or NULL if all are networks. */
const char *iser_config_wrong_network(const struct itiser_target_config *config);
/* Returns true if an earlier target has the same name: upper and lower case do not matter. */
bool iser_config_is_repeated(const struct itiser_config *config, size_t target);
/* Returns a configuration with only the secrets of discovery sessions. */
struct itiser_target_config iser_config_discovery(const struct itiser_config *config);
/* Exchanges the access rules of a and b. */
void iser_config_swap_access(struct itiser_target_config *a, struct itiser_target_config *b);

#endif
