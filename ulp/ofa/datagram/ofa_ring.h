/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests or receives, oldest first, in places of the same size. */
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

/* 0 or ENOMEM; "places" is the caller's to free. */
int ofa_ring_open(struct ofa_ring *ring, uint32_t room, size_t size);

/* The place behind the last; NULL: there is none. */
void *ofa_ring_add(struct ofa_ring *ring);

/* NULL: it is empty. */
void *ofa_ring_first(const struct ofa_ring *ring);

void ofa_ring_drop_first(struct ofa_ring *ring);

#endif /* ITAPI_ULP_OFA_DATAGRAM_OFA_RING_H */
