/* SPDX-License-Identifier: BSD-2-Clause */
/* rdma_getaddrinfo, rdma_create_ep and rdma_get_request. */
#include "cm/ofa_cm.h"
#include "support/ofa_port.h"

#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>

#define RESOLVE_MS 2000

/* ---- rdma_getaddrinfo ----------------------------------------------------------------------- */

static int copy_sockaddr(struct sockaddr **to, socklen_t *length, const struct sockaddr *from,
                         socklen_t from_length)
{
    if (!from || from_length == 0)
        return 0;
    *to = malloc(from_length);
    if (!*to)
        return EAI_MEMORY;
    memcpy(*to, from, from_length);
    *length = from_length;
    return 0;
}

static void set_types(struct rdma_addrinfo *info, const struct rdma_addrinfo *hints)
{
    info->ai_flags = hints->ai_flags;
    info->ai_port_space = hints->ai_port_space;
    info->ai_qp_type = hints->ai_qp_type;
    if (info->ai_port_space == 0)
        info->ai_port_space = hints->ai_qp_type == IBV_QPT_UD ? RDMA_PS_UDP : RDMA_PS_TCP;
    if (info->ai_qp_type == 0)
        info->ai_qp_type =
            info->ai_port_space == RDMA_PS_UDP || info->ai_port_space == RDMA_PS_IPOIB ? IBV_QPT_UD
                                                                                       : IBV_QPT_RC;
}

static int look_up(const char *node, const char *service, const struct rdma_addrinfo *hints,
                   struct addrinfo **found)
{
    struct addrinfo wanted;

    memset(&wanted, 0, sizeof(wanted));
    wanted.ai_flags = (hints->ai_flags & RAI_PASSIVE ? AI_PASSIVE : 0) |
                      (hints->ai_flags & RAI_NUMERICHOST ? AI_NUMERICHOST : 0);
    wanted.ai_family = hints->ai_flags & RAI_FAMILY ? hints->ai_family : AF_UNSPEC;
    wanted.ai_socktype = hints->ai_qp_type == IBV_QPT_UD ? SOCK_DGRAM : SOCK_STREAM;
    return getaddrinfo(node, service, &wanted, found);
}

/* found is NULL if nothing was looked up: then the addresses are in the hints. */
static int fill_info(struct rdma_addrinfo *info, const struct rdma_addrinfo *hints,
                     const struct addrinfo *found)
{
    int error = 0;

    info->ai_family = found ? found->ai_family : hints->ai_family;
    if (found && (hints->ai_flags & RAI_PASSIVE))
        error =
            copy_sockaddr(&info->ai_src_addr, &info->ai_src_len, found->ai_addr, found->ai_addrlen);
    else if (found)
        error =
            copy_sockaddr(&info->ai_dst_addr, &info->ai_dst_len, found->ai_addr, found->ai_addrlen);
    else
        error = copy_sockaddr(&info->ai_dst_addr, &info->ai_dst_len, hints->ai_dst_addr,
                              hints->ai_dst_len);
    if (error == 0 && !info->ai_src_addr)
        error = copy_sockaddr(&info->ai_src_addr, &info->ai_src_len, hints->ai_src_addr,
                              hints->ai_src_len);
    return error;
}

int rdma_getaddrinfo(const char *node, const char *service, const struct rdma_addrinfo *hints,
                     struct rdma_addrinfo **result)
{
    static const struct rdma_addrinfo none;
    struct rdma_addrinfo *info;
    struct addrinfo *found = NULL;
    int error = 0;

    if (!node && !service && !hints)
        return cm_result(EINVAL);
    if (!cm_context())
        return -1;
    if (!hints)
        hints = &none;
    if (node || service)
        error = look_up(node, service, hints, &found);
    if (error != 0)
        return error;
    info = calloc(1, sizeof(*info));
    if (info) {
        set_types(info, hints);
        error = fill_info(info, hints, found);
    }
    if (found)
        freeaddrinfo(found);
    if (!info)
        return EAI_MEMORY;
    if (error != 0) {
        rdma_freeaddrinfo(info);
        return error;
    }
    *result = info;
    return 0;
}

