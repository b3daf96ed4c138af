/* SPDX-License-Identifier: BSD-2-Clause */
#include "peer_device.h"

#include "peer_answer.h"
#include "peer_clock.h"
#include "peer_connection.h"
#include "peer_names.h"
#include "peer_tally.h"

#include <errno.h>
#include <rdma/rdma_cma.h>
#include <stdlib.h>
#include <string.h>

/* Entries of 32 octets each: 1 MiB. */
#define PLACEHOLDER_ENTRIES 32768

static struct peer_device *peer_devices;
static struct peer_device *peer_device_current;
static struct ibv_context **peer_device_list;

struct peer_device *peer_device_of(struct ibv_context *context)
{
    struct peer_device *device = peer_devices;

    while (device != NULL && device->context != context)
        device = device->next;
    if (device != NULL)
        return device;
    device = calloc(1, sizeof(*device));
    if (device == NULL)
        peer_die("no memory");
    device->context = context;
    device->next = peer_devices;
    peer_devices = device;
    return device;
}

const char *peer_device_name(const struct peer_device *device)
{
    return ibv_get_device_name(device->context->device);
}

void peer_device_make_current(struct peer_device *device)
{
    peer_device_current = device;
}

/* Returns the device with that name, or the first one if name is NULL; NULL if there is none. */
static struct peer_device *peer_device_find(const char *name)
{
    if (peer_device_list == NULL)
        peer_device_list = rdma_get_devices(NULL);
    if (peer_device_list == NULL)
        return NULL;
    for (unsigned i = 0; peer_device_list[i] != NULL; i++) {
        if (name == NULL || strcmp(ibv_get_device_name(peer_device_list[i]->device), name) == 0)
            return peer_device_of(peer_device_list[i]);
    }
    return NULL;
}

struct peer_device *peer_device_pick(struct peer_args *args)
{
    const char *name = peer_args_text(args, "dev");
    struct peer_device *device = peer_device_current;

    if (name != NULL || device == NULL)
        device = peer_device_find(name);
    if (device == NULL && name != NULL)
        peer_args_refuse(args, "no device %.40s", name);
    else if (device == NULL)
        peer_args_refuse(args, "no device");
    return device;
}

/*
 * libsiw believes that an object whose mapping begins at 0x90000 has no mapping, and fails to
 * create it (SIW_INVAL_UOBJ_KEY is a legal offset). Offsets are assigned from 0 on, so a completion
 * queue that covers this offset keeps other objects from it. The peer also works without that
 * queue.
 */
#define FILLER_ENTRIES 32768

static void fill_mappings(struct peer_device *device)
{
    if (device->context->device->transport_type != IBV_TRANSPORT_IWARP)
        return;
    device->filler = ibv_create_cq(device->context, FILLER_ENTRIES, NULL, NULL, 0);
    if (device->filler != NULL)
        peer_tally_made(PEER_CQ);
}

struct ibv_pd *peer_device_pd(struct peer_device *device)
{
    if (device->pd == NULL) {
        device->pd = ibv_alloc_pd(device->context);
        if (device->pd == NULL)
            peer_answer_errno("ibv_alloc_pd", errno);
        else
            peer_tally_made(PEER_PD);
        fill_mappings(device);
    }
    return device->pd;
}

/* ---- Commands ------------------------------------------------------------------------------- */

/* device [conn=C] [dev=NAME] */
void peer_device_command(struct peer_args *args)
{
    struct peer_device *device = peer_connection_pick_device(args);
    struct ibv_device_attr attributes;
    int error;

    if (peer_args_refused(args))
        return;
    error = ibv_query_device(device->context, &attributes);
    if (error != 0) {
        peer_answer_errno("ibv_query_device", error);
        return;
    }
    peer_answer("ok name=%s transport=%s max_sge=%d", peer_device_name(device),
                peer_name_transport(device->context->device->transport_type), attributes.max_sge);
}

/* async timeout=MS [conn=C] [dev=NAME] */
void peer_device_async_command(struct peer_args *args)
{
    struct peer_device *device = peer_connection_pick_device(args);
    int64_t deadline = peer_args_deadline(args);
    struct ibv_async_event event;

    if (peer_args_refused(args))
        return;
    if (!peer_clock_readable(device->context->async_fd, deadline)) {
        peer_answer("error timeout");
        return;
    }
    if (ibv_get_async_event(device->context, &event) != 0) {
        peer_answer_errno("ibv_get_async_event", errno);
        return;
    }
    peer_answer("ok event=%s", peer_name_async(event.event_type));
    ibv_ack_async_event(&event);
}

void peer_device_close_all(void)
{
    while (peer_devices != NULL) {
        struct peer_device *device = peer_devices;

        peer_devices = device->next;
        if (device->placeholder != NULL)
            (void)peer_tally_gone(PEER_CQ, "ibv_destroy_cq", ibv_destroy_cq(device->placeholder));
        if (device->filler != NULL)
            (void)peer_tally_gone(PEER_CQ, "ibv_destroy_cq", ibv_destroy_cq(device->filler));
        if (device->pd != NULL)
            (void)peer_tally_gone(PEER_PD, "ibv_dealloc_pd", ibv_dealloc_pd(device->pd));
        free(device);
    }
    if (peer_device_list != NULL)
        rdma_free_devices(peer_device_list);
    peer_device_list = NULL;
    peer_device_current = NULL;
}
