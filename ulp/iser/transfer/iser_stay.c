/* SPDX-License-Identifier: BSD-2-Clause */
#include "transfer/iser_stay.h"

#include <sched.h>
#include <time.h>

#define STAY_ASK_NS   UINT64_C(200000) /* for one command: two wake-ups of a processor that idles */
#define STAY_LEAST_NS UINT64_C(2000)
#define STAY_MOST_NS  UINT64_C(5000000) /* in all: the base has its timers and its signals, too */
/* A yield that takes this long has given the processor to a thread that needs it ... */
#define STAY_STOLEN_NS UINT64_C(100000)
/* ... and polling then pauses for this number of short sleeps. */
#define STAY_PAUSE 1000u

static uint64_t stay_now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

void iser_stay_learn(struct iser_stay *stay)
{
    if (stay->off || stay->ask_ns == STAY_ASK_NS || stay_now_ns() - stay->left_ns > STAY_ASK_NS)
        return;
    if (stay->pause > 0)
        stay->pause--;
    else
        stay->ask_ns = STAY_ASK_NS;
}

static bool stay_may(const struct iser_stay *stay, const struct iser_link *link)
{
    return stay->ask_ns > 0 && !link->closed && !link->lost && !link->draining &&
           stay->is_alone(stay->portal);
}

void iser_stay(struct iser_stay *stay, struct iser_link *link,
               size_t (*take)(struct iser_link *link))
{
    uint64_t begin = stay_now_ns(), heard = begin, now = begin;

    while (stay_may(stay, link) && now - begin < STAY_MOST_NS) {
        (void)sched_yield();
        if (stay_now_ns() - now > STAY_STOLEN_NS) {
            stay->ask_ns = 0;
            stay->pause = STAY_PAUSE;
        }
        if (take(link) > 0) {
            now = heard = stay_now_ns();
            continue;
        }
        now = stay_now_ns();
        if (now - heard >= stay->ask_ns) {
            stay->ask_ns = stay->ask_ns > STAY_LEAST_NS ? stay->ask_ns / 2 : 0;
            break;
        }
    }
    stay->left_ns = now;
}
