/* SPDX-License-Identifier: BSD-2-Clause */
#include "queue/exs_spin.h"

#include "adapter/exs_adapter.h"
#include "include/exs.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>

#define NS_PER_S    UINT64_C(1000000000)
#define SHORTEST_NS 1000U
#define LONGEST_NS  50000U
/* Somebody else may need this processor to bring what is waited for. */
#define POLLS_PER_YIELD 16U

uint64_t exs_clock_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static void test_cancel(const struct exs_wait *wait)
{
    int state;

    (void)pthread_setcancelstate(wait->cancel, &state);
    pthread_testcancel();
    (void)pthread_setcancelstate(state, NULL);
}

static bool poll_until(uint64_t until_ns, const struct exs_wait *wait, bool (*done)(void *),
                       void *argument)
{
    bool late = false;
    bool found = done(argument);

    while (!found && !late) {
        exs_adapter_poll_begin();
        for (unsigned i = 0; i < POLLS_PER_YIELD && !late && !found; i++) {
            (void)exs_adapter_poll();
            late = until_ns != EXS_TIME_NEVER && exs_clock_ns() >= until_ns;
            found = done(argument);
        }
        exs_adapter_poll_end();
        if (found)
            break;
        test_cancel(wait);
        (void)sched_yield();
    }
    return found;
}

bool exs_spin(struct exs_spin *spin, const struct exs_wait *wait, bool (*done)(void *),
              void *argument)
{
    uint32_t length = atomic_load_explicit(&spin->length_ns, memory_order_relaxed);
    uint64_t until;
    bool found;

    test_cancel(wait);
    if (wait->kind == EXS_WAIT_BUSY_POLL)
        return poll_until(wait->deadline_ns, wait, done, argument);
    if (wait->kind == EXS_WAIT_NOTIFY)
        return done(argument);
    until = exs_clock_ns() + length;
    found = poll_until(until < wait->deadline_ns ? until : wait->deadline_ns, wait, done, argument);
    length = found ? length * 2 : length / 2;
    length = length > LONGEST_NS ? LONGEST_NS : length < SHORTEST_NS ? SHORTEST_NS : length;
    atomic_store_explicit(&spin->length_ns, length, memory_order_relaxed);
    return found;
}
