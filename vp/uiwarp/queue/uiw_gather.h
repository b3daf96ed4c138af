/* SPDX-License-Identifier: BSD-2-Clause */
/* When to look at a stream whose messages come in many small segments; see uiw_gather.c. */
#ifndef ITAPI_VP_UIWARP_QUEUE_UIW_GATHER_H
#define ITAPI_VP_UIWARP_QUEUE_UIW_GATHER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Reader, with rx.token; until_ns is read by the leader. */
struct uiw_gather {
    _Atomic uint64_t until_ns; /* no look before; 0: at any time */
    uint64_t since_ns;         /* the first look that left a message unfinished; 0: none is */
    bool wanted;
};

#endif
