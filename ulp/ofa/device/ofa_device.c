/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The list of devices: uiwarp0 for all addresses, then one for each network interface, loopback
 * last.
 */
#include "device/ofa_device.h"

#include "object/ofa_door.h"
#include "support/ofa_log.h"

#include <endian.h>
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#undef ibv_get_device_list

#define INTERFACES_MAX 64

_Static_assert(sizeof(struct ibv_device) == 664, "drivers read what lies behind it");
_Static_assert(offsetof(struct ofa_device, driver) == 664, "where libmlx5 and libefa look");

/* ---- One device ----------------------------------------------------------------------------- */

static bool is_iwarp(void)
{
    const char *model = secure_getenv("ITAPI_OFA_MODEL");

    return model && strcmp(model, "iwarp") == 0;
}

/* Returns a GUID that depends only on host and name; locally administered. */
static __be64 make_guid(const char *name)
{
    char host[65] = "";
    uint64_t hash = UINT64_C(14695981039346656037);

    (void)gethostname(host, sizeof(host) - 1);
    for (const char *c = host; *c; c++)
        hash = (hash ^ (unsigned char)*c) * UINT64_C(1099511628211);
    for (const char *c = name; *c; c++)
        hash = (hash ^ (unsigned char)*c) * UINT64_C(1099511628211);
    hash = (hash & ~(UINT64_C(3) << 56)) | UINT64_C(2) << 56;
    return htobe64(hash);
}

static struct ofa_device *create(int index, const char *net)
{
    struct ofa_device *device = calloc(1, sizeof(*device));

    if (!device)
        return NULL;
    device->base.node_type = is_iwarp() ? IBV_NODE_RNIC : IBV_NODE_CA;
    device->base.transport_type = is_iwarp() ? IBV_TRANSPORT_IWARP : IBV_TRANSPORT_IB;
    if (net)
        (void)snprintf(device->base.name, sizeof(device->base.name), OFA_PREFIX "_%s", net);
    else
        (void)snprintf(device->base.name, sizeof(device->base.name), OFA_PREFIX "0");
    (void)snprintf(device->base.dev_name, sizeof(device->base.dev_name), "uverbs%d", index);
    (void)snprintf(device->base.dev_path, sizeof(device->base.dev_path),
                   "/sys/class/infiniband_verbs/uverbs%d", index);
    (void)snprintf(device->base.ibdev_path, sizeof(device->base.ibdev_path),
                   "/sys/class/infiniband/%s", device->base.name);
    if (net) {
        (void)snprintf(device->interface, sizeof(device->interface), "uiwarp:%s", net);
        (void)snprintf(device->net, sizeof(device->net), "%s", net);
    } else {
        (void)snprintf(device->interface, sizeof(device->interface), "uiwarp");
    }
    device->driver = &device->driver;
    device->door = &ofa_door;
    device->index = index;
    device->guid = make_guid(device->base.name);
    atomic_init(&device->users, 1);
    return device;
}

void ofa_device_hold(struct ofa_device *device)
{
    atomic_fetch_add_explicit(&device->users, 1, memory_order_relaxed);
}

void ofa_device_release(struct ofa_device *device)
{
    if (atomic_fetch_sub_explicit(&device->users, 1, memory_order_acq_rel) == 1)
        free(device);
}

/* ---- The list ------------------------------------------------------------------------------- */

static bool has_flags(int fd, const char *name, short flags)
{
    struct ifreq request;

    memset(&request, 0, sizeof(request));
    (void)snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
    return ioctl(fd, SIOCGIFFLAGS, &request) == 0 && (request.ifr_flags & flags) == flags;
}

/* Adds interfaces in the order of their index, which is stable. */
static int add_interfaces(struct ibv_device **list, int count, bool loopback)
{
    struct if_nameindex *names = if_nameindex();
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    for (struct if_nameindex *one = names; one && one->if_index && count < INTERFACES_MAX; one++) {
        struct ofa_device *device;

        if (!has_flags(fd, one->if_name, IFF_UP) ||
            has_flags(fd, one->if_name, IFF_LOOPBACK) != loopback)
            continue;
        device = create(count, one->if_name);
        if (device)
            list[count++] = &device->base;
    }
    if (names)
        if_freenameindex(names);
    if (fd >= 0)
        (void)close(fd);
    return count;
}

struct ibv_device **ibv_get_device_list(int *num_devices)
{
    struct ibv_device **list = calloc(INTERFACES_MAX + 1, sizeof(struct ibv_device *));
    struct ofa_device *all = create(0, NULL);
    int count;

    if (!list || !all) {
        free(list);
        free(all);
        errno = ENOMEM;
        return NULL;
    }
    list[0] = &all->base;
    count = add_interfaces(list, 1, false);
    count = add_interfaces(list, count, true);
    if (num_devices)
        *num_devices = count;
    return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
    for (struct ibv_device **one = list; *one; one++)
        ofa_device_release(ofa_device_of(*one));
    free(list);
}

const char *ibv_get_device_name(struct ibv_device *device)
{
    return device->name;
}

__be64 ibv_get_device_guid(struct ibv_device *device)
{
    return ofa_device_of(device)->guid;
}

int ibv_get_device_index(struct ibv_device *device)
{
    return ofa_device_of(device)->index;
}
