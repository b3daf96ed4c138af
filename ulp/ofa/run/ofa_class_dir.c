/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/ofa_class_dir.h"

#include <dlfcn.h>
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <infiniband/verbs.h>

#undef ibv_get_device_list
#undef ibv_query_port

#define PORT     1
#define GIDS_MAX 64

/* The library's functions, and the folder for its devices. */
struct filler {
    const char *folder;
    struct ibv_device **(*get_device_list)(int *count);
    struct ibv_context *(*open_device)(struct ibv_device *device);
    int (*close_device)(struct ibv_context *context);
    int (*query_device)(struct ibv_context *context, struct ibv_device_attr *attr);
    int (*query_port)(struct ibv_context *context, uint8_t port,
                      struct _compat_ibv_port_attr *attr);
    ssize_t (*query_gids)(struct ibv_context *context, struct ibv_gid_entry *entries, size_t count,
                          uint32_t flags, size_t size);
    bool failed;
};

static bool complain(const char *what, const char *why)
{
    (void)fprintf(stderr, "it_run: %s: %s\n", what, why);
    return false;
}

/* ---- Files ---------------------------------------------------------------------------------- */

/* Creates all folders before the last slash of the path. */
static bool make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, 0777) != 0 && errno != EEXIST)
            return complain(path, strerror(errno));
        *slash = '/';
    }
    return true;
}

/*
 * Writes a line to FOLDER/class/infiniband/DEVICE/NAME; creates a folder if NAME ends in a slash.
 */
static void __attribute__((format(printf, 4, 5)))
put(struct filler *filler, const struct ibv_device *device, const char *name, const char *format,
    ...)
{
    char path[PATH_MAX];
    va_list list;
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/class/infiniband/%s/%s", filler->folder, device->name,
                   name);
    filler->failed |= !make_folders(path);
    if (filler->failed || name[strlen(name) - 1] == '/')
        return;
    file = fopen(path, "w");
    if (!file) {
        filler->failed = !complain(path, strerror(errno));
        return;
    }
    va_start(list, format);
    (void)vfprintf(file, format, list);
    va_end(list);
    (void)fputc('\n', file);
    (void)fclose(file);
}

/* Creates a device node that can be opened but does nothing. */
static void put_node(struct filler *filler, const char *name)
{
    char path[PATH_MAX];

    (void)snprintf(path, sizeof(path), "%s/dev/infiniband/%s", filler->folder, name);
    filler->failed |= !make_folders(path);
    if (!filler->failed && symlink("/dev/null", path) != 0 && errno != EEXIST)
        filler->failed = !complain(path, strerror(errno));
}

/* ---- Devices -------------------------------------------------------------------------------- */

static void put_guid(struct filler *filler, const struct ibv_device *device, const char *name,
                     __be64 guid)
{
    uint64_t value = be64toh(guid);

    put(filler, device, name, "%04x:%04x:%04x:%04x", (unsigned)(value >> 48),
        (unsigned)(value >> 32 & 0xffff), (unsigned)(value >> 16 & 0xffff),
        (unsigned)(value & 0xffff));
}

static void put_gid(struct filler *filler, const struct ibv_device *device,
                    const struct ibv_gid_entry *entry)
{
    const uint8_t *raw = entry->gid.raw;
    char interface[IF_NAMESIZE] = "";
    char name[64 + IF_NAMESIZE];
    char text[40] = "";

    for (int i = 0; i < 16; i += 2)
        (void)snprintf(text + i * 5 / 2, 6, "%02x%02x:", raw[i], raw[i + 1]);
    (void)snprintf(name, sizeof(name), "ports/%d/gids/%u", PORT, entry->gid_index);
    put(filler, device, name, "%.39s", text);
    (void)snprintf(name, sizeof(name), "ports/%d/gid_attrs/types/%u", PORT, entry->gid_index);
    put(filler, device, name, "RoCE v2");
    if (!if_indextoname(entry->ndev_ifindex, interface))
        return;
    (void)snprintf(name, sizeof(name), "ports/%d/gid_attrs/ndevs/%u", PORT, entry->gid_index);
    put(filler, device, name, "%s", interface);
    (void)snprintf(name, sizeof(name), "device/net/%s/", interface);
    put(filler, device, name, " ");
}

