/* SPDX-License-Identifier: BSD-2-Clause */
#include "vp/uiwarp/queue/uiw_agenda.h"

#include <sched.h>

/* ---------------------------------------------------------------- the loop's sweeps */

static void agenda_sweep(void *argument);

/* If there is no memory for the timer, the next push tries to start the sweeps again. */
static void agenda_wait(struct uiw_agenda *agenda)
{
    uint64_t period = atomic_load_explicit(&agenda->period_ns, memory_order_relaxed);

    if (!evd_timer_start(&agenda->timer, agenda->loop, period, agenda_sweep, agenda))
        atomic_store(&agenda->sweeping, false);
}

static void agenda_sweep(void *argument)
{
    struct uiw_agenda *agenda = argument;

    atomic_fetch_add_explicit(agenda->wakeups, 1, memory_order_relaxed);
    /* Cleared before the look: a thread that has found .sweeping set relies on this sweep. */
    atomic_store(&agenda->sweeping, false);
    if (uiw_agenda_is_empty(agenda) || atomic_exchange(&agenda->sweeping, true))
        return;
    agenda->ops->look(agenda);
    agenda_wait(agenda);
}

static void agenda_start(struct evd_task *task)
{
    struct uiw_agenda *agenda = BASE_ITEM(task, struct uiw_agenda, start);

    if (agenda->ops->begin)
        agenda->ops->begin(agenda);
    agenda_wait(agenda);
}

void uiw_agenda_open(struct uiw_agenda *agenda, const struct uiw_agenda_ops *ops,
                     struct evd_loop *loop, _Atomic uint64_t *wakeups)
{
    agenda->ops = ops;
    agenda->loop = loop;
    agenda->wakeups = wakeups;
    agenda->start.run = agenda_start;
    atomic_init(&agenda->period_ns, ops->period_ns);
}

void uiw_agenda_stop(struct uiw_agenda *agenda)
{
    evd_timer_stop(&agenda->timer);
}

/* ---------------------------------------------------------------- the stack */

void uiw_agenda_push(struct uiw_agenda *agenda, struct uiw_agenda_entry *entry)
{
    (void)base_stack_push(&agenda->stack, &entry->link);
    if (agenda->ops->entered)
        agenda->ops->entered(agenda, entry);
    /* Pairs with agenda_sweep, which clears .sweeping and then looks at the stack. */
    if (!atomic_load(&agenda->sweeping) && !atomic_exchange(&agenda->sweeping, true))
        (void)evd_loop_submit(agenda->loop, &agenda->start);
}

/*
 * Puts an entry back. Another thread may take it from the stack at once, and its EP may go away, so
 * this thread counts as a user of the entry until the push has ended.
 */
static void agenda_put_back(struct uiw_agenda *agenda, struct uiw_agenda_entry *entry)
{
    (void)atomic_fetch_add_explicit(&entry->state, UIW_AGENDA_USER, memory_order_relaxed);
    uiw_agenda_push(agenda, entry);
    (void)atomic_fetch_sub_explicit(&entry->state, UIW_AGENDA_USER, memory_order_release);
}

/*
 * Returns the entries that match, with UIW_AGENDA_LISTED still set. The others leave the stack for
 * a moment.
 */
static struct base_stack_link *agenda_take(struct uiw_agenda *agenda, uiw_agenda_match *match,
                                           const void *key)
{
    struct base_stack_link *all = base_stack_take(&agenda->stack);
    struct base_stack_link *taken = NULL;
    struct base_stack_link **end = &taken;

    while (all) {
        struct uiw_agenda_entry *entry = BASE_STACK_ITEM(all, struct uiw_agenda_entry, link);

        all = all->next;
        if (!match || match(entry, key)) {
            *end = &entry->link;
            end = &entry->link.next;
        } else {
            agenda_put_back(agenda, entry);
        }
    }
    *end = NULL;
    return taken;
}

void uiw_agenda_run(struct uiw_agenda *agenda, uiw_agenda_match *match, const void *key,
                    void (*act)(struct uiw_agenda_entry *entry))
{
    struct base_stack_link *taken = agenda_take(agenda, match, key);

    while (taken) {
        struct uiw_agenda_entry *entry = BASE_STACK_ITEM(taken, struct uiw_agenda_entry, link);

        taken = taken->next;
        /*
         * The entry is no longer listed, and this thread uses it. Both change in one step: between
         * two, the state would be 0, and uiw_agenda_leave would let the EP go. UIW_AGENDA_LISTED is
         * set, so subtracting it clears it. Work that is published from here on finds it cleared,
         * and the entry is pushed again, even while act runs.
         */
        (void)atomic_fetch_add(&entry->state, UIW_AGENDA_USER - UIW_AGENDA_LISTED);
        act(entry);
        (void)atomic_fetch_sub_explicit(&entry->state, UIW_AGENDA_USER, memory_order_release);
    }
}

static bool agenda_is_it(const struct uiw_agenda_entry *entry, const void *key)
{
    return entry == key;
}

bool uiw_agenda_remove(struct uiw_agenda *agenda, struct uiw_agenda_entry *entry)
{
    if (!agenda_take(agenda, agenda_is_it, entry))
        return false;
    (void)atomic_fetch_sub(&entry->state, UIW_AGENDA_LISTED);
    return true;
}

void uiw_agenda_leave(struct uiw_agenda *agenda, struct uiw_agenda_entry *entry)
{
    while (atomic_load_explicit(&entry->state, memory_order_acquire) != 0) {
        if (!uiw_agenda_remove(agenda, entry))
            (void)sched_yield();
    }
}
