/* SPDX-License-Identifier: BSD-2-Clause */
/* The providers of this process: the registry, where they come from, what they may call. */
#ifndef ITAPI_UAL_PROVIDERS_UAL_PROVIDERS_H
#define ITAPI_UAL_PROVIDERS_UAL_PROVIDERS_H

#include "ual/object/ual_provider.h"
#include "ual/vp_host.h"

#include <stdio.h>

/* ---------------------------------------------------------------- ual_registry.c */

/* Returns the pools of the provider's objects, one per type. They are never freed. */
struct base_pool *ual_pools(const struct vp_provider *provider);

/* Adds a provider; refuses another ABI or a smaller table, with a log line (ual_registry.c). */
bool vp_register(const struct vp_provider *provider);

/*
 * Returns the Interface that the name means: that of an alias, or the name itself (ual_registry.c).
 */
const char *ual_provider_interface(const char *name);

/* Returns the registered provider that has an Interface of that name, or NULL (ual_registry.c). */
const struct vp_provider *ual_provider_find(const char *interface_name);

/*
 * Logs at level error that no provider has the Interface, with a list of those that exist, and
 * returns IT_ERR_INVALID_NAME (ual_unknown.c). name: what the program asked for; interface_name:
 * after aliases.
 */
it_status_t ual_provider_refuse(const char *call, const char *name, const char *interface_name);

/* Returns the next registered provider; the first for NULL (ual_registry.c). */
const struct vp_provider *ual_provider_next(const struct vp_provider *provider);

/* ---------------------------------------------------------------- ual_module.c */

#define UAL_MODULE_VERBS "verbs"

/*
 * Loads a shared library and hands its provider to add. Returns NULL on failure, with the reason in
 * info's .obstacle and .detail; .detail is "" if add has refused the provider and logged why.
 */
const struct vp_provider *ual_module_open(const char *path, const char *options,
                                          bool (*add)(const struct vp_provider *provider),
                                          struct itx_provider_info *info);

/*
 * Loads itapi_NAME.so from the folder itapi next to the library itself, or from the installation
 * folder, and passes its provider to add. When the module or a library that it needs is missing,
 * only a log line says so, and info's .name, .obstacle and .detail.
 */
void ual_module_load(const char *name, bool (*add)(const struct vp_provider *provider),
                     struct itx_provider_info *info);

/*
 * The outcome of loading the module. A .name of "" means that no call has searched beyond the
 * built-in provider yet.
 */
const struct itx_provider_info *ual_registry_module(void); /* ual_registry.c */

/* ual_registry.c: in the child of fork(2), where no thread of the parent holds the locks. */
void ual_registry_renew(void);

/* ---------------------------------------------------------------- ual_conf.c */

#define UAL_CONF_DEFAULT "/etc/itapi.conf"

/* One line of the file that asks for a provider. */
struct ual_conf_line {
    const char *file;
    unsigned number;
    const char *library; /* an absolute path, or a bare file name for the loader to search */
    const char *options; /* "" if absent */
};

/*
 * Calls use for each line that asks for a provider, and keeps each alias. Any other line that is
 * neither empty nor a comment is logged and skipped.
 */
void ual_conf_parse(FILE *stream, const char *file,
                    void (*use)(const struct ual_conf_line *line, void *context), void *context);

/*
 * Called once per process, before there is an IA. Reads the file that the environment names (unless
 * the program runs with the rights of another user) or the default file, and passes the providers
 * it loads to add. Each line that fails is logged and skipped.
 */
void ual_conf_load(bool (*add)(const struct vp_provider *provider));

/* ---------------------------------------------------------------- ual_alias.c */

/*
 * Called while the configuration file is read, before the first lookup. Returns NULL if the alias
 * is valid, otherwise the reason to refuse it. Copies both names.
 */
const char *ual_alias_add(const char *name, const char *interface_name);

/* Returns the Interface that the name stands for, never another alias; NULL: it is no alias. */
const char *ual_alias_of(const char *name);

/* ---------------------------------------------------------------- ual_host.c, ual_host_loop.c */

/* Handed to every provider that comes from a shared library. */
extern const struct vp_host ual_host;

/* ual_host_loop.c: see vp_host.h. */
void ual_host_ia_call(struct ual_ia *ia, void (*function)(void *argument), void *argument);
bool ual_host_ia_is_current(const struct ual_ia *ia);
struct vp_task *ual_host_task_new(struct ual_ia *ia, void (*run)(void *argument), void *argument);
void ual_host_task_submit(struct vp_task *task);
void ual_host_task_free(struct vp_task *task);
struct vp_watch *ual_host_watch_start(struct ual_ia *ia, int fd, void (*ready)(void *argument),
                                      void *argument);
void ual_host_watch_stop(struct vp_watch *watch);
struct vp_timer *ual_host_timer_new(struct ual_ia *ia, void (*expired)(void *argument),
                                    void *argument);
bool ual_host_timer_start(struct vp_timer *timer, uint64_t delay_ns);
void ual_host_timer_stop(struct vp_timer *timer);
void ual_host_timer_free(struct vp_timer *timer);

#endif
