/* SPDX-License-Identifier: BSD-2-Clause */
/* Interfaces, one per device. Opens and closes IAs, and finds out what their devices can do. */
#include "vp/verbs/provider/verbs_provider.h"

#include "vp/verbs/device/verbs_descriptor.h"
#include "vp/verbs/device/verbs_query.h"
#include "vp/verbs/provider/verbs_cm_ep.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define VERBS_NODES "/dev/infiniband"

#define VERBS_MAX_EVENTS      (1u << 20)
#define VERBS_API_MAJOR       2
#define VERBS_API_MINOR       1
#define VERBS_VENDOR_SIW      0x626d74u
#define VERBS_VENDOR_RXE      0xffffffu
#define VERBS_RXE_INVALIDATED (1u << 2)
#define VERBS_IMMEDIATE       32 /* bits */

/*
 * libsiw reads one particular mmap offset as "no mapping", and fails to create the object that gets
 * it. Offsets are given out from 0 on, so a CQ whose mapping covers that offset keeps it from other
 * objects.
 */
#define VERBS_FILLER_ENTRIES 32768

/* ---------------------------------------------------------------- Interfaces */

/* Only devices that connect reliably are Interfaces. */
static bool device_is_known(const struct ibv_device *device)
{
    return device->transport_type == IBV_TRANSPORT_IB ||
           device->transport_type == IBV_TRANSPORT_IWARP;
}

/*
 * Returns 0 or errno. A container sees its host's devices but has no nodes for them. rdma-core
 * would wait some seconds for such a node, in case it is just being created.
 */
static int device_node_error(const struct ibv_device *device, int mode)
{
    char path[sizeof(VERBS_NODES "/") + sizeof(device->dev_name)];

    if (device->dev_name[0] == '\0')
        return 0;                                                            /* unknown */
    (void)snprintf(path, sizeof(path), VERBS_NODES "/%s", device->dev_name); /* fits */
    return faccessat(AT_FDCWD, path, mode, AT_EACCESS) == 0 ? 0 : errno;
}

static bool device_is_served(const struct ibv_device *device)
{
    return device_is_known(device) && device_node_error(device, F_OK) != ENOENT;
}

static it_transport_type_t device_transport(const struct ibv_device *device)
{
    return device->transport_type == IBV_TRANSPORT_IWARP ? IT_IWARP_TCP_TRANSPORT : IT_IB_TRANSPORT;
}

static void device_describe(it_interface_t *interface, struct ibv_device *device)
{
    memset(interface, 0, sizeof(*interface));
    interface->major_version = VERBS_API_MAJOR;
    interface->minor_version = VERBS_API_MINOR;
    interface->transport_type = device_transport(device);
    /* A device's name is shorter than an Interface's; the rest is zero. */
    memcpy(interface->name, ibv_get_device_name(device),
           strnlen(ibv_get_device_name(device), sizeof(interface->name) - 1));
}

size_t verbs_interfaces(it_interface_t *interfaces, size_t capacity)
{
    struct ibv_device **devices = ibv_get_device_list(NULL);
    size_t count = 0;

    if (!devices)
        return 0; /* also on a kernel without RDMA */
    for (size_t i = 0; devices[i]; i++) {
        if (!device_is_served(devices[i]))
            continue;
        if (count < capacity)
            device_describe(&interfaces[count], devices[i]);
        count++;
    }
    ibv_free_device_list(devices);
    return count;
}

static struct ibv_device *device_find(struct ibv_device **devices, const char *name)
{
    for (size_t i = 0; devices[i]; i++)
        if (device_is_served(devices[i]) && strcmp(ibv_get_device_name(devices[i]), name) == 0)
            return devices[i];
    return NULL;
}

bool verbs_has_interface(const char *name)
{
    struct ibv_device **devices = ibv_get_device_list(NULL);
    bool found;

    if (!devices)
        return errno == ENOMEM;
    found = device_find(devices, name) != NULL;
    ibv_free_device_list(devices);
    return found;
}

/* Opens the device of that name. Returns NULL with errno set on failure. */
static struct ibv_context *device_open(const char *name)
{
    struct ibv_device **devices = ibv_get_device_list(NULL);
    struct ibv_context *context = NULL;
    struct ibv_device *device;
    int error = ENODEV;

    if (!devices)
        return NULL;
    device = device_find(devices, name);
    if (device)
        error = device_node_error(device, R_OK | W_OK);
    if (device && error == 0) {
        context = ibv_open_device(device);
        error = errno;
    }
    ibv_free_device_list(devices);
    errno = error;
    return context;
}

