/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory of Sends that wait for a receive. One limit holds for the whole process. */
#include "vp/uiwarp/queue/uiw_ep.h"

#include "base/base_clock.h"

#include <stdlib.h>

static _Atomic uint64_t held_octets;

/* An EP gets at most half of what the others leave, so that no peer can take it all. */
static bool held_reserve(struct uiw_own *own, uint64_t octets)
{
    uint64_t before = atomic_load_explicit(&held_octets, memory_order_relaxed);

    do {
        if (own->held_octets + octets > (ITX_HOLD_OCTETS - (before - own->held_octets)) / 2)
            return false;
    } while (!atomic_compare_exchange_weak_explicit(&held_octets, &before, before + octets,
                                                    memory_order_relaxed, memory_order_relaxed));
    own->held_octets += octets;
    return true;
}

static void held_give_back(struct uiw_own *own, uint64_t octets)
{
    own->held_octets -= octets;
    (void)atomic_fetch_sub_explicit(&held_octets, octets, memory_order_relaxed);
}

struct uiw_held *uiw_held_add(struct uiw_ep *ep)
{
    struct uiw_own *own = &ep->own;
    struct uiw_held *held;

    if (!held_reserve(own, sizeof(*held)))
        return NULL;
    held = calloc(1, sizeof(*held));
    if (!held) {
        held_give_back(own, sizeof(*held));
        return NULL;
    }
    held->since_ns = base_now_ns();
    if (own->last)
        own->last->next = held;
    else
        own->first = held;
    own->last = held;
    return held;
}

/* Doubles the room each time, so that all copies together are no longer than the message. */
bool uiw_held_grow(struct uiw_ep *ep, struct uiw_held *held, uint64_t octets)
{
    struct uiw_own *own = &ep->own;
    uint64_t room = octets > 2 * (uint64_t)held->room ? octets : 2 * (uint64_t)held->room;
    uint8_t *larger;

    if (octets <= held->room)
        return true;
    if (room > UINT32_MAX)
        room = UINT32_MAX;
    if (octets > room || !held_reserve(own, room - held->room))
        return false;
    larger = realloc(held->octets, room);
    if (!larger) {
        held_give_back(own, room - held->room);
        return false;
    }
    held->octets = larger;
    held->room = (uint32_t)room;
    return true;
}

void uiw_held_drop_first(struct uiw_ep *ep)
{
    struct uiw_held *held = ep->own.first;

    ep->own.first = held->next;
    if (!ep->own.first)
        ep->own.last = NULL;
    held_give_back(&ep->own, sizeof(*held) + held->room);
    free(held->octets);
    free(held);
}
