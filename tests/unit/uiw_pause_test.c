/* SPDX-License-Identifier: BSD-2-Clause */
/* Pauses between two checks of a stream. The clock is a number. */
#include "vp/uiwarp/queue/uiw_pause.h"

#include <criterion/criterion.h>

#define BEGIN UINT64_C(1000000)

TestSuite(uiw_pause);

static uint64_t until_of(const struct uiw_pause *pause)
{
    return atomic_load(&pause->until_ns);
}

static struct uiw_pause begun(bool small_segments)
{
    struct uiw_pause pause;

    uiw_pause_begin(&pause, small_segments);
    return pause;
}

Test(uiw_pause, large_segments_are_looked_for_at_any_time)
{
    struct uiw_pause pause = begun(false);

    uiw_pause_note(&pause, true);
    cr_assert_eq(pause.since_ns, 0);
    cr_assert_eq(until_of(&pause), 0);
    cr_assert_not(uiw_pause_waits(&pause));
}

Test(uiw_pause, the_first_look_is_followed_by_another)
{
    struct uiw_pause pause = begun(true);

    cr_assert_not(uiw_pause_waits(&pause));
    uiw_pause_note(&pause, false);
    cr_assert_eq(pause.since_ns, 0);
    uiw_pause_note(&pause, true);
    cr_assert_neq(pause.since_ns, 0);
    cr_assert_eq(until_of(&pause), 0);
}

Test(uiw_pause, it_grows_with_the_message_up_to_a_limit)
{
    static const struct {
        uint64_t age_ns, pause_ns;
    } looks[] = {{0, 0},          {19999, 0},      {20000, 5000},         {100000, 25000},
                 {160000, 40000}, {160001, 40000}, {BASE_NS_PER_S, 40000}};
    struct uiw_pause pause = begun(true);

    for (unsigned i = 0; i < sizeof(looks) / sizeof(looks[0]); i++) {
        uint64_t now = BEGIN + looks[i].age_ns;

        uiw_pause_extend(&pause, now);
        cr_assert_eq(until_of(&pause), looks[i].pause_ns ? now + looks[i].pause_ns : 0, "look %u",
                     i);
    }
    cr_assert_eq(pause.since_ns, BEGIN);
}

Test(uiw_pause, the_end_of_the_message_ends_it)
{
    struct uiw_pause pause = begun(true);

    uiw_pause_extend(&pause, BEGIN);
    uiw_pause_extend(&pause, BEGIN + BASE_NS_PER_S);
    cr_assert_neq(until_of(&pause), 0);
    uiw_pause_note(&pause, false);
    cr_assert_eq(pause.since_ns, 0);
    cr_assert_eq(until_of(&pause), 0);
    cr_assert_not(uiw_pause_waits(&pause));
}

Test(uiw_pause, the_leader_waits_until_it_is_over)
{
    struct uiw_pause pause = begun(true);

    atomic_store(&pause.until_ns, BASE_NEVER);
    cr_assert(uiw_pause_waits(&pause));
    atomic_store(&pause.until_ns, 1);
    cr_assert_not(uiw_pause_waits(&pause));
}