/* ---------------------------------------------------------------- what the device can do */

static uint32_t device_count(int value)
{
    return value > 0 ? (uint32_t)value : 0;
}

static size_t device_segments(int value)
{
    uint32_t segments = device_count(value);

    return segments < VERBS_MAX_SEGMENTS ? segments : VERBS_MAX_SEGMENTS;
}

static it_rmr_type_t device_rmr_types(const struct verbs_ia *ia)
{
    unsigned flags = ia->device.orig_attr.device_cap_flags;
    unsigned types = 0;

    if (ia->device.orig_attr.max_mw == 0)
        return (it_rmr_type_t)0;
    if (flags & ((unsigned)IBV_DEVICE_MEM_WINDOW_TYPE_2A | (unsigned)IBV_DEVICE_MEM_WINDOW_TYPE_2B))
        types |= IT_RMR_TYPE_NARROW;
    if (flags & (unsigned)IBV_DEVICE_MEM_WINDOW)
        types |= IT_RMR_TYPE_WIDE;
    return (it_rmr_type_t)types;
}

static uint64_t device_max_message(const struct verbs_ia *ia)
{
    struct ibv_port_attr port;
    uint64_t limit = UINT32_MAX; /* a completion has a 32-bit length */

    for (uint8_t number = 1; number <= ia->ports; number++) {
        if (verbs_query_port(ia, number, &port) && port.max_msg_sz < limit)
            limit = port.max_msg_sz;
    }
    return limit;
}

static uint32_t device_least(uint32_t one, uint32_t other)
{
    return one < other ? one : other;
}

/*
 * The longest send queue: its requests and the provider's own fit in a QP, and their completions in
 * one CQ (source_request_need of verbs_join.c).
 */
static uint32_t device_max_requests(const struct verbs_ia *ia)
{
    const struct ibv_device_attr *device = &ia->device.orig_attr;
    int own = 1 + (ia->quirks.is_siw ? VERBS_NUDGES : 0);

    return device_least(device_count(device->max_qp_wr - own),
                        device_count(device->max_cqe - own) / (device_rmr_types(ia) ? 2 : 1));
}

/* verbs_cm_ep.c adds private data, conversion and timeouts. */
static void device_fill_attributes(struct verbs_ia *ia)
{
    const struct ibv_device_attr *device = &ia->device.orig_attr;
    size_t segments = device_segments(device->max_sge);
    size_t read_segments = device_segments(device->max_sge_rd);
    bool atomics = device->atomic_cap != IBV_ATOMIC_NONE;

    ia->attributes = (struct vp_attributes){
        .transport_type = ia->is_iwarp ? IT_IWARP_TCP_TRANSPORT : IT_IB_TRANSPORT,
        .three_way = ia->is_iwarp ? IT_FALSE : IT_TRUE,
        .srq = device->max_srq > 0 && device->max_srq_wr > 0 ? IT_TRUE : IT_FALSE,
        .ird_modifiable = IT_TRUE, /* until the connection sends it to the peer */
        .enables_modifiable = ia->quirks.is_siw ? IT_FALSE : IT_TRUE, /* siw ignores them */
        .rmr_types = device_rmr_types(ia),
        .narrow_unlink = device_rmr_types(ia) & IT_RMR_TYPE_NARROW ? IT_TRUE : IT_FALSE,
        .wide_unlink = device_rmr_types(ia) & IT_RMR_TYPE_WIDE ? IT_TRUE : IT_FALSE,
        .send_unlink =
            device->device_cap_flags & IBV_DEVICE_MEM_MGT_EXTENSIONS ? IT_TRUE : IT_FALSE,
        .atomics = atomics ? IT_TRUE : IT_FALSE,
        .datagrams = ia->is_iwarp ? IT_FALSE : IT_TRUE,
        .immediate_bits = ia->is_iwarp ? 0 : VERBS_IMMEDIATE,
        .send_imm_receives = 1,
        .max_request_dtos = device_max_requests(ia),
        .max_recv_dtos =
            device_least(device_count(device->max_qp_wr), device_count(device->max_cqe)),
        .max_srq_dtos =
            device_least(device_count(device->max_srq_wr), device_count(device->max_cqe)),
        .max_send_segments = segments,
        .max_recv_segments = segments,
        .max_read_segments = ia->is_iwarp ? (read_segments ? read_segments : 1) : segments,
        .max_write_segments = segments,
        .max_message = device_max_message(ia),
        .max_lmr_length = device->max_mr_size,
        .max_ird = device_count(device->max_qp_rd_atom),
        .max_ord = device_count(device->max_qp_init_rd_atom),
        .max_evd_queue = VERBS_MAX_EVENTS,
        .active_quals = IT_IANA_PORT | IT_IANA_LR_PORT,
        .passive_quals = IT_IANA_PORT | IT_IANA_LR_PORT,
    };
}

