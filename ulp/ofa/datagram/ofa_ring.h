/* SPDX-License-Identifier: BSD-2-Clause */
/* A ring of requests or receives in places of one size, oldest first. */
#ifndef ITAPI_ULP_OFA_DATAGRAM_OFA_RING_H
#define ITAPI_ULP_OFA_DATAGRAM_OFA_RING_H

#include <stddef.h>
#include <stdint.h>

struct ofa_ring {
    unsigned char *places;
    size_t size; /* of a place */
    uint32_t room;
    uint32_t first;
    uint32_t count;
};

/* Returns 0 or ENOMEM. The caller frees .places. */
int ofa_ring_open(struct ofa_ring *ring, uint32_t room, size_t size);

/* Adds a place at the end and returns it; NULL: the ring is full. */
void *ofa_ring_add(struct ofa_ring *ring);

/* Returns the oldest; NULL: the ring is empty. */
void *ofa_ring_first(const struct ofa_ring *ring);

void ofa_ring_drop_first(struct ofa_ring *ring);

#endif /* ITAPI_ULP_OFA_DATAGRAM_OFA_RING_H */
