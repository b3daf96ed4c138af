/* SPDX-License-Identifier: BSD-2-Clause */
/* Entries of EPs: deferred posts, held posts, messages that hold a receive of an S-RQ. */
#include "base/base_clock.h"
#include "evd/queue/evd_object.h"
#include "vp/uiwarp/queue/uiw_srq.h"

#include <criterion/criterion.h>

#include "uiw_bed.h"

#define BEDS 3u

static struct uiw_bed beds[BEDS]; /* EPs of one IA, with request EVDs of their own */
static struct uiw_progress *progress;

static void setup(void)
{
    fx_node_open(&beds[0].node);
    for (unsigned i = 0; i < BEDS; i++) {
        struct uiw_bed *bed = &beds[i];

        bed->node = beds[0].node;
        bed->node.request_evd = fx_evd(&bed->node, IT_DTO_EVENT_STREAM, 64, 1);
        uiw_bed_use(bed, fx_ep(&bed->node, NULL));
        progress = &bed->ep->ia->progress;
        /* Keeps the loop from looking by itself. */
        atomic_store(&bed->ual->state, IT_EP_STATE_CONNECTED);
    }
    atomic_store(&progress->deferred.sweeping, true);
    atomic_store(&progress->held.sweeping, true);
    atomic_store(&progress->drawn.sweeping, true);
}

static void teardown(void)
{
    for (unsigned i = 0; i < BEDS; i++) {
        uiw_later_leave(beds[i].ual);
        atomic_store(&beds[i].ual->state, IT_EP_STATE_UNCONNECTED);
    }
    fx_node_close(&beds[0].node);
}

TestSuite(uiw_later, .init = setup, .fini = teardown);

static bool is_listed(const struct uiw_agenda_entry *entry)
{
    return atomic_load(&entry->state) == UIW_AGENDA_LISTED;
}

static void hold(struct uiw_bed *bed)
{
    (void)uiw_bed_post(bed, VP_SEND, FX_SIGNAL, 0);
    uiw_later_hold(bed->ual);
}

static void set_awaited(const struct uiw_bed *bed, bool awaited)
{
    atomic_store(&bed->ual->request_evd->waiters_used, awaited);
}

static bool none(const struct uiw_agenda_entry *entry, const void *key)
{
    (void)entry;
    (void)key;
    return false;
}

static void look_for_nothing(struct uiw_agenda *agenda)
{
    uiw_agenda_run(agenda, none, NULL, NULL);
}

/* A deferred post marks both EVDs, and marks them again after another thread had the EP in hand. */
Test(uiw_later, a_deferred_post_marks_its_evds)
{
    struct uiw_bed *bed = &beds[0];
    struct evd *evds[] = {bed->ual->request_evd, bed->ual->recv_evd};

    uiw_later_defer(bed->ual);
    for (unsigned round = 0; round < 2; round++) {
        cr_assert(is_listed(&bed->ep->later.deferred));
        for (unsigned i = 0; i < 2; i++)
            cr_assert(atomic_exchange(&evds[i]->unsent, false));
        look_for_nothing(&progress->deferred);
    }
    cr_assert_eq(uiw_later_here, progress);
    cr_assert_eq(bed->ep->later.deferred_by, &uiw_later_here);
}

Test(uiw_later, a_held_post_stays)
{
    hold(&beds[0]);
    hold(&beds[0]);
    look_for_nothing(&progress->held);
    cr_assert(is_listed(&beds[0].ep->later.held));
    cr_assert_eq(beds[0].ep->sq_ready, 0);
    cr_assert(uiw_agenda_is_empty(&progress->deferred));
}

static void check_deferred(const struct uiw_bed *bed)
{
    cr_assert_eq(atomic_load(&bed->ep->later.held.state), 0);
    cr_assert(is_listed(&bed->ep->later.deferred));
    cr_assert_eq(bed->ep->sq_ready, atomic_load(&bed->ep->sq.tail));
}

Test(uiw_later, a_held_post_that_is_awaited_is_deferred)
{
    set_awaited(&beds[0], true);
    hold(&beds[0]);
    check_deferred(&beds[0]);
    set_awaited(&beds[0], false);
}

/* A thread begins to wait while another has the EP in hand, so the waiter does not find it. */
Test(uiw_later, an_awaited_post_that_was_out_of_sight_is_deferred)
{
    for (unsigned i = 0; i < BEDS; i++)
        hold(&beds[i]);
    set_awaited(&beds[1], true);
    look_for_nothing(&progress->held);
    check_deferred(&beds[1]);
    cr_assert(is_listed(&beds[0].ep->later.held));
    cr_assert(is_listed(&beds[2].ep->later.held));
    set_awaited(&beds[1], false);
}

Test(uiw_later, an_ep_leaves)
{
    for (unsigned i = 0; i < BEDS; i++) {
        hold(&beds[i]);
        uiw_later_defer(beds[i].ual);
        uiw_srq_watch_enter(beds[i].ep);
    }
    uiw_later_leave(beds[1].ual);
    for (unsigned i = 0; i < BEDS; i++) {
        const struct uiw_later *later = &beds[i].ep->later;

        cr_assert_eq(is_listed(&later->held), i != 1);
        cr_assert_eq(is_listed(&later->deferred), i != 1);
        cr_assert_eq(is_listed(&later->drawn), i != 1);
    }
    cr_assert_eq(atomic_load(&beds[1].ep->later.deferred.state), 0);
}

/* An S-RQ may shorten the time between two checks. None makes it longer. */
Test(uiw_later, how_often_messages_are_looked_at)
{
    static const struct {
        uint64_t timeout_us, limit_ns, period_ns;
    } rows[] = {
        {30000000, 30 * BASE_NS_PER_S, BASE_NS_PER_S},
        {800000, 800 * BASE_NS_PER_MS, 100 * BASE_NS_PER_MS},
        {UINT64_MAX, BASE_NEVER, 100 * BASE_NS_PER_MS},
        {0, BASE_NS_PER_MS, BASE_NS_PER_MS / 8},
    };
    struct ual_srq *srq = (struct ual_srq *)(void *)fx_srq(&beds[0].node, 1, 1);

    cr_assert_eq(uiw_srq_of(srq)->limit_ns, 30 * BASE_NS_PER_S);
    for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        CHECK_OK(uiw_srq_set_message_timeout(srq, rows[i].timeout_us));
        cr_assert_eq(uiw_srq_of(srq)->limit_ns, rows[i].limit_ns);
        cr_assert_eq(progress->drawn.period_ns, rows[i].period_ns);
    }
}
