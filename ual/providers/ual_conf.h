/* SPDX-License-Identifier: BSD-2-Clause */
/* The configuration file: providers from shared libraries, aliases of Interfaces. */
#ifndef ITAPI_UAL_PROVIDERS_UAL_CONF_H
#define ITAPI_UAL_PROVIDERS_UAL_CONF_H

#include "ual/object/ual_provider.h"

#include <stdio.h>

#define UAL_CONF_DEFAULT "/etc/itapi.conf"

/* One line that asks for a provider. */
struct ual_conf_line {
    const char *file;
    unsigned number;
    const char *library; /* an absolute path, or a bare file name for the loader to search */
    const char *options; /* "" if there are none */
};

/*
 * Calls use for each line that asks for a provider and keeps each alias (ual_alias.h); every other
 * line that is not empty and not a comment is logged and skipped.
 */
void ual_conf_parse(FILE *stream, const char *file,
                    void (*use)(const struct ual_conf_line *line, void *context), void *context);

/*
 * Once per process, before there is an IA: reads the file that the environment names (unless the
 * program runs with the rights of somebody else) or else the default, and hands the providers it
 * loads to add. What goes wrong is logged, one line each, and skipped.
 */
void ual_conf_load(bool (*add)(const struct vp_provider *provider));

#endif