void rdma_freeaddrinfo(struct rdma_addrinfo *info)
{
    while (info) {
        struct rdma_addrinfo *next = info->ai_next;

        free(info->ai_src_addr);
        free(info->ai_dst_addr);
        free(info->ai_src_canonname);
        free(info->ai_dst_canonname);
        free(info->ai_route);
        free(info->ai_connect);
        free(info);
        info = next;
    }
}

/* ---- rdma_create_ep ------------------------------------------------------------------------- */

/* attr is for the queue pairs of requests. Returns 0, or -1 with errno. */
static int create_passive(struct rdma_cm_id *base, struct rdma_addrinfo *info, struct ibv_pd *pd,
                          const struct ibv_qp_init_attr *attr)
{
    struct cm_id *id = cm_id_of(base);

    if (rdma_bind_addr(base, info->ai_src_addr) != 0)
        return -1;
    id->listen_pd = pd;
    if (!attr)
        return 0;
    id->listen_attr = malloc(sizeof(*attr));
    if (!id->listen_attr)
        return cm_result(ENOMEM);
    *id->listen_attr = *attr;
    id->listen_attr->qp_type = base->qp_type;
    return 0;
}

static int create_active(struct rdma_cm_id *base, const struct rdma_addrinfo *info,
                         struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
    if (rdma_resolve_addr(base, info->ai_src_addr, info->ai_dst_addr, RESOLVE_MS) != 0 ||
        rdma_resolve_route(base, RESOLVE_MS) != 0)
        return -1;
    if (!attr)
        return 0;
    attr->qp_type = base->qp_type;
    return rdma_create_qp(base, pd, attr);
}

int rdma_create_ep(struct rdma_cm_id **result, struct rdma_addrinfo *info, struct ibv_pd *pd,
                   struct ibv_qp_init_attr *attr)
{
    struct rdma_cm_id *id;
    int error;

    if (rdma_create_id(NULL, &id, NULL, (enum rdma_port_space)info->ai_port_space) != 0)
        return -1;
    if (info->ai_qp_type)
        id->qp_type = (enum ibv_qp_type)info->ai_qp_type;
    if ((info->ai_flags & RAI_PASSIVE ? create_passive(id, info, pd, attr)
                                      : create_active(id, info, pd, attr)) != 0) {
        error = errno;
        (void)rdma_destroy_id(id);
        return cm_result(error);
    }
    *result = id;
    return 0;
}

void rdma_destroy_ep(struct rdma_cm_id *id)
{
    if (id->qp)
        rdma_destroy_qp(id);
    if (id->srq)
        rdma_destroy_srq(id);
    (void)rdma_destroy_id(id);
}

/* ---- rdma_get_request ----------------------------------------------------------------------- */

/* Creates the queue pair if rdma_create_ep was given attributes. Returns 0 or errno. */
static int equip(struct rdma_cm_id *id, const struct cm_id *listener)
{
    struct ibv_qp_init_attr attr;

    if (!listener->listen_attr)
        return 0;
    attr = *listener->listen_attr;
    return rdma_create_qp(id, listener->listen_pd, &attr) == 0 ? 0 : errno;
}

int rdma_get_request(struct rdma_cm_id *base, struct rdma_cm_id **result)
{
    struct cm_id *listener = cm_id_of(base);
    struct rdma_cm_event *event;
    struct rdma_cm_id *id;
    int error;

    if (!listener->sync)
        return cm_result(EINVAL);
    if (base->event) {
        (void)rdma_ack_cm_event(base->event);
        base->event = NULL;
    }
    if (rdma_get_cm_event(base->channel, &event) != 0)
        return -1;
    if (event->status != 0 || event->event != RDMA_CM_EVENT_CONNECT_REQUEST) {
        error = event->status < 0 ? -event->status : EINVAL;
        (void)rdma_ack_cm_event(event);
        return cm_result(error);
    }
    id = event->id;
    error = cm_id_move(cm_id_of(id), NULL);
    if (error == 0)
        error = equip(id, listener);
    if (error != 0) {
        (void)rdma_ack_cm_event(event);
        (void)rdma_destroy_id(id);
        return cm_result(error);
    }
    id->event = event;
    *result = id;
    return 0;
}
