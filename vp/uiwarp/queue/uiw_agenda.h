/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Things to do later. Any thread enters them and takes out those that concern it; the IA's loop
 * looks at them once in a while, as long as there are any.
 *
 * The entries are on a stack that is only ever taken as a whole: a thread that takes it puts back
 * at once what does not concern it. Threads with entries of their own share no lock.
 *
 * The state of an entry tells whether it is listed, which it is on the stack and in the hand of a
 * thread that has taken it, and how many threads use it. An entry of state 0 is in nobody's reach.
 */
#ifndef ITAPI_VP_UIWARP_QUEUE_UIW_AGENDA_H
#define ITAPI_VP_UIWARP_QUEUE_UIW_AGENDA_H

#include "base/base_list.h"
#include "evd/loop/evd_loop.h"

#define UIW_AGENDA_LISTED UINT32_C(1)
#define UIW_AGENDA_USER   UINT32_C(2) /* counts threads */

struct uiw_agenda;

struct uiw_agenda_entry {
    struct base_stack_link link;
    _Atomic uint32_t state;
};

struct uiw_agenda_ops {
    uint64_t period_ns; /* between two looks, unless .period_ns of the agenda is changed */
    /* The entry is on the stack, for the first time or again, and stays here. May be NULL. */
    void (*entered)(struct uiw_agenda *agenda, struct uiw_agenda_entry *entry);
    /* Loop: the first look is due in a period. May be NULL. */
    void (*begin)(struct uiw_agenda *agenda);
    /* Loop: by uiw_agenda_run. */
    void (*look)(struct uiw_agenda *agenda);
};

struct uiw_agenda {
    struct base_stack stack;
    _Atomic bool sweeping; /* the loop looks, or is about to */
    _Atomic uint64_t period_ns;
    const struct uiw_agenda_ops *ops; /* immutable, as the next two */
    struct evd_loop *loop;
    _Atomic uint64_t *wakeups; /* counter */
    struct evd_timer timer;    /* loop */
    struct evd_task start;
};

typedef bool uiw_agenda_match(const struct uiw_agenda_entry *entry, const void *key);

void uiw_agenda_open(struct uiw_agenda *agenda, const struct uiw_agenda_ops *ops,
                     struct evd_loop *loop, _Atomic uint64_t *wakeups);
void uiw_agenda_stop(struct uiw_agenda *agenda); /* loop */

/* Pairs with a look at the stack by a thread that has said before what it waits for. */
static inline bool uiw_agenda_is_empty(const struct uiw_agenda *agenda)
{
    return !atomic_load(&agenda->stack.newest);
}

/* Work was published before. True: the caller pushes the entry. False: it is listed already. */
static inline bool uiw_agenda_claim(struct uiw_agenda_entry *entry)
{
    /* Pairs with the addition in uiw_agenda_run: it sees the work, or the entry is listed anew. */
    return !(atomic_fetch_or(&entry->state, UIW_AGENDA_LISTED) & UIW_AGENDA_LISTED);
}

void uiw_agenda_push(struct uiw_agenda *agenda, struct uiw_agenda_entry *entry);

/*
 * Takes the entries that match (all without `match`), and calls act for each, the oldest first. An
 * entry that is entered during the call waits for the next one.
 */
void uiw_agenda_run(struct uiw_agenda *agenda, uiw_agenda_match *match, const void *key,
                    void (*act)(struct uiw_agenda_entry *entry));

/* True: the entry was on the stack. False: it is not, or another thread has it in hand. */
bool uiw_agenda_remove(struct uiw_agenda *agenda, struct uiw_agenda_entry *entry);

/* Only users of the entry enter it any more. Returns when it is in nobody's reach. */
void uiw_agenda_leave(struct uiw_agenda *agenda, struct uiw_agenda_entry *entry);

#endif
