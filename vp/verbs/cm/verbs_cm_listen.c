/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Listen points: an id for each address of the Spigot, since one for all addresses would hear the
 * requests to other devices too, and would keep the port from them.
 */
#include "vp/verbs/cm/verbs_cm_private.h"

#include "vp/verbs/device/verbs_query.h"

#include <errno.h>
#include <ifaddrs.h>
#include <stdlib.h>
#include <string.h>

#define LISTEN_BACKLOG 1024

struct listen_call {
    struct ual_listen *listen;
    it_status_t status;
};

/* ---------------------------------------------------------------- qualifiers */

/* NULL: a type that no listener has. */
static uint16_t *listen_port(it_conn_qual_t *qual)
{
    if (qual->type == IT_IANA_PORT)
        return &qual->conn_qual.port;
    if (qual->type == IT_IANA_LR_PORT)
        return &qual->conn_qual.lr_port.local;
    return NULL;
}

struct verbs_listener *verbs_listener_find(struct verbs_cm *cm, const it_conn_qual_t *qual,
                                           size_t spigot_id)
{
    it_conn_qual_t wanted = *qual;
    const uint16_t *port = listen_port(&wanted);
    struct verbs_listener *listener = cm->listeners;

    while (
        listener && port &&
        (listener->info.spigot_id != spigot_id || *listen_port(listener->info.conn_qual) != *port))
        listener = listener->next;
    return port ? listener : NULL;
}

/* ---------------------------------------------------------------- opening */

/* 0 or errno. */
static int listen_bind(struct verbs_listener *listener, const struct sockaddr *address,
                       uint16_t port, enum rdma_port_space space)
{
    struct sockaddr_storage local;
    struct rdma_cm_id *id;
    int error;

    verbs_address_copy(&local, address);
    verbs_address_set_port(&local, port);
    if (rdma_create_id(listener->cm->channel, &id, listener, space) != 0)
        return errno;
    if (rdma_bind_addr(id, (struct sockaddr *)&local) == 0 &&
        rdma_listen(id, LISTEN_BACKLOG) == 0) {
        listener->ids[listener->count++] = id;
        return 0;
    }
    error = errno;
    (void)rdma_destroy_id(id); /* bound to nothing that could fail */
    return error;
}

/* For connections and, where there are datagrams, for those who ask for their EPs: on the same port. */
static int listen_add(struct verbs_listener *listener, const struct sockaddr *address,
                      uint16_t port)
{
    int error;

    if (verbs_port_of(listener->cm->ia, address) != listener->info.spigot_id)
        return 0; /* another device's */
    error = listen_bind(listener, address, port, RDMA_PS_TCP);
    if (error != 0 || !listener->cm->ia->attributes.datagrams)
        return error;
    return listen_bind(listener, address, rdma_get_src_port(listener->ids[listener->count - 1]),
                       RDMA_PS_UDP);
}

static void listen_close(struct verbs_listener *listener)
{
    for (size_t i = 0; i < listener->count; i++)
        (void)rdma_destroy_id(listener->ids[i]); /* fails with a device that is gone: freed */
    listener->count = 0;
}

/* Port 0: the first address gets one from the kernel, the others follow it. */
static int listen_open(struct verbs_listener *listener, const struct ifaddrs *entries,
                       uint16_t port)
{
    int error = 0;

    for (const struct ifaddrs *entry = entries; entry && error == 0; entry = entry->ifa_next) {
        if (!verbs_address_is_usable(entry))
            continue;
        error = listen_add(listener, entry->ifa_addr, port);
        if (error == EADDRNOTAVAIL)
            error =
                0; /* just gone, or not yet in use: the kernel still looks for others that have it */
        if (port == 0 && listener->count > 0)
            port = rdma_get_src_port(listener->ids[0]);
    }
    return error == 0 && listener->count == 0 ? EADDRNOTAVAIL : error;
}

