/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The same as handshakes_test.c for an agenda: posted work is found, the loop looks again while an
 * entry is listed, and an entry is let go when nobody uses it. Loop and timer are stand-ins.
 */
#include "models/model.h"
#include "models/model_run.h"

#include "base/base_list.h"
#undef MODEL_FILE
#define MODEL_FILE 1
#include "vp/uiwarp/queue/uiw_agenda.h"

#define evd_timer_start timer_start
#define evd_timer_stop  timer_stop
#define evd_loop_submit loop_submit

static unsigned looks; /* that the loop will make */

static bool timer_start(struct evd_timer *timer, struct evd_loop *loop, uint64_t delay_ns,
                        void (*handler)(void *argument), void *argument)
{
    (void)timer;
    (void)loop;
    (void)delay_ns;
    (void)handler;
    (void)argument;
    looks++;
    return true;
}

static void timer_stop(struct evd_timer *timer)
{
    (void)timer;
}

static bool loop_submit(struct evd_loop *loop, struct evd_task *task)
{
    (void)loop;
    (void)task;
    looks++;
    return true;
}

#undef MODEL_FILE
#define MODEL_FILE 2
#include "vp/uiwarp/queue/uiw_agenda.c"

static struct uiw_agenda agenda;
static struct uiw_agenda_entry entry;
static _Atomic uint64_t wakeups;
static _Atomic bool ready; /* work, without an order of its own */
static uint64_t memory;    /* of the entry */
static unsigned done;
static bool leaves; /* a thread lets the entry go */
static bool fresh;  /* the entry is on the stack for the first time */

static void act(struct uiw_agenda_entry *of)
{
    (void)of;
    if (fresh || leaves)
        (void)model_read(&memory);
    done += model_load(&ready, sizeof(bool), memory_order_relaxed, 0) != 0;
}

static bool match_nothing(const struct uiw_agenda_entry *of, const void *key)
{
    (void)of;
    (void)key;
    return false;
}

static void look(struct uiw_agenda *at)
{
    uiw_agenda_run(at, NULL, NULL, act);
}

/* The entry's memory is still valid here. Reads of two threads need no order. */
static void entered(struct uiw_agenda *at, struct uiw_agenda_entry *of)
{
    (void)at;
    (void)of;
    if (leaves)
        (void)model_read(&memory);
}

static void begin(bool listed, bool sweeping)
{
    static const struct uiw_agenda_ops ops = {.look = look, .entered = entered};

    looks = 0;
    done = 0;
    leaves = false;
    fresh = !listed;
    memory = 0;
    agenda.ops = &ops;
    agenda.wakeups = &wakeups;
    entry.link.next = NULL;
    atomic_init(&ready, false);
    atomic_init(&agenda.sweeping, sweeping);
    atomic_init(&entry.state, listed ? UIW_AGENDA_LISTED : 0);
    model_init(&agenda.stack.newest, sizeof(agenda.stack.newest),
               listed ? (uint64_t)(uintptr_t)&entry.link : 0);
}

static bool is_listed(void)
{
    return *(volatile uintptr_t *)(void *)&agenda.stack.newest != 0;
}

static uint32_t state(void)
{
    return *(volatile uint32_t *)(void *)&entry.state;
}

/* Publishes work, and pushes the entry unless it is listed. */
static void post(void)
{
    model_store(&ready, sizeof(bool), true, memory_order_relaxed, 0);
    if (!uiw_agenda_claim(&entry))
        return;
    if (fresh)
        (void)model_use(&memory, 1);
    uiw_agenda_push(&agenda, &entry);
}

/* ---- An entry: its work is done, or it is listed ---- */

static void entry_begin(void)
{
    begin(true, true);
}

static void entry_run(unsigned thread)
{
    if (thread == 0)
        post();
    else
        uiw_agenda_run(&agenda, NULL, NULL, act);
}

static void entry_end(void)
{
    MODEL_REQUIRE(done == 1 ? state() == 0 || is_listed() : is_listed());
    MODEL_REQUIRE(state() == (is_listed() ? UIW_AGENDA_LISTED : 0));
}

/* ---- A new entry: what was written before the push is seen ---- */

static void new_begin(void)
{
    begin(false, true);
}

static void new_end(void)
{
    MODEL_REQUIRE(is_listed() || done == 1);
}

/* ---- The loop: while an entry is listed, the loop looks again, once ---- */

static void loop_begin(void)
{
    begin(false, true);
}

static void loop_run(unsigned thread)
{
    if (thread == 0)
        post();
    else
        agenda_sweep(&agenda);
}

static void loop_end(void)
{
    bool sweeping = *(volatile bool *)(void *)&agenda.sweeping;

    MODEL_REQUIRE(looks == sweeping);
    MODEL_REQUIRE(sweeping || !is_listed());
    MODEL_REQUIRE(is_listed() || done == 1);
}

/* ---- Letting go: nobody uses the entry behind uiw_agenda_leave ---- */

static void leave_begin(void)
{
    begin(true, true);
    leaves = true;
}

static void leave(void)
{
    uiw_agenda_leave(&agenda, &entry);
    (void)model_use(&memory, 1);
}

static void leave_run_beside_act(unsigned thread)
{
    if (thread == 0)
        leave();
    else
        uiw_agenda_run(&agenda, NULL, NULL, act);
}

static void leave_run_beside_other_key(unsigned thread)
{
    if (thread == 0)
        leave();
    else
        uiw_agenda_run(&agenda, match_nothing, NULL, act);
}

static void leave_end(void)
{
    MODEL_REQUIRE(memory == 1 && state() == 0 && !is_listed());
}

static const struct model models[] = {
    {"agenda's entry", 2, entry_begin, entry_run, entry_end},
    {"agenda's new entry", 2, new_begin, entry_run, new_end},
    {"agenda's loop", 2, loop_begin, loop_run, loop_end},
    {"entry that is let go, beside its work", 2, leave_begin, leave_run_beside_act, leave_end},
    {"entry that is let go, beside another's work", 2, leave_begin, leave_run_beside_other_key,
     leave_end},
};

int main(void)
{
    /*
     * The pushing thread stores the stack and loads the mark, the loop stores the mark and loads
     * the stack. The loop's exchange needs no order since it is atomic, nor does the subtraction of
     * the thread that removes an entry, which reads the state once more.
     */
    return model_run(models, sizeof(models) / sizeof(models[0]), 4, 2);
}
