/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/ofa_kinds.h"

#include <stdlib.h>
#include <string.h>

#define KINDS_ROOM_FIRST 8

bool ofa_kinds_push(struct ofa_kinds *kinds, uint64_t wr_id, bool invalidation)
{
    bool done = true;

    ofa_spin_take(&kinds->lock);
    if (kinds->count == kinds->room) {
        uint32_t room = kinds->room ? kinds->room * 2 : KINDS_ROOM_FIRST;
        struct ofa_kind *larger = realloc(kinds->kinds, room * sizeof(*larger));

        done = larger != NULL;
        if (larger) {
            kinds->kinds = larger;
            kinds->room = room;
        }
    }
    if (done)
        kinds->kinds[kinds->count++] =
            (struct ofa_kind){.wr_id = wr_id, .invalidation = invalidation};
    ofa_spin_drop(&kinds->lock);
    return done;
}

void ofa_kinds_unpush(struct ofa_kinds *kinds)
{
    ofa_spin_take(&kinds->lock);
    kinds->count--;
    ofa_spin_drop(&kinds->lock);
}

bool ofa_kinds_pop(struct ofa_kinds *kinds, uint64_t wr_id)
{
    bool invalidation = false;

    ofa_spin_take(&kinds->lock);
    for (uint32_t i = 0; i < kinds->count; i++) {
        if (kinds->kinds[i].wr_id != wr_id)
            continue;
        invalidation = kinds->kinds[i].invalidation;
        kinds->count--;
        memmove(&kinds->kinds[i], &kinds->kinds[i + 1],
                (kinds->count - i) * sizeof(struct ofa_kind));
        break;
    }
    ofa_spin_drop(&kinds->lock);
    return invalidation;
}

void ofa_kinds_clear(struct ofa_kinds *kinds)
{
    ofa_spin_take(&kinds->lock);
    kinds->count = 0;
    ofa_spin_drop(&kinds->lock);
}

void ofa_kinds_close(struct ofa_kinds *kinds)
{
    free(kinds->kinds);
}