static int listen_open_all(struct verbs_listener *listener, const struct ifaddrs *entries,
                           uint16_t port)
{
    unsigned tries = port == 0 ? VERBS_PORT_TRIES : 1;
    int error;

    do {
        error = listen_open(listener, entries, port);
        if (error != 0)
            listen_close(listener);
    } while (error == EADDRINUSE && --tries > 0);
    return error;
}

static it_status_t listen_status(int error)
{
    switch (error) {
    case 0:
        return IT_SUCCESS;
    case EADDRINUSE:
        return IT_ERR_CONN_QUAL_BUSY;
    case EACCES:
    case EPERM:
        return IT_ERR_NO_PERMISSION;
    default:
        return IT_ERR_RESOURCES;
    }
}

static struct verbs_listener *listen_new(struct ual_listen *listen, const struct ifaddrs *entries)
{
    struct verbs_listener *listener;
    size_t count = 0;

    for (const struct ifaddrs *entry = entries; entry; entry = entry->ifa_next)
        count += 2; /* port spaces */
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): it is an array of pointers */
    listener = calloc(1, sizeof(*listener) + count * sizeof(listener->ids[0]));
    if (!listener)
        return NULL;
    listener->target = VERBS_CM_LISTENER;
    listener->cm = verbs_ia_of(verbs_host->listen_ia(listen))->cm;
    verbs_host->listen_info(listen, &listener->info);
    return listener;
}

/* ---------------------------------------------------------------- provider table */

static void listen_begin(struct listen_call *call, const struct ifaddrs *entries)
{
    struct verbs_listener *listener = listen_new(call->listen, entries);
    uint16_t *port;
    int error;

    call->status = IT_ERR_RESOURCES;
    if (!listener)
        return;
    port = listen_port(listener->info.conn_qual);
    if (!port) {
        call->status = IT_ERR_INVALID_CONN_QUAL;
        free(listener);
        return;
    }
    error = listen_open_all(listener, entries,
                            listener->info.flags & IT_LISTEN_CONN_QUAL_INPUT ? *port : 0);
    call->status = listen_status(error);
    if (error != 0) {
        verbs_log(VP_LOG_WARN, "%s: cannot listen: %s", verbs_host->ia_name(listener->cm->ual),
                  strerror(error));
        free(listener);
        return;
    }
    *port = rdma_get_src_port(listener->ids[0]);
    listener->next = listener->cm->listeners;
    listener->cm->listeners = listener;
    verbs_listen_of(call->listen)->listener = listener;
}

static void listen_start_run(void *argument)
{
    struct listen_call *call = argument;
    struct ifaddrs *entries = NULL;

    call->status = IT_ERR_RESOURCES;
    if (getifaddrs(&entries) != 0)
        return;
    listen_begin(call, entries);
    freeifaddrs(entries);
}

it_status_t verbs_listen_start(struct ual_listen *listen)
{
    struct listen_call call = {.listen = listen};

    verbs_host->ia_call(verbs_host->listen_ia(listen), listen_start_run, &call);
    return call.status;
}

static void listen_stop_run(void *argument)
{
    struct verbs_listener *listener = verbs_listen_of(argument)->listener;
    struct verbs_listener **link = &listener->cm->listeners;

    while (*link != listener)
        link = &(*link)->next;
    *link = listener->next;
    listen_close(listener);
    free(listener);
}

void verbs_listen_stop(struct ual_listen *listen)
{
    verbs_host->ia_call(verbs_host->listen_ia(listen), listen_stop_run, listen);
}

void verbs_listener_lost(struct verbs_listener *listener, struct rdma_cm_id *id)
{
    size_t i = 0;

    while (i < listener->count && listener->ids[i] != id)
        i++;
    if (i == listener->count)
        return;
    listener->ids[i] = listener->ids[--listener->count];
    (void)rdma_destroy_id(id); /* the kernel waits for it */
}
