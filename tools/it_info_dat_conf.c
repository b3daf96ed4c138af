/* SPDX-License-Identifier: BSD-2-Clause */
#include "it_info_dat_conf.h"

#include <stdio.h>
#include <string.h>

#define OURS "uiwarp"

/*
 * The names for programs: itapi for uiwarp, itapi-lo for uiwarp:lo, itapi-siw0 for the device siw0.
 */
static const char *suffix_of(const char *interface)
{
    if (strcmp(interface, OURS) == 0)
        return NULL;
    if (strncmp(interface, OURS ":", strlen(OURS ":")) == 0)
        return interface + strlen(OURS ":");
    return interface;
}

void dat_conf_line(const char *interface, const char *library, bool siw)
{
    const char *suffix = suffix_of(interface);

    /* nonthreadsafe: ordinary programs do not find entries that are marked otherwise. */
    printf("itapi%s%s u2.0 nonthreadsafe default \"%s\" itapi.2.0 \"%s%s\" \"\"\n",
           suffix ? "-" : "", suffix ? suffix : "", library, interface,
           siw ? " sigpipe=ignore" : "");
}

void dat_conf_obstacle(const char *provider, const char *detail)
{
    printf("# provider %s: %s\n", provider, detail);
}
