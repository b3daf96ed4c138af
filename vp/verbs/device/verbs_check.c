/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds what keeps a program from its devices, in the order in which the program would meet it. */
#include "vp/verbs/device/verbs_check.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* Octets that the check registers: any useful program registers at least this much. */
#define CHECK_MEMORY ((size_t)256 * 1024)

__attribute__((format(printf, 3, 4))) static void
check_found(struct itx_provider_info *info, itx_obstacle_t obstacle, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(info->detail, sizeof(info->detail), format, arguments); /* may be truncated */
    va_end(arguments);
    info->obstacle = obstacle;
}

/* ---------------------------------------------------------------- no device */

/* Gets the name of the first entry with that prefix. Returns false if there is none. */
static bool check_entry(const char *folder, const char *prefix, char *name, size_t size)
{
    DIR *entries = opendir(folder);
    const struct dirent *entry;
    bool found = false;

    if (!entries)
        return false;
    while (!found && (entry = readdir(entries)) != NULL) {
        found = entry->d_name[0] != '.' && strncmp(entry->d_name, prefix, strlen(prefix)) == 0;
        if (found)
            (void)snprintf(name, size, "%s", entry->d_name);
    }
    (void)closedir(entries);
    return found;
}

static void check_absence(const struct verbs_places *places, struct itx_provider_info *info)
{
    char name[NAME_MAX + 1];
    char node[NAME_MAX + 1];
    bool device = check_entry(places->devices, "", name, sizeof(name));

    if (device && !check_entry(places->nodes, VERBS_NODE, node, sizeof(node)))
        check_found(info, ITX_OBSTACLE_NODE,
                    "device %s is in %s, but no device has a node in %s (kernel module ib_uverbs)",
                    name, places->devices, places->nodes);
    else if (device)
        check_found(info, ITX_OBSTACLE_DRIVER,
                    "device %s is in %s, but libibverbs has no driver for it (package "
                    "ibverbs-providers, kernel module ib_uverbs)",
                    name, places->devices);
    else
        check_found(info, ITX_OBSTACLE_DEVICE, "no RDMA device: %s is %s", places->devices,
                    access(places->devices, F_OK) == 0 ? "empty" : "not there");
}

/* ---------------------------------------------------------------- files below /dev */

static bool check_node(const char *folder, const char *name, struct itx_provider_info *info)
{
    char path[PATH_MAX];
    int error;

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    if (faccessat(AT_FDCWD, path, R_OK | W_OK, AT_EACCESS) == 0)
        return true;
    error = errno;
    if (error == ENOENT || error == ENOTDIR)
        check_found(info, ITX_OBSTACLE_NODE, "%s is missing (kernel module %s)", path,
                    strcmp(name, VERBS_CM_NODE) == 0 ? "rdma_ucm" : "ib_uverbs");
    else
        check_found(info, ITX_OBSTACLE_PERMISSION, "%s may not be opened: %s", path,
                    strerror(error));
    return false;
}

/* ---------------------------------------------------------------- the device itself */

static void check_memory_failed(const char *name, int error, struct itx_provider_info *info)
{
    struct rlimit limit = {.rlim_cur = RLIM_INFINITY};

    (void)getrlimit(RLIMIT_MEMLOCK, &limit); /* if this fails, no limit is reported */
    if (limit.rlim_cur != RLIM_INFINITY)
        check_found(info, ITX_OBSTACLE_LOCKED_MEMORY,
                    "%s: %zu KiB cannot be registered: %s; the limit of locked memory is %llu KiB "
                    "(ulimit -l)",
                    name, CHECK_MEMORY / 1024, strerror(error),
                    (unsigned long long)limit.rlim_cur / 1024);
    else
        check_found(info, ITX_OBSTACLE_DEVICE, "%s: %zu KiB cannot be registered: %s", name,
                    CHECK_MEMORY / 1024, strerror(error));
}

static bool check_memory(struct ibv_context *context, const char *name,
                         struct itx_provider_info *info)
{
    void *memory =
        mmap(NULL, CHECK_MEMORY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct ibv_pd *pd = memory == MAP_FAILED ? NULL : ibv_alloc_pd(context);
    struct ibv_mr *mr = pd ? ibv_reg_mr(pd, memory, CHECK_MEMORY, IBV_ACCESS_LOCAL_WRITE) : NULL;

    if (!mr)
        check_memory_failed(name, errno, info);
    if (mr)
        (void)ibv_dereg_mr(mr); /* nothing uses it, nor the objects below */
    if (pd)
        (void)ibv_dealloc_pd(pd);
    if (memory != MAP_FAILED)
        (void)munmap(memory, CHECK_MEMORY);
    return mr != NULL;
}

static bool check_device(struct ibv_device *device, struct itx_provider_info *info)
{
    const char *name = ibv_get_device_name(device);
    struct ibv_context *context = ibv_open_device(device);
    bool works;

    if (!context) {
        check_found(
            info, errno == EACCES || errno == EPERM ? ITX_OBSTACLE_PERMISSION : ITX_OBSTACLE_DEVICE,
            "%s cannot be opened: %s", name, strerror(errno));
        return false;
    }
    works = check_memory(context, name, info);
    (void)ibv_close_device(context);
    return works;
}

/* ---------------------------------------------------------------- all of it */

void verbs_check(const struct verbs_places *places, struct itx_provider_info *info)
{
    struct ibv_device **devices = ibv_get_device_list(NULL);
    bool works = true;
    size_t i;

    if (!devices || !devices[0])
        check_absence(places, info);
    else
        works = check_node(places->nodes, VERBS_CM_NODE, info);
    for (i = 0; devices && devices[i] && works; i++)
        works =
            check_node(places->nodes, devices[i]->dev_name, info) && check_device(devices[i], info);
    if (devices)
        ibv_free_device_list(devices);
}

void verbs_obstacle(struct itx_provider_info *info)
{
    static const struct verbs_places places = {.devices = "/sys/class/infiniband",
                                               .nodes = "/dev/infiniband"};

    verbs_check(&places, info);
}
