/* SPDX-License-Identifier: BSD-2-Clause */
#include "queue/ofa_park.h"

#include "queue/ofa_stash.h"

#include <stdlib.h>

#define PARK_ROOM_FIRST 16

void ofa_park_locked(struct ofa_cq *cq, const struct ofa_completion *completion)
{
    if (cq->parked_count == cq->parked_room) {
        uint32_t room = cq->parked_room ? cq->parked_room * 2 : PARK_ROOM_FIRST;
        struct ofa_completion *parked = realloc(cq->parked, room * sizeof(*parked));

        if (!parked) {
            /* Too early rather than never. */
            (void)ofa_stash_push_locked(cq, completion);
            return;
        }
        cq->parked = parked;
        cq->parked_room = room;
    }
    cq->parked[cq->parked_count++] = *completion;
}

bool ofa_unpark_locked(struct ofa_cq *cq)
{
    uint32_t kept = 0;
    bool any = false;

    for (uint32_t i = 0; i < cq->parked_count; i++) {
        if (ofa_park_wants(&cq->parked[i]))
            cq->parked[kept++] = cq->parked[i];
        else
            any |= ofa_stash_push_locked(cq, &cq->parked[i]);
    }
    cq->parked_count = kept;
    return any;
}

void ofa_park_forget_locked(struct ofa_cq *cq, const struct ofa_qp *qp)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < cq->parked_count; i++)
        if (cq->parked[i].qp != qp)
            cq->parked[kept++] = cq->parked[i];
    cq->parked_count = kept;
}