static void device_find_quirks(struct verbs_ia *ia)
{
    bool is_siw = ia->is_iwarp && ia->device.orig_attr.vendor_id == VERBS_VENDOR_SIW;
    bool is_rxe = !ia->is_iwarp && ia->device.orig_attr.vendor_id == VERBS_VENDOR_RXE;

    ia->quirks = (struct verbs_quirks){
        .is_siw = is_siw,
        .is_rxe = is_rxe,
        .zero_segments = is_siw,
        .late_posts_lost = is_siw,
        .reads_overtaken = is_siw,
        .invalidated = is_rxe ? VERBS_RXE_INVALIDATED : IBV_WC_WITH_INV,
    };
}

/* ---------------------------------------------------------------- opening and closing */

static it_status_t device_open_status(int error)
{
    switch (error) {
    case ENODEV:
    case ENOENT:
        return IT_ERR_INVALID_NAME;
    case EACCES:
    case EPERM:
        return IT_ERR_NO_PERMISSION;
    default:
        return IT_ERR_RESOURCES;
    }
}

it_status_t verbs_ia_open(struct ual_ia *ual)
{
    struct verbs_ia *ia = verbs_ia_of(ual);
    const char *name = verbs_host->ia_name(ual);
    it_status_t status = IT_ERR_RESOURCES;
    int error;

    ia->ual = ual;
    ia->context = device_open(name);
    if (!ia->context) {
        error = errno;
        verbs_log(VP_LOG_WARN, "%s: its node in " VERBS_NODES " cannot be opened: %s", name,
                  strerror(error));
        return device_open_status(error);
    }
    verbs_descriptor_renumber(&ia->context->async_fd);
    error = ibv_query_device_ex(ia->context, NULL, &ia->device);
    if (error) {
        verbs_log(VP_LOG_WARN, "%s: cannot be queried: %s", name, strerror(error));
        goto err_close;
    }
    ia->is_iwarp = ia->context->device->transport_type == IBV_TRANSPORT_IWARP;
    ia->ports =
        ia->device.phys_port_cnt_ex > UINT8_MAX ? UINT8_MAX : (uint8_t)ia->device.phys_port_cnt_ex;
    if (ia->ports == 0)
        ia->ports = ia->device.orig_attr.phys_port_cnt;
    device_find_quirks(ia);
    device_fill_attributes(ia);
    (void)pthread_mutex_init(&ia->attach_lock, NULL); /* cannot fail */
    (void)pthread_mutex_init(&ia->rmr_lock, NULL);
    if (ia->quirks.is_siw)
        ia->filler = ibv_create_cq(ia->context, VERBS_FILLER_ENTRIES, NULL, NULL, 0);
    if (!verbs_async_open(ia))
        goto err_filler;
    status = verbs_cm_open(ia);
    if (status != IT_SUCCESS)
        goto err_async;
    return IT_SUCCESS;

err_async:
    verbs_async_close(ia);
err_filler:
    if (ia->filler)
        (void)ibv_destroy_cq(ia->filler); /* nothing uses it */
    (void)pthread_mutex_destroy(&ia->rmr_lock);
    (void)pthread_mutex_destroy(&ia->attach_lock);
err_close:
    (void)ibv_close_device(ia->context);
    return status;
}

void verbs_ia_close(struct ual_ia *ual)
{
    struct verbs_ia *ia = verbs_ia_of(ual);

    verbs_cm_close(ia);
    verbs_async_close(ia);
    if (ia->filler)
        (void)ibv_destroy_cq(ia->filler); /* nothing uses it */
    (void)pthread_mutex_destroy(&ia->rmr_lock);
    (void)pthread_mutex_destroy(&ia->attach_lock);
    if (ibv_close_device(ia->context) != 0)
        verbs_log(VP_LOG_WARN, "%s: not closed cleanly", verbs_host->ia_name(ual));
}

const struct vp_attributes *verbs_ia_attributes(const struct ual_ia *ual)
{
    return &verbs_ia_of(ual)->attributes;
}
