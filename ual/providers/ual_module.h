/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Providers in shared libraries. One comes with this library: what it is linked with is needed on
 * no machine that has nothing for it to do.
 */
#ifndef ITAPI_UAL_PROVIDERS_UAL_MODULE_H
#define ITAPI_UAL_PROVIDERS_UAL_MODULE_H

#include "ual/object/ual_provider.h"

#define UAL_MODULE_VERBS "verbs"

/*
 * Loads a shared library and hands its provider to add. NULL: info says why, by .obstacle and
 * .detail; .detail is "" if add has refused it and said so.
 */
const struct vp_provider *ual_module_open(const char *path, const char *options,
                                          bool (*add)(const struct vp_provider *provider),
                                          struct itx_provider_info *info);

/*
 * Loads itapi_NAME.so from the folder itapi beside the library itself, or from where it is
 * installed, and hands its provider to add. Where there is none, or what it is linked with is
 * missing, nothing happens but a line in the log, and info says the same: .name, .obstacle and
 * .detail.
 */
void ual_module_load(const char *name, bool (*add)(const struct vp_provider *provider),
                     struct itx_provider_info *info);

/* The outcome, once a call has looked behind the built-in provider; .name "": it was not tried. */
const struct itx_provider_info *ual_registry_module(void); /* ual_registry.c */

#endif
