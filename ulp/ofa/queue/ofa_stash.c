/* SPDX-License-Identifier: BSD-2-Clause */
#include "queue/ofa_stash.h"

#include <errno.h>
#include <stdlib.h>

static struct ofa_completion *at(const struct ofa_cq *cq, uint32_t index)
{
    return &cq->stash[(cq->stash_first + index) % cq->stash_room];
}

int ofa_stash_reserve_locked(struct ofa_cq *cq, uint32_t room)
{
    struct ofa_completion *stash;

    if (room <= cq->stash_room)
        return 0;
    stash = malloc(room * sizeof(*stash));
    if (!stash)
        return ENOMEM;
    for (uint32_t i = 0; i < cq->stash_count; i++)
        stash[i] = *at(cq, i);
    free(cq->stash);
    cq->stash = stash;
    cq->stash_room = room;
    cq->stash_first = 0;
    return 0;
}

bool ofa_stash_has_room_locked(struct ofa_cq *cq)
{
    return cq->stash_count < cq->stash_room ||
           ofa_stash_reserve_locked(cq, cq->stash_room * 2) == 0;
}

bool ofa_stash_push_locked(struct ofa_cq *cq, const struct ofa_completion *completion)
{
    if (!ofa_stash_has_room_locked(cq))
        return false;
    *at(cq, cq->stash_count) = *completion;
    cq->stash_count++;
    return true;
}

uint32_t ofa_stash_pop_locked(struct ofa_cq *cq, uint32_t room, struct ibv_wc *wc)
{
    uint32_t taken = 0;

    while (taken < room && cq->stash_count > 0) {
        wc[taken++] = at(cq, 0)->wc;
        cq->stash_first = (cq->stash_first + 1) % cq->stash_room;
        cq->stash_count--;
    }
    return taken;
}

void ofa_stash_forget_locked(struct ofa_cq *cq, const struct ofa_qp *qp)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < cq->stash_count; i++)
        if (at(cq, i)->qp != qp)
            *at(cq, kept++) = *at(cq, i);
    cq->stash_count = kept;
}
