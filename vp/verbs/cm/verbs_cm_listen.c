/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Listen points: one id for each address of the Spigot. A single id for all addresses would also
 * receive requests to other devices, and would keep the port from them.
 */
#include "vp/verbs/cm/verbs_cm_private.h"

#include "vp/verbs/device/verbs_query.h"

#include <errno.h>
#include <ifaddrs.h>
#include <stdlib.h>
#include <sys/resource.h>

#define LISTEN_BACKLOG 1024

/* ---------------------------------------------------------------- opening */

/*
 * Sockets that listen take descriptors, ids do not. But siw's kernel module reserves memory for the
 * backlog of each id, and no limit of the process covers that.
 */
static bool listen_has_room(const struct verbs_cm *cm)
{
    struct rlimit limit = {.rlim_cur = RLIM_INFINITY};

    (void)getrlimit(RLIMIT_NOFILE, &limit); /* cannot fail for this resource */
    return cm->listening < limit.rlim_cur;
}

static void listen_destroy(struct verbs_listener *listener, struct rdma_cm_id *id)
{
    listener->cm->listening--;
    (void)rdma_destroy_id(id); /* fails if the device is gone, but frees the id */
}

/* Returns 0 or errno. */
static int listen_bind(struct verbs_listener *listener, const struct sockaddr *address,
                       uint16_t port, enum rdma_port_space space)
{
    struct sockaddr_storage local;
    struct rdma_cm_id *id;
    int error;

    if (!listen_has_room(listener->cm))
        return EMFILE;
    base_net_copy(&local, address);
    base_net_set_port(&local, port);
    if (rdma_create_id(listener->cm->channel, &id, listener, space) != 0)
        return errno;
    if (rdma_bind_addr(id, (struct sockaddr *)&local) == 0 &&
        rdma_listen(id, LISTEN_BACKLOG) == 0) {
        listener->ids[listener->count++] = id;
        listener->cm->listening++;
        return 0;
    }
    error = errno;
    (void)rdma_destroy_id(id); /* only bound: no event is pending */
    return error;
}

/*
 * Listens for connections and, on the same port, for requests for UD endpoints where the device has
 * them.
 */
static int listen_add(struct verbs_listener *listener, const struct sockaddr *address,
                      uint16_t port)
{
    int error;

    if (verbs_port_of(listener->cm->ia, address) != listener->info.spigot_id)
        return 0; /* the address of another device */
    error = listen_bind(listener, address, port, RDMA_PS_TCP);
    if (error != 0 || !listener->cm->ia->attributes.datagrams)
        return error;
    return listen_bind(listener, address, rdma_get_src_port(listener->ids[listener->count - 1]),
                       RDMA_PS_UDP);
}

static void listen_close(struct verbs_listener *listener)
{
    for (size_t i = 0; i < listener->count; i++)
        listen_destroy(listener, listener->ids[i]);
    listener->count = 0;
}

/* Port 0: the kernel chooses one for the first address, and the others use the same. */
static int listen_open(struct verbs_listener *listener, const struct ifaddrs *entries,
                       uint16_t port)
{
    int error = 0;

    for (const struct ifaddrs *entry = entries; entry && error == 0; entry = entry->ifa_next) {
        if (!verbs_address_is_usable(entry))
            continue;
        error = listen_add(listener, entry->ifa_addr, port);
        /* The address has just gone, or is not usable yet: other addresses may do. */
        if (error == EADDRNOTAVAIL)
            error = 0;
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

/* The removal of the device waits in the kernel until the id is destroyed. */
static void listen_told(void *context, struct rdma_cm_id *id, const struct verbs_cm_event *event)
{
    struct verbs_listener *listener = context;
    size_t i = 0;

    while (i < listener->count && listener->ids[i] != id)
        i++;
    if (i == listener->count || event->type != RDMA_CM_EVENT_DEVICE_REMOVAL)
        return;
    listener->ids[i] = listener->ids[--listener->count];
    listen_destroy(listener, id);
}

static void listen_requested(void *context, struct rdma_cm_id *id,
                             const struct verbs_cm_event *event)
{
    if (id->ps == RDMA_PS_UDP)
        verbs_sidr_asked(context, id, event);
    else
        verbs_accept_request(context, id, event);
}

static const struct verbs_cm_target listen_target = {
    .requested = listen_requested,
    .told = listen_told,
};

static struct verbs_listener *listen_new(struct ual_listen *listen, const struct ifaddrs *entries)
{
    struct verbs_listener *listener;
    size_t count = 0;

    for (const struct ifaddrs *entry = entries; entry; entry = entry->ifa_next)
        count += 2; /* one id for each of the two port spaces */
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): it is an array of pointers */
    listener = calloc(1, sizeof(*listener) + count * sizeof(listener->ids[0]));
    if (!listener)
        return NULL;
    listener->target = &listen_target;
    listener->cm = verbs_ia_of(verbs_host->ia_of(listen))->cm;
    verbs_host->listen_info(listen, &listener->info);
    return listener;
}

/* ---------------------------------------------------------------- provider table */

static it_status_t listen_begin(struct ual_listen *listen, const struct ifaddrs *entries)
{
    struct verbs_listener *listener = listen_new(listen, entries);
    uint16_t *port;
    int error;

    if (!listener)
        return IT_ERR_RESOURCES;
    port = base_net_listen_port(listener->info.conn_qual);
    if (!port) {
        free(listener);
        return IT_ERR_INVALID_CONN_QUAL;
    }
    error = listen_open_all(listener, entries,
                            listener->info.flags & IT_LISTEN_CONN_QUAL_INPUT ? *port : 0);
    if (error != 0) {
        verbs_warn(listener->cm->ia, "cannot listen", error);
        free(listener);
        return base_net_listen_status(error);
    }
    *port = rdma_get_src_port(listener->ids[0]);
    base_list_prepend(&listener->cm->listeners, &listener->link);
    verbs_listen_of(listen)->listener = listener;
    return IT_SUCCESS;
}

static it_status_t listen_start_run(void *listen)
{
    struct ifaddrs *entries = NULL;
    it_status_t status;

    if (getifaddrs(&entries) != 0)
        return IT_ERR_RESOURCES;
    status = listen_begin(listen, entries);
    freeifaddrs(entries);
    return status;
}

it_status_t verbs_listen_start(struct ual_listen *listen)
{
    return verbs_run(verbs_host->ia_of(listen), listen_start_run, listen);
}

static void listen_stop_run(void *argument)
{
    struct verbs_listener *listener = verbs_listen_of(argument)->listener;

    base_list_remove(&listener->cm->listeners, &listener->link);
    listen_close(listener);
    free(listener);
}

void verbs_listen_stop(struct ual_listen *listen)
{
    verbs_host->ia_call(verbs_host->ia_of(listen), listen_stop_run, listen);
}
