/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Providers in shared libraries: checks of such a library, and the path of this project's own one.
 */
#include "ual/providers/ual_providers.h"

#include "base/base_log.h"

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

#define MODULE_VERSIONS 32u /* how many versions of a module are tried */

__attribute__((format(printf, 3, 4))) static const struct vp_provider *
module_refuse(struct itx_provider_info *info, itx_obstacle_t obstacle, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(info->detail, sizeof(info->detail), format, arguments); /* may be truncated */
    va_end(arguments);
    info->obstacle = obstacle;
    return NULL;
}

/* ---------------------------------------------------------------- the table of a module */

/* Counts the functions present between two offsets in the table. */
static size_t module_count(const struct vp_provider *provider, size_t from, size_t to)
{
    const unsigned char *table = (const unsigned char *)provider;
    static const unsigned char none[sizeof(void (*)(void))];
    size_t count = 0;

    for (size_t at = from; at < to; at += sizeof(none))
        count += memcmp(table + at, none, sizeof(none)) != 0;
    return count;
}

/*
 * Checks the table now, since a missing function would cause a crash much later. The functions of
 * RMRs, S-RQs and datagrams must be all present or all absent; whether they are needed is known
 * when an IA is opened.
 */
static bool module_is_complete(const struct vp_provider *provider)
{
    const size_t first = offsetof(struct vp_provider, interfaces);
    const size_t rmr = offsetof(struct vp_provider, rmr_create);
    const size_t srq = offsetof(struct vp_provider, srq_create);
    const size_t rest = offsetof(struct vp_provider, ep_create);
    const size_t ud = offsetof(struct vp_provider, address_create);
    const size_t end = VP_PROVIDER_SIZE;
    const size_t each = sizeof(provider->ep_create);
    size_t of_rmr = module_count(provider, rmr, srq);
    size_t of_srq = module_count(provider, srq, rest);
    size_t of_ud = module_count(provider, ud, end);

    return provider->name && *provider->name &&
           module_count(provider, first, rmr) == (rmr - first) / each &&
           (of_rmr == 0 || of_rmr == (srq - rmr) / each) &&
           (of_srq == 0 || of_srq == (rest - srq) / each) &&
           (of_ud == 0 || of_ud == (end - ud) / each) &&
           module_count(provider, rest, ud) == (ud - rest) / each;
}

/*
 * Returns the version of the interface that the module is made for, by the name of its entry; 0:
 * none.
 */
static unsigned module_version(void *library)
{
    char name[sizeof(VP_ENTRY_NAME) + 8];
    unsigned version = 1;

    do
        (void)snprintf(name, sizeof(name), "%.*s%u", (int)strcspn(VP_ENTRY_NAME, "0123456789"),
                       VP_ENTRY_NAME, version);
    while (!dlsym(library, name) && ++version < MODULE_VERSIONS);
    return version < MODULE_VERSIONS ? version : 0;
}

static const struct vp_provider *module_refuse_version(const char *path, unsigned version,
                                                       struct itx_provider_info *info)
{
    if (version == 0)
        return module_refuse(info, ITX_OBSTACLE_MODULE, "%s has no %s: it is not a provider", path,
                             VP_ENTRY_NAME);
    return module_refuse(
        info, ITX_OBSTACLE_MODULE,
        "%s is a provider of interface version %u, this library has %u: build it anew with the "
        "headers of this library, or use its own",
        path, version, VP_ABI);
}

static const struct vp_provider *module_provider(void *library, const char *path,
                                                 const char *options,
                                                 struct itx_provider_info *info)
{
    /* POSIX lets an object pointer hold a function pointer. */
    union {
        void *object;
        vp_entry_fn *function;
    } entry = {.object = dlsym(library, VP_ENTRY_NAME)};
    const struct vp_provider *provider;

    if (!entry.object)
        return module_refuse_version(path, module_version(library), info);
    provider = entry.function(&ual_host, options);
    if (!provider)
        return module_refuse(info, ITX_OBSTACLE_MODULE, "the provider of %s stays out", path);
    if (provider->abi != VP_ABI)
        return module_refuse_version(path, provider->abi, info);
    if (provider->size >= VP_PROVIDER_SIZE && !module_is_complete(provider))
        return module_refuse(info, ITX_OBSTACLE_MODULE,
                             "the provider's table in %s is not complete", path);
    return provider;
}

const struct vp_provider *ual_module_open(const char *path, const char *options,
                                          bool (*add)(const struct vp_provider *provider),
                                          struct itx_provider_info *info)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const struct vp_provider *provider;

    if (!library)
        return module_refuse(info, ITX_OBSTACLE_LIBRARY, "%s", dlerror());
    provider = module_provider(library, path, options, info);
    if (provider && add(provider))
        return provider;
    if (provider)
        info->obstacle = ITX_OBSTACLE_MODULE;
    (void)dlclose(library);
    return NULL;
}

/*
 * ---------------------------------------------------------------- where this project's module lies
 */

/* Returns true if the module exists and this user may read it. */
static bool module_is_readable(const char *path, bool *barred)
{
    if (access(path, R_OK) == 0)
        return true;
    *barred = errno == EACCES;
    return false;
}

/*
 * Looks in the folder of the file that contains this function: the library, or a program it is
 * linked into.
 */
static bool module_beside(char *path, size_t size, const char *name, bool *barred)
{
    /* POSIX lets an object pointer hold a function pointer. */
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

static void module_use(const char *path, bool (*add)(const struct vp_provider *provider),
                       struct itx_provider_info *info)
{
    const struct vp_provider *provider = ual_module_open(path, "", add, info);

    if (provider)
        base_log(BASE_LOG_INFO, "%s: provider %s", path, provider->name);
    else if (info->obstacle == ITX_OBSTACLE_MODULE && info->detail[0])
        base_log(BASE_LOG_WARN, "%s", info->detail);
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
        module_use(beside, add, info);
    else if (module_installed(installed, sizeof(installed), name, &barred_installed))
        module_use(installed, add, info);
    else if (barred_beside || barred_installed)
        (void)module_refuse(info, ITX_OBSTACLE_PERMISSION, "%s may not be read: %s",
                            barred_beside ? beside : installed, strerror(EACCES));
    else
        (void)module_refuse(
            info, ITX_OBSTACLE_MODULE,
            "no module itapi_%s.so, neither in the folder itapi beside the library nor in %s", name,
            ITAPI_MODULE_DIR);
    if (info->obstacle != ITX_OBSTACLE_NONE)
        base_log(BASE_LOG_INFO, "provider %s not used: %s", info->name, info->detail);
}
