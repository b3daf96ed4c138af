/* SPDX-License-Identifier: BSD-2-Clause */
/* When there is a pause between two looks at a stream. */
#include "vp/uiwarp/queue/uiw_gather.h"

#include "base/base_clock.h"
#include "vp/uiwarp/receive/uiw_pause.h"

#include <criterion/criterion.h>

static void look_unfinished_for(struct uiw_gather *gather, uint64_t ns)
{
    gather->since_ns = base_now_ns() - ns;
    uiw_gather_note(gather, true);
}

static uint64_t pause_of(const struct uiw_gather *gather)
{
    uint64_t until = atomic_load(&gather->until_ns);
    uint64_t now = base_now_ns();

    return until > now ? until - now : 0;
}

Test(uiw_gather, large_segments_are_looked_for_at_any_time)
{
    struct uiw_gather gather;

    uiw_gather_begin(&gather, false);
    look_unfinished_for(&gather, BASE_NS_PER_S);
    cr_assert_eq(atomic_load(&gather.until_ns), 0);
    cr_assert_not(uiw_gather_waits(&gather));
}

Test(uiw_gather, the_first_look_is_followed_by_another)
{
    struct uiw_gather gather;

    uiw_gather_begin(&gather, true);
    cr_assert_not(uiw_gather_waits(&gather));
    uiw_gather_note(&gather, false);
    cr_assert_eq(gather.since_ns, 0);
    uiw_gather_note(&gather, true);
    cr_assert_neq(gather.since_ns, 0);
    cr_assert_eq(atomic_load(&gather.until_ns), 0);
}

Test(uiw_gather, the_pause_grows_with_the_message_up_to_a_limit)
{
    struct uiw_gather gather;
    uint64_t ages[] = {BASE_NS_PER_MS, BASE_NS_PER_S, 1000 * BASE_NS_PER_S};

    uiw_gather_begin(&gather, true);
    for (unsigned i = 0; i < sizeof(ages) / sizeof(ages[0]); i++) {
        look_unfinished_for(&gather, ages[i]);
        cr_assert_neq(atomic_load(&gather.until_ns), 0);
        cr_assert_leq(pause_of(&gather), ages[i] / 4);
        cr_assert_leq(pause_of(&gather), 40000);
    }
    atomic_store(&gather.until_ns, base_now_ns() + BASE_NS_PER_S);
    cr_assert(uiw_gather_waits(&gather));
}

Test(uiw_gather, the_end_of_the_message_ends_it)
{
    struct uiw_gather gather;

    uiw_gather_begin(&gather, true);
    look_unfinished_for(&gather, BASE_NS_PER_S);
    uiw_gather_note(&gather, false);
    cr_assert_eq(gather.since_ns, 0);
    cr_assert_eq(atomic_load(&gather.until_ns), 0);
    cr_assert_not(uiw_gather_waits(&gather));
}
