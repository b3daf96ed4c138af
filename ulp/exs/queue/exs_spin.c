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

static bool poll_until(uint64_t until_ns, bool (*done)(void *), void *argument)
{
    for (unsigned polls = 1; !done(argument); polls++) {
        int state;

        (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
        (void)exs_adapter_poll();
        (void)pthread_setcancelstate(state, NULL);
        pthread_testcancel();
        if (until_ns != EXS_TIME_NEVER && exs_clock_ns() >= until_ns)
            return done(argument);
        if (polls % POLLS_PER_YIELD == 0)
            (void)sched_yield();
    }
    return true;
}

bool exs_spin(struct exs_spin *spin, int wait, uint64_t deadline_ns, bool (*done)(void *),
              void *argument)
{
    uint32_t length = atomic_load_explicit(&spin->length_ns, memory_order_relaxed);
    uint64_t now;
    bool found;

    if (done(argument))
        return true;
    if (wait == EXS_WAIT_BUSY_POLL)
        return poll_until(deadline_ns, done, argument);
    if (wait == EXS_WAIT_NOTIFY)
        return false;
    now = exs_clock_ns();
    found = poll_until(now + length < deadline_ns ? now + length : deadline_ns, done, argument);
    length = found ? length * 2 : length / 2;
    length = length > LONGEST_NS ? LONGEST_NS : length < SHORTEST_NS ? SHORTEST_NS : length;
    atomic_store_explicit(&spin->length_ns, length, memory_order_relaxed);
    return found;
}
