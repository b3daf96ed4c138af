/* SPDX-License-Identifier: BSD-2-Clause */
/* Reports when the Spigot of an IA goes online or offline. */
#ifndef ITAPI_VP_UIWARP_NET_UIW_CARRIER_H
#define ITAPI_VP_UIWARP_NET_UIW_CARRIER_H

#include "evd/loop/evd_loop.h"

#include <stdbool.h>

struct ual_ia;

#define UIW_SPIGOT 1u /* the only one */

/* Used on the loop's thread only. */
struct uiw_carrier {
    struct ual_ia *ual;
    const char *interface; /* "": all */
    int fd;                /* rtnetlink; -1: the kernel grants none, and changes are not reported */
    struct evd_io io;
    bool online; /* as last reported */
};

void uiw_carrier_open(struct uiw_carrier *carrier, struct ual_ia *ia, const char *interface);

void uiw_carrier_close(struct uiw_carrier *carrier);

#endif
