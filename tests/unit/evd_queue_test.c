/* SPDX-License-Identifier: BSD-2-Clause */
#include "evd/queue/evd_queue.h"

#include <criterion/criterion.h>

static void add(struct evd_queue *queue, uint64_t value, bool notify, bool failed)
{
    uint64_t *record = evd_queue_add(queue, notify, failed);

    *record = value;
}

static uint64_t take(struct evd_queue *queue)
{
    uint64_t value = *(const uint64_t *)evd_queue_first(queue);

    evd_queue_drop_first(queue);
    return value;
}

Test(evd_queue, keeps_order_over_many_rounds_at_odd_size)
{
    struct evd_queue queue;
    uint64_t in = 0;
    uint64_t out = 0;

    cr_assert(evd_queue_init(&queue, 5, sizeof(uint64_t)));
    for (int round = 0; round < 100; round++) {
        while (!evd_queue_is_full(&queue))
            add(&queue, in++, true, false);
        cr_assert_eq(evd_queue_count(&queue), 5);
        for (int i = 0; i < 3; i++)
            cr_assert_eq(take(&queue), out++);
    }
    evd_queue_destroy(&queue);
}

/* For every mix of six events, the computed count equals the number that can be taken. */
Test(evd_queue, takeable_is_what_can_be_taken)
{
    for (unsigned mix = 0; mix < 729; mix++) {
        for (size_t threshold = 0; threshold <= 6; threshold++) {
            struct evd_queue queue;
            unsigned kinds = mix;
            size_t promised;
            size_t taken = 0;

            cr_assert(evd_queue_init(&queue, 6, sizeof(uint64_t)));
            for (int i = 0; i < 6; i++, kinds /= 3)
                add(&queue, kinds % 3, kinds % 3 != 0, kinds % 3 == 2);
            promised = evd_queue_takeable(&queue, threshold);
            for (;;) {
                bool notify = false;
                bool failed = false;

                for (uint64_t number = queue.head; number != queue.tail; number++) {
                    uint64_t kind = *(uint64_t *)evd_queue_record(&queue, number);

                    notify |= kind != 0;
                    failed |= kind == 2;
                }
                if (!failed && !(notify && evd_queue_meets(&queue, threshold)))
                    break;
                (void)take(&queue);
                taken++;
            }
            cr_assert_eq(promised, taken, "mix %u threshold %zu: %zu, not %zu", mix, threshold,
                         promised, taken);
            evd_queue_destroy(&queue);
        }
    }
}

Test(evd_queue, move_keeps_events_and_counts)
{
    struct evd_queue queue;
    struct evd_queue fresh;

    cr_assert(evd_queue_init(&queue, 4, sizeof(uint64_t)));
    for (uint64_t i = 0; i < 6; i++) {
        add(&queue, i, i == 4, false);
        if (i < 3)
            cr_assert_eq(take(&queue), i);
    }
    cr_assert(evd_queue_init(&fresh, 100, sizeof(uint64_t)));
    evd_queue_move(&queue, &fresh);
    evd_queue_destroy(&fresh);
    cr_assert_eq(queue.size, 100);
    cr_assert_eq(evd_queue_count(&queue), 3);
    cr_assert_eq(evd_queue_takeable(&queue, 0), 2);
    for (uint64_t i = 6; i < 103; i++)
        add(&queue, i, false, false);
    cr_assert(evd_queue_is_full(&queue));
    for (uint64_t i = 3; i < 103; i++)
        cr_assert_eq(take(&queue), i);
    cr_assert(evd_queue_looks_empty(&queue));
    evd_queue_destroy(&queue);
}
