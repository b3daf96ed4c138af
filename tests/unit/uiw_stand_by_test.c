/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks which threads poll while another thread leads, and when they yield the processor. */
#include "vp/uiwarp/lead/uiw_leader.h"

#include <criterion/criterion.h>

#include <it_api.h>
#include <sched.h>

#define POLLS 20000u

static _Thread_local unsigned yields;

/* Replaces sched_yield of the C library and counts the calls of each thread. */
int sched_yield(void)
{
    yields++;
    return 0;
}

static struct {
    it_ia_handle_t ia;
    it_evd_handle_t evd;
    struct ual_ia *ual;
    struct uiw_progress *progress;
} bed;

/* Makes this thread the leader. Its polls find that somebody leads. */
static void bed_open(void)
{
    cr_assert_eq(it_ia_create("uiwarp", 2, 1, &bed.ia), IT_SUCCESS);
    cr_assert_eq(it_evd_create(bed.ia, IT_DTO_EVENT_STREAM, IT_EVD_OVERFLOW_DEFAULT, 8,
                               IT_THRESHOLD_DISABLE, NULL, &bed.evd, NULL),
                 IT_SUCCESS);
    bed.ual = ual_ia_of((const struct base_object *)(const void *)bed.evd);
    bed.progress = &uiw_ia_of(bed.ual)->progress;
    while (!uiw_leader_claim(bed.progress, UIW_LEADER_CONSUMER)) {
    }
}

static void bed_close(void)
{
    uiw_leader_release(bed.ual);
    cr_assert_eq(it_ia_free(bed.ia), IT_SUCCESS);
}

static unsigned yields_of_polls(uint32_t rounds_of_leader)
{
    it_event_t event;

    yields = 0;
    for (unsigned i = 0; i < POLLS; i++) {
        cr_assert_eq(it_evd_dequeue(bed.evd, &event), IT_ERR_QUEUE_EMPTY);
        atomic_fetch_add(&bed.progress->rounds, rounds_of_leader);
    }
    return yields;
}

Test(uiw_stand_by, a_leader_that_is_stuck_is_let_in, .init = bed_open, .fini = bed_close)
{
    unsigned seen;

    seen = yields_of_polls(0);
    cr_assert(seen >= 2 && seen <= POLLS / 500, "%u", seen);
}

Test(uiw_stand_by, a_leader_that_gets_on_is_not_minded, .init = bed_open, .fini = bed_close)
{
    cr_assert_eq(yields_of_polls(1), 0);
}

Test(uiw_stand_by, nor_one_that_sleeps, .init = bed_open, .fini = bed_close)
{
    atomic_store(&bed.progress->asleep, true);
    cr_assert_eq(yields_of_polls(0), 0);
    atomic_store(&bed.progress->asleep, false);
}

Test(uiw_stand_by, who_leads_himself_keeps_the_processor, .init = bed_open, .fini = bed_close)
{
    uiw_leader_release(bed.ual);
    while (yields_of_polls(0) != 0) { /* in case the IA's thread led in between */
    }
    while (!uiw_leader_claim(bed.progress, UIW_LEADER_CONSUMER)) {
    }
}
