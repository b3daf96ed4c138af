/* SPDX-License-Identifier: BSD-2-Clause */
/* The stub device itself: it is listed, opened and queried, and raises asynchronous events. */
#include "verbs/stub_private.h"

#include <arpa/inet.h>
#include <errno.h>
#include <rdma/ib_user_verbs.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STUB_CQE 65536
#define STUB_SIW 0x626d74u

struct stub_context {
    struct ibv_context context;
    int async[2];
};

static struct ibv_device stub_device;
static int stub_async_fd = -1;

struct ibv_device **ibv_get_device_list(int *count)
{
    struct ibv_device **list = calloc(2, sizeof(*list));

    if (list && !stub.no_device) {
        strcpy(stub_device.name, STUB_NAME);
        strcpy(stub_device.dev_name, stub.has_node ? STUB_NODE : "");
        stub_device.transport_type =
            stub.like_siw || stub.like_iwarp ? IBV_TRANSPORT_IWARP : IBV_TRANSPORT_IB;
        list[0] = &stub_device;
    }
    if (count)
        *count = list && !stub.no_device ? 1 : 0;
    return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
    free(list);
}

const char *ibv_get_device_name(struct ibv_device *device)
{
    return device->name;
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
    struct stub_context *context;

    if (stub.open_error) {
        errno = stub.open_error;
        return NULL;
    }
    context = stub_new(sizeof(*context));
    if (!context || pipe(context->async) != 0)
        abort();
    context->context.device = device;
    context->context.async_fd = context->async[0];
    stub_fill_ops(&context->context.ops);
    stub_async_fd = context->async[1];
    return &context->context;
}

int ibv_close_device(struct ibv_context *ibv_context)
{
    struct stub_context *context = (struct stub_context *)ibv_context;

    close(ibv_context->async_fd);
    close(context->async[1]);
    return stub_delete(context);
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
    (void)context;
    memset(attr, 0, sizeof(*attr));
    attr->vendor_id = stub.like_siw ? STUB_SIW : 1;
    attr->max_mr_size = UINT64_MAX;
    attr->max_qp_wr = 2048;
    attr->max_sge = 8;
    attr->max_sge_rd = 8;
    attr->max_cqe = stub.max_cqe ? stub.max_cqe : STUB_CQE;
    attr->max_srq = 16;
    attr->max_srq_wr = 1024;
    attr->max_qp_rd_atom = 16;
    attr->max_qp_init_rd_atom = 16;
    attr->atomic_cap = IBV_ATOMIC_HCA;
    attr->phys_port_cnt = stub.ports ? stub.ports : 1;
    attr->device_cap_flags = IBV_DEVICE_MEM_MGT_EXTENSIONS;
    if (stub.has_windows) {
        attr->device_cap_flags |= IBV_DEVICE_MEM_WINDOW | IBV_DEVICE_MEM_WINDOW_TYPE_2B;
        attr->max_mw = 1024;
    }
    return 0;
}

#undef ibv_query_port
int ibv_query_port(struct ibv_context *context, uint8_t number,
                   struct _compat_ibv_port_attr *compat)
{
    struct ibv_port_attr *attr = (struct ibv_port_attr *)(void *)compat;

    (void)context, (void)number;
    attr->state = IBV_PORT_ACTIVE;
    attr->max_msg_sz = 1u << 31;
    attr->gid_tbl_len = stub.has_gids ? 2 : 0;
    attr->active_mtu = IBV_MTU_1024;
    attr->link_layer = stub.on_ethernet ? IBV_LINK_LAYER_ETHERNET : IBV_LINK_LAYER_INFINIBAND;
    return 0;
}

ssize_t _ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries,
                             size_t max_entries, uint32_t flags, size_t entry_size)
{
    static const enum ibv_gid_type types[] = {IBV_GID_TYPE_ROCE_V1, IBV_GID_TYPE_ROCE_V2};
    size_t count = stub.has_gids ? 2 : 0;

    (void)context, (void)flags;
    if (count > max_entries || entry_size != sizeof(*entries))
        abort();
    for (uint32_t i = 0; i < count; i++) {
        entries[i] =
            (struct ibv_gid_entry){.gid_index = i, .port_num = 1, .gid_type = (uint32_t)types[i]};
        if (inet_pton(AF_INET6, STUB_GID, &entries[i].gid) != 1)
            abort();
    }
    return (ssize_t)count;
}

/* ---------------------------------------------------------------- asynchronous events */

/* Writes the event in the kernel's form, which the provider reads for siw. */
void stub_write_async(const struct ibv_async_event *event)
{
    struct ib_uverbs_async_event_desc raw = {.element = (uintptr_t)event->element.qp,
                                             .event_type = event->event_type};

    if (stub.like_siw) {
        if (write(stub_async_fd, &raw, sizeof(raw)) != (ssize_t)sizeof(raw))
            abort();
        return;
    }
    if (write(stub_async_fd, event, sizeof(*event)) != (ssize_t)sizeof(*event))
        abort();
}

void stub_raise(enum ibv_event_type type, struct ibv_qp *qp, int port)
{
    struct ibv_async_event event;

    memset(&event, 0, sizeof(event));
    event.event_type = type;
    if (qp)
        event.element.qp = qp;
    else
        event.element.port_num = port;
    stub_write_async(&event);
}

int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
    return read(context->async_fd, event, sizeof(*event)) == (ssize_t)sizeof(*event) ? 0 : -1;
}

void ibv_ack_async_event(struct ibv_async_event *event)
{
    (void)event;
}