static void put_port(struct filler *filler, struct ibv_context *context)
{
    const struct ibv_device *device = context->device;
    struct ibv_gid_entry gids[GIDS_MAX];
    struct ibv_port_attr port;
    ssize_t count;
    bool up;

    memset(&port, 0, sizeof(port));
    (void)filler->query_port(context, PORT, (struct _compat_ibv_port_attr *)&port);
    up = port.state == IBV_PORT_ACTIVE;
    put(filler, device, "ports/1/state", "%s", up ? "4: ACTIVE" : "1: DOWN");
    put(filler, device, "ports/1/phys_state", "%s", up ? "5: LinkUp" : "3: Disabled");
    put(filler, device, "ports/1/rate", "40 Gb/sec (4X QDR)");
    put(filler, device, "ports/1/link_layer", "Ethernet");
    put(filler, device, "ports/1/lid", "0x%x", port.lid);
    put(filler, device, "ports/1/lid_mask_count", "%u", port.lmc);
    put(filler, device, "ports/1/sm_lid", "0x%x", port.sm_lid);
    put(filler, device, "ports/1/sm_sl", "%u", port.sm_sl);
    put(filler, device, "ports/1/cap_mask", "0x%08x", port.port_cap_flags);
    put(filler, device, "ports/1/pkeys/0", "0xffff");
    count = filler->query_gids(context, gids, GIDS_MAX, 0, sizeof(gids[0]));
    for (ssize_t i = 0; i < count; i++)
        put_gid(filler, device, &gids[i]);
}

static void put_device(struct filler *filler, struct ibv_device *device)
{
    struct ibv_context *context = filler->open_device(device);
    struct ibv_device_attr attr;

    if (!context) {
        filler->failed = !complain(device->name, strerror(errno));
        return;
    }
    memset(&attr, 0, sizeof(attr));
    (void)filler->query_device(context, &attr);
    put(filler, device, "node_type", "%s",
        device->node_type == IBV_NODE_RNIC ? "4: RNIC" : "1: CA");
    put_guid(filler, device, "node_guid", attr.node_guid);
    put_guid(filler, device, "sys_image_guid", attr.sys_image_guid);
    put(filler, device, "node_desc", "%s", device->name);
    put(filler, device, "fw_ver", "%s", attr.fw_ver);
    put(filler, device, "hw_rev", "%x", attr.hw_ver);
    put(filler, device, "hca_type", "uiwarp");
    put(filler, device, "device/numa_node", "-1");
    put_port(filler, context);
    put_node(filler, device->dev_name);
    (void)filler->close_device(context);
}

/* ---- The library ---------------------------------------------------------------------------- */

/* Stores a function of the library in the pointer `function`. */
static bool find(void *library, const char *name, void *function)
{
    void *found = dlsym(library, name);

    if (!found)
        return complain(name, dlerror());
    memcpy(function, &found, sizeof(found));
    return true;
}

bool ofa_class_dir_fill(const char *folder, const char *verbs)
{
    struct filler filler = {.folder = folder};
    void *library = dlopen(verbs, RTLD_NOW | RTLD_LOCAL);
    struct ibv_device **list;

    if (!library)
        return complain(verbs, dlerror());
    if (!find(library, "ibv_get_device_list", &filler.get_device_list) ||
        !find(library, "ibv_open_device", &filler.open_device) ||
        !find(library, "ibv_close_device", &filler.close_device) ||
        !find(library, "ibv_query_device", &filler.query_device) ||
        !find(library, "ibv_query_port", &filler.query_port) ||
        !find(library, "_ibv_query_gid_table", &filler.query_gids))
        return false;
    list = filler.get_device_list(NULL);
    if (!list)
        return complain("devices", strerror(errno));
    for (struct ibv_device **one = list; *one; one++)
        put_device(&filler, *one);
    put_node(&filler, "rdma_cm");
    return !filler.failed;
}
