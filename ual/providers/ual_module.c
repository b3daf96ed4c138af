/* SPDX-License-Identifier: BSD-2-Clause */
#include "ual/providers/ual_module.h"

#include "base/base_log.h"
#include "ual/providers/ual_conf.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifndef ITAPI_MODULE_DIR
#define ITAPI_MODULE_DIR "/usr/local/lib/itapi"
#endif

/* A module that is there, and that this user may read. */
static bool module_is_readable(const char *path, bool *barred)
{
    if (access(path, R_OK) == 0)
        return true;
    *barred = errno == EACCES;
    return false;
}

/* Beside the file that holds this function: the library, or a program it is linked into. */
static bool module_beside(char *path, size_t size, const char *name, bool *barred)
{
    /* POSIX lets a pointer to an object hold that to a function. */
    union {
        void (*function)(const char *name, bool (*add)(const struct vp_provider *provider),
                         struct itx_provider_info *info);
        void *object;
    } here = {.function = ual_module_load};
    Dl_info info;
    const char *end;
    int length;

    if (!dladdr(here.object, &info) || !info.dli_fname || info.dli_fname[0] != '/')
        return false;
    end = strrchr(info.dli_fname, '/');
    length = snprintf(path, size, "%.*s/itapi/itapi_%s.so", (int)(end - info.dli_fname),
                      info.dli_fname, name);
    return length > 0 && (size_t)length < size && module_is_readable(path, barred);
}

static bool module_installed(char *path, size_t size, const char *name, bool *barred)
{
    int length = snprintf(path, size, "%s/itapi_%s.so", ITAPI_MODULE_DIR, name);

    return length > 0 && (size_t)length < size && module_is_readable(path, barred);
}

__attribute__((format(printf, 3, 4))) static void
module_refuse(struct itx_provider_info *info, itx_obstacle_t obstacle, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(info->detail, sizeof(info->detail), format, arguments); /* may be cut */
    va_end(arguments);
    info->obstacle = obstacle;
    base_log(BASE_LOG_INFO, "provider %s not used: %s", info->name, info->detail);
}

static void module_open(const char *path, bool (*add)(const struct vp_provider *provider),
                        struct itx_provider_info *info)
{
    const struct ual_conf_line line = {.file = path, .library = path, .options = ""};
    const struct vp_provider *provider;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    if (!library) {
        module_refuse(info, ITX_OBSTACLE_LIBRARY, "%s", dlerror());
        return;
    }
    provider = ual_conf_provider_of(&line, library);
    if (provider && add(provider)) {
        base_log(BASE_LOG_INFO, "%s: provider %s", path, provider->name);
        return;
    }
    module_refuse(info, ITX_OBSTACLE_MODULE, "%s is of another version (ITAPI_LOG=warn says more)",
                  path);
    (void)dlclose(library);
}

void ual_module_load(const char *name, bool (*add)(const struct vp_provider *provider),
                     struct itx_provider_info *info)
{
    char beside[PATH_MAX];
    char installed[PATH_MAX];
    bool barred_beside = false;
    bool barred_installed = false;

    (void)snprintf(info->name, sizeof(info->name), "%s", name);
    if (module_beside(beside, sizeof(beside), name, &barred_beside))
        module_open(beside, add, info);
    else if (module_installed(installed, sizeof(installed), name, &barred_installed))
        module_open(installed, add, info);
    else if (barred_beside || barred_installed)
        module_refuse(info, ITX_OBSTACLE_PERMISSION, "%s may not be read: %s",
                      barred_beside ? beside : installed, strerror(EACCES));
    else
        module_refuse(
            info, ITX_OBSTACLE_MODULE,
            "no module itapi_%s.so, neither in the folder itapi beside the library nor in %s", name,
            ITAPI_MODULE_DIR);
}
