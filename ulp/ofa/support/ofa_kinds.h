/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Binding a window and invalidating a key complete with one kind of event of IT-API, with two
 * opcodes of verbs. A queue pair remembers, in their order, which of its requests that complete
 * with an event was what.
 */
#ifndef ITAPI_ULP_OFA_SUPPORT_OFA_KINDS_H
#define ITAPI_ULP_OFA_SUPPORT_OFA_KINDS_H

#include "support/ofa_spin.h"

#include <stdbool.h>
#include <stdint.h>

struct ofa_kind {
    uint64_t wr_id;
    bool invalidation;
};

struct ofa_kinds {
    struct ofa_spin lock;
    struct ofa_kind *kinds; /* the oldest first */
    uint32_t room;
    uint32_t count;
};

/* False: out of memory. */
bool ofa_kinds_push(struct ofa_kinds *kinds, uint64_t wr_id, bool invalidation);

/* Takes back the last push. */
void ofa_kinds_unpush(struct ofa_kinds *kinds);

/* Whether the request that completes was an invalidation; it is forgotten. */
bool ofa_kinds_pop(struct ofa_kinds *kinds, uint64_t wr_id);

/* Forgets all. */
void ofa_kinds_clear(struct ofa_kinds *kinds);

void ofa_kinds_close(struct ofa_kinds *kinds);

#endif /* ITAPI_ULP_OFA_SUPPORT_OFA_KINDS_H */
