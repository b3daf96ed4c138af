/* SPDX-License-Identifier: BSD-2-Clause */
#include "datagram/ofa_ring.h"

#include <errno.h>
#include <stdlib.h>

int ofa_ring_open(struct ofa_ring *ring, uint32_t room, size_t size)
{
    size = (size + 7) / 8 * 8;
    ring->size = size;
    ring->room = room;
    ring->places = room ? calloc(room, size) : NULL;
    return room && !ring->places ? ENOMEM : 0;
}

static void *place_at(const struct ofa_ring *ring, uint32_t index)
{
    return ring->places + (size_t)((ring->first + index) % ring->room) * ring->size;
}

void *ofa_ring_add(struct ofa_ring *ring)
{
    return ring->count < ring->room ? place_at(ring, ring->count++) : NULL;
}

void *ofa_ring_first(const struct ofa_ring *ring)
{
    return ring->count > 0 ? place_at(ring, 0) : NULL;
}

void ofa_ring_drop_first(struct ofa_ring *ring)
{
    ring->first = (ring->first + 1) % ring->room;
    ring->count--;
}
