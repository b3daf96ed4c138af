/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Buffers for octets that cannot stay in the consumer's memory: the rest of an FPDU that was sent
 * in part, responses whose CRC must not race with changes of their source, FPDUs with markers. An
 * IA keeps a few, so that the data path allocates only when many of its streams are blocked at
 * once.
 */
#include "vp/uiwarp/memory/uiw_memory.h"

#include <stdlib.h>

static struct uiw_bounce *bounce_make(void)
{
    return aligned_alloc(_Alignof(struct uiw_bounce), sizeof(struct uiw_bounce));
}

struct uiw_bounce *uiw_bounce_get(struct uiw_memory *memory)
{
    for (unsigned i = 0; i < UIW_BOUNCE_KEEP; i++) {
        struct uiw_bounce *bounce = NULL;

        if (atomic_load_explicit(&memory->bounces[i], memory_order_relaxed))
            bounce = atomic_exchange_explicit(&memory->bounces[i], NULL, memory_order_acquire);
        if (bounce)
            return bounce;
    }
    return bounce_make();
}

void uiw_bounce_put(struct uiw_memory *memory, struct uiw_bounce *bounce)
{
    for (unsigned i = 0; i < UIW_BOUNCE_KEEP; i++) {
        struct uiw_bounce *none = NULL;

        if (!atomic_load_explicit(&memory->bounces[i], memory_order_relaxed) &&
            atomic_compare_exchange_strong_explicit(&memory->bounces[i], &none, bounce,
                                                    memory_order_release, memory_order_relaxed))
            return;
    }
    free(bounce);
}

bool uiw_bounce_open(struct uiw_memory *memory)
{
    for (unsigned i = 0; i < UIW_BOUNCE_KEEP / 2; i++) {
        struct uiw_bounce *bounce = bounce_make();

        if (!bounce)
            return false;
        uiw_bounce_put(memory, bounce);
    }
    return true;
}

void uiw_bounce_close(struct uiw_memory *memory)
{
    for (unsigned i = 0; i < UIW_BOUNCE_KEEP; i++)
        free(atomic_exchange_explicit(&memory->bounces[i], NULL, memory_order_acquire));
}
