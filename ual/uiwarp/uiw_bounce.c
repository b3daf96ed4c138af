/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Buffers for octets that must be kept apart from the consumer's memory: the rest of an FPDU that
 * the socket took half of, responses whose CRC must not race with changes of their source, FPDUs
 * with markers. An IA keeps a few, so that the data path allocates only when many of its streams
 * are blocked at once.
 */
#include "ual/uiwarp/uiw_ep.h"

#include <stdlib.h>

#define BOUNCE_KEEP 16u

struct uiw_bounce *uiw_bounce_get(struct uiw_ia *ia)
{
    struct uiw_bounce *bounce;

    base_lock_take(&ia->bounce_lock);
    bounce = ia->bounces;
    if (bounce) {
        ia->bounces = bounce->next;
        ia->bounce_count--;
    }
    base_lock_drop(&ia->bounce_lock);
    return bounce ? bounce : malloc(sizeof(*bounce));
}

void uiw_bounce_put(struct uiw_ia *ia, struct uiw_bounce *bounce)
{
    bool keep;

    base_lock_take(&ia->bounce_lock);
    keep = ia->bounce_count < BOUNCE_KEEP;
    if (keep) {
        bounce->next = ia->bounces;
        ia->bounces = bounce;
        ia->bounce_count++;
    }
    base_lock_drop(&ia->bounce_lock);
    if (!keep)
        free(bounce);
}

bool uiw_bounce_open(struct uiw_ia *ia)
{
    base_lock_init(&ia->bounce_lock);
    for (unsigned i = 0; i < BOUNCE_KEEP / 2; i++) {
        struct uiw_bounce *bounce = malloc(sizeof(*bounce));

        if (!bounce)
            return false;
        uiw_bounce_put(ia, bounce);
    }
    return true;
}

void uiw_bounce_close(struct uiw_ia *ia)
{
    while (ia->bounces) {
        struct uiw_bounce *bounce = ia->bounces;

        ia->bounces = bounce->next;
        free(bounce);
    }
    ia->bounce_count = 0;
    base_lock_destroy(&ia->bounce_lock);
}
