/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The same as handshakes_test.c for threads that sleep on the source of an EVD: one of them has the
 * place in the poll set and passes it on, and no completion is missed between a look and the
 * arming. The device, the lock and the kernel's sleeps are stand-ins.
 */
#include "base/base_call.h"
#include "models/model.h"
#include "models/model_run.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#undef MODEL_FILE
#define MODEL_FILE 1
#include "evd/loop/evd_waiter.h"

#include "base/base_clock.h"
#include "base/base_futex.h"
#include "evd/deliver/evd_deliver_private.h"

static _Atomic uint32_t lock_word;

static int sleep_in_futex(void *word, int value);
static int sleep_in_poll(struct pollfd *polls);
static size_t move(void);
static void kick(void);

#define base_lock_take(lock)                         model_lock(&lock_word)
#define base_lock_drop(lock)                         model_unlock(&lock_word)
#define base_lock_assert_held(lock)                  ((void)(lock))
#define base_futex_wait_until(word, value, deadline) ((void)(deadline), sleep_in_futex(word, value))
#define base_futex_wake(word, count)                 ((void)(word), (void)(count))
#define base_event_raise(fd)                         ((void)(fd), kick())
#define base_event_clear(fd)                         ((void)(fd))
#define ppoll(polls, count, limit, mask)             ((void)(limit), sleep_in_poll(polls))
#define evd_ia_spin_ns(ia, limit)                    ((void)(ia), (void)(limit), (uint64_t)0)
#define evd_source_move_locked(evd)                  ((void)(evd), move())
#define evd_wake(evd)                                ((void)(evd))

#undef MODEL_FILE
#define MODEL_FILE 2
#include "evd/loop/evd_waiter.c"
#undef MODEL_FILE
#define MODEL_FILE 3
#include "evd/deliver/evd_source_wait.c"

static struct evd evd;
static struct evd_ia ia;
static struct evd_source source;
static _Atomic uint32_t completed; /* what the device has written */
static _Atomic bool armed;
static _Atomic bool readable, kicked; /* the descriptors */
static uint64_t queue;                /* guarded by the lock */
static bool stays;                    /* a descriptor is never readable */

static int sleep_in_futex(void *word, int value)
{
    model_sleep(word, sizeof(int), (uint64_t)value);
    return 0;
}

static void kick(void)
{
    model_store(&kicked, sizeof(bool), true, memory_order_relaxed, 0);
}

static bool look(_Atomic bool *flag)
{
    return model_load(flag, sizeof(bool), memory_order_relaxed, 0) != 0;
}

/* Without a device it returns at once, as after a signal. */
static int sleep_in_poll(struct pollfd *polls)
{
    polls[0].revents = polls[1].revents = 0;
    while (stays && polls[0].revents == 0 && polls[1].revents == 0) {
        polls[0].revents = look(&readable);
        polls[1].revents = look(&kicked);
        if (polls[0].revents == 0 && polls[1].revents == 0)
            (void)model_yield();
    }
    return 1;
}

/* Takes what the device has completed. */
static size_t move(void)
{
    size_t count = model_load(&completed, 4, memory_order_seq_cst, 0);

    if (count == 0 || model_read(&queue) != 0)
        return 0;
    (void)model_use(&queue, count);
    return count;
}

static void source_arm(void *context, bool failures)
{
    (void)context;
    (void)failures;
    model_store(&armed, sizeof(bool), true, memory_order_seq_cst, 0);
}

static void source_disarm(void *context)
{
    (void)context;
}

static void begin(void)
{
    static const struct evd_source_ops ops = {.arm = source_arm, .disarm = source_disarm};

    memset(&evd, 0, sizeof(evd));
    memset(&source, 0, sizeof(source));
    source.ops = &ops;
    evd.ia = &ia;
    evd.fd = -1;
    model_init(&evd.source, sizeof(evd.source), (uint64_t)(uintptr_t)&source);
    model_init(&lock_word, sizeof(lock_word), 0);
    model_init(&completed, sizeof(completed), 0);
    model_init(&armed, sizeof(armed), false);
    model_init(&readable, sizeof(readable), false);
    model_init(&kicked, sizeof(kicked), false);
    queue = 0;
    stays = false;
}

/* What evd_wait.c does around a sleep. */
static void wait(unsigned slot)
{
    struct evd_waiter *waiter = &evd.waiters[slot];

    model_lock(&lock_word);
    evd.waiters_used |= 1u << slot;
    model_store(&waiter->state, 4, EVD_WAITER_RUNNING, memory_order_relaxed, 0);
    model_unlock(&lock_word);
    (void)evd_source_wait(&evd, waiter, BASE_NEVER);
    model_lock(&lock_word);
    evd.waiters_used &= ~(1u << slot);
    model_unlock(&lock_word);
}

/* ---- The place: each of two waiters gets it, one after the other ---- */

static void place_run(unsigned thread)
{
    wait(thread);
}

static void place_end(void)
{
    MODEL_REQUIRE(!*(volatile bool *)(void *)&source.place_taken);
}

/* ---- Arming: the device completes something while a thread looks and goes to sleep ---- */

static void arm_begin(void)
{
    begin();
    stays = true;
}

static void arm_run(unsigned thread)
{
    if (thread == 0) {
        wait(0);
        return;
    }
    model_store(&completed, 4, 1, memory_order_seq_cst, 0);
    if (model_load(&armed, sizeof(bool), memory_order_seq_cst, 0) != 0)
        model_store(&readable, sizeof(bool), true, memory_order_relaxed, 0);
}

static void arm_end(void)
{
    MODEL_REQUIRE(queue == 1);
}

static const struct model models[] = {
    {"place on a source", 2, begin, place_run, place_end},
    {"arming a source", 2, arm_begin, arm_run, arm_end},
};

int main(void)
{
    /*
     * The lock orders all of it: .place_taken is cleared before the lock is taken to look for
     * waiters, and set behind the lock under which the waiter was registered.
     */
    return model_run(models, sizeof(models) / sizeof(models[0]), 0, 7);
}
