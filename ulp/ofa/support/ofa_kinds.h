/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Binding a window and invalidating a key complete with the same event type in IT-API, but with
 * different opcodes in verbs. So a queue pair records the kinds of its signaled requests, in order.
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
    struct ofa_kind *kinds; /* oldest first */
    uint32_t room;
    uint32_t count;
};

/* Returns false if memory runs out. */
bool ofa_kinds_push(struct ofa_kinds *kinds, uint64_t wr_id, bool invalidation);

/* Undoes the last push. */
void ofa_kinds_unpush(struct ofa_kinds *kinds);

/* Removes the record of a completed request. Returns true if it was an invalidation. */
bool ofa_kinds_pop(struct ofa_kinds *kinds, uint64_t wr_id);

/* Removes all records. */
void ofa_kinds_clear(struct ofa_kinds *kinds);

void ofa_kinds_close(struct ofa_kinds *kinds);

#endif /* ITAPI_ULP_OFA_SUPPORT_OFA_KINDS_H */
