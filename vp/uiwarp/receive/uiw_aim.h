/* SPDX-License-Identifier: BSD-2-Clause */
/* Sends whose payload is placed elsewhere than in their receives: itx_ep_aim. All by the reader. */
#ifndef ITAPI_VP_UIWARP_RECEIVE_UIW_AIM_H
#define ITAPI_VP_UIWARP_RECEIVE_UIW_AIM_H

#include "vp/uiwarp/queue/uiw_ep.h"

/* Returns true if a message that begins with a segment of this length is aimed. */
static inline bool uiw_aim_wants(const struct uiw_aim *aim, uint32_t length)
{
    return __builtin_expect(aim->octets != NULL, false) && length >= aim->least &&
           aim->used < aim->length;
}

/* A message begins. */
static inline void uiw_aim_begin(struct uiw_aim *aim, uint32_t length)
{
    aim->current = uiw_aim_wants(aim, length);
}

/* Returns how many octets from `at` of the current message go to one place. */
static inline uint32_t uiw_aim_part(const struct uiw_aim *aim, uint32_t at, uint32_t end,
                                    bool *aimed)
{
    uint64_t last = (uint64_t)aim->skip + (aim->length - aim->used);
    uint64_t limit = at < aim->skip ? aim->skip : at < last ? last : UINT64_MAX;

    *aimed = at >= aim->skip && at < last;
    return (limit < end ? (uint32_t)limit : end) - at;
}

static inline uint8_t *uiw_aim_place(const struct uiw_aim *aim, uint32_t at)
{
    return aim->octets + aim->used + (at - aim->skip);
}

/* The message has completed. */
static inline void uiw_aim_end(struct uiw_aim *aim, uint32_t length)
{
    uint32_t left = aim->length - aim->used;

    if (__builtin_expect(!aim->current, true))
        return;
    length = length > aim->skip ? length - aim->skip : 0;
    aim->used += length < left ? length : left;
    aim->current = false;
}

it_status_t uiw_ep_aim(struct ual_ep *ual, const struct itx_aim *aim, it_length_t *used);

#endif
