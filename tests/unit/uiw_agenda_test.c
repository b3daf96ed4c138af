/* SPDX-License-Identifier: BSD-2-Clause */
/* Compares the agenda with a model of it, and runs it with several threads. */
#include "vp/uiwarp/queue/uiw_agenda.h"

#include "base/base_clock.h"

#include <criterion/criterion.h>

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#define THINGS 12u
#define GROUPS 3u
#define STEPS  200000u

struct thing {
    struct uiw_agenda_entry entry;
    unsigned number;
    unsigned group;
    bool stubborn;         /* enters the agenda again in its action */
    _Atomic uint32_t work; /* posted, not done */
    _Atomic uint64_t done;
    uint64_t entered; /* calls of .entered, by the thread that holds the entry */
    pthread_t thread; /* posts */
};

static struct evd_loop *loop;
static _Atomic uint64_t wakeups;
static struct uiw_agenda agenda;
static struct thing things[THINGS];
static unsigned begun; /* loop */
static _Atomic unsigned looks;

static struct thing *thing_of(const struct uiw_agenda_entry *entry)
{
    return BASE_STACK_ITEM(&entry->link, struct thing, entry.link);
}

static uint32_t state_of(const struct thing *thing)
{
    return atomic_load(&thing->entry.state);
}

/* ---------------------------------------------------------------- an agenda */

static struct thing *acted[2 * THINGS];
static unsigned acted_count;

static void note(struct uiw_agenda_entry *entry)
{
    struct thing *thing = thing_of(entry);

    acted[acted_count++] = thing;
    if (thing->stubborn && uiw_agenda_claim(entry))
        uiw_agenda_push(&agenda, entry);
}

/* Takes the thing's work and lets other threads run before it counts the work as done. */
static void work(struct uiw_agenda_entry *entry)
{
    uint32_t taken = atomic_exchange(&thing_of(entry)->work, 0);

    (void)sched_yield();
    (void)atomic_fetch_add(&thing_of(entry)->done, taken);
}

static void on_entered(struct uiw_agenda *of, struct uiw_agenda_entry *entry)
{
    if (of == &agenda)
        thing_of(entry)->entered++;
}

static void on_begin(struct uiw_agenda *of)
{
    (void)of;
    begun++;
}

static void on_look(struct uiw_agenda *of)
{
    uiw_agenda_run(of, NULL, NULL, work);
    (void)atomic_fetch_add(&looks, 1);
}

/* With these operations the loop never looks at the agenda. */
static const struct uiw_agenda_ops quiet_ops = {
    .period_ns = 3600 * BASE_NS_PER_S,
    .entered = on_entered,
    .look = on_look,
};

static const struct uiw_agenda_ops busy_ops = {
    .period_ns = BASE_NS_PER_MS / 10,
    .begin = on_begin,
    .look = on_look,
};

static void setup(void)
{
    cr_assert_eq(evd_loop_start(&loop, "itapi-test"), IT_SUCCESS);
    for (unsigned i = 0; i < THINGS; i++)
        things[i] = (struct thing){.number = i, .group = i % GROUPS};
}

static void stop(void *argument)
{
    uiw_agenda_stop(argument);
}

static void teardown(void)
{
    evd_loop_call(loop, stop, &agenda);
    evd_loop_stop(loop);
}

TestSuite(uiw_agenda, .init = setup, .fini = teardown);

static void open_with(const struct uiw_agenda_ops *ops)
{
    uiw_agenda_open(&agenda, ops, loop, &wakeups);
}

static bool enter(struct thing *thing)
{
    if (!uiw_agenda_claim(&thing->entry))
        return false;
    uiw_agenda_push(&agenda, &thing->entry);
    return true;
}

static bool is_in_group(const struct uiw_agenda_entry *entry, const void *key)
{
    return thing_of(entry)->group == *(const unsigned *)key;
}

/* ---------------------------------------------------------------- the model */

/* The things on the agenda, oldest first. */
struct model {
    unsigned order[THINGS];
    unsigned count;
};

static bool model_remove(struct model *model, unsigned number)
{
    bool found = false;

    for (unsigned i = 0; i < model->count; i++) {
        found |= model->order[i] == number;
        if (found && i + 1 < model->count)
            model->order[i] = model->order[i + 1];
    }
    model->count -= found;
    return found;
}

static bool model_has(const struct model *model, unsigned number)
{
    for (unsigned i = 0; i < model->count; i++) {
        if (model->order[i] == number)
            return true;
    }
    return false;
}

static void model_enter(struct model *model, struct thing *thing)
{
    uint64_t before = thing->entered;
    bool has = model_has(model, thing->number);

    cr_assert_eq(enter(thing), !has);
    cr_assert_eq(thing->entered, before + !has);
    if (!has)
        model->order[model->count++] = thing->number;
}

/*
 * Runs the agenda for a group. Entries of other groups keep their order; stubborn ones come back as
 * the newest.
 */
static void model_run(struct model *model, const unsigned *group)
{
    struct model before = *model;
    unsigned expected = 0;

    acted_count = 0;
    uiw_agenda_run(&agenda, group ? is_in_group : NULL, group, note);
    for (unsigned i = 0; i < before.count; i++) {
        struct thing *thing = &things[before.order[i]];

        if (group && thing->group != *group)
            continue;
        cr_assert_lt(expected, acted_count);
        cr_assert_eq(acted[expected++], thing, "out of order");
        (void)model_remove(model, thing->number);
        if (thing->stubborn)
            model->order[model->count++] = thing->number;
    }
    cr_assert_eq(acted_count, expected);
}

static void model_check(const struct model *model)
{
    cr_assert_eq(uiw_agenda_is_empty(&agenda), model->count == 0);
    for (unsigned i = 0; i < THINGS; i++)
        cr_assert_eq(state_of(&things[i]), model_has(model, i) ? UIW_AGENDA_LISTED : 0);
}

Test(uiw_agenda, as_its_model)
{
    struct model model = {.count = 0};
    unsigned group;

    srand(1);
    open_with(&quiet_ops);
    for (unsigned i = 0; i < STEPS; i++) {
        struct thing *thing = &things[(unsigned)rand() % THINGS];

        switch (rand() % 8) {
        case 0:
            group = (unsigned)rand() % GROUPS;
            model_run(&model, &group);
            break;
        case 1:
            model_run(&model, NULL);
            break;
        case 2:
            cr_assert_eq(uiw_agenda_remove(&agenda, &thing->entry),
                         model_remove(&model, thing->number));
            break;
        case 3:
            uiw_agenda_leave(&agenda, &thing->entry);
            (void)model_remove(&model, thing->number);
            break;
        case 4:
            thing->stubborn = !thing->stubborn;
            break;
        default:
            model_enter(&model, thing);
            break;
        }
        model_check(&model);
    }
}

/*
 * A run takes all entries off the agenda for a while. An entry that is put back is announced again.
 */
Test(uiw_agenda, an_entry_that_is_put_back_is_announced)
{
    unsigned group = 1;

    open_with(&quiet_ops);
    cr_assert(enter(&things[0]));
    cr_assert(enter(&things[1]));
    uiw_agenda_run(&agenda, is_in_group, &group, note);
    cr_assert_eq(things[0].entered, 2);
    cr_assert_eq(things[1].entered, 1);
    cr_assert_not(uiw_agenda_remove(&agenda, &things[1].entry));
    cr_assert_eq(things[0].entered, 3);
    cr_assert_eq(wakeups, 0);
}

/* ---------------------------------------------------------------- the loop */

static void await_looks(unsigned count)
{
    while (atomic_load(&looks) < count)
        (void)sched_yield();
}

static void await_rest(void)
{
    while (atomic_load(&agenda.sweeping))
        (void)sched_yield();
}

/* The loop looks at the agenda while it has entries, rests, and begins again. */
Test(uiw_agenda, the_loop_looks)
{
    open_with(&busy_ops);
    for (unsigned i = 1; i < 20; i++) {
        atomic_store(&things[0].work, 7);
        cr_assert(enter(&things[0]));
        await_looks(i);
        uiw_agenda_leave(&agenda, &things[0].entry);
        cr_assert_eq(things[0].done, 7 * i);
        if (i % 2 == 0)
            await_rest();
    }
    await_rest();
    cr_assert_geq(begun, 10);
    cr_assert_geq(wakeups, 19 + begun, "each row of looks ends with one that finds nothing");
}

/* ---------------------------------------------------------------- threads */

#define POSTS 20000u

static void *post(void *argument)
{
    struct thing *thing = argument;

    for (unsigned i = 0; i < POSTS; i++) {
        (void)atomic_fetch_add(&thing->work, 1);
        (void)enter(thing);
        if (i % 7 == 0)
            uiw_agenda_run(&agenda, is_in_group, &thing->group, work);
        if (i % 1000 == 0)
            (void)sched_yield();
    }
    return NULL;
}

/* No work is overlooked, and nobody uses an entry after it has left. */
Test(uiw_agenda, threads)
{
    open_with(&busy_ops);
    for (unsigned i = 0; i < THINGS; i++)
        cr_assert_eq(pthread_create(&things[i].thread, NULL, post, &things[i]), 0);
    for (unsigned i = 0; i < THINGS; i++)
        cr_assert_eq(pthread_join(things[i].thread, NULL), 0);
    await_rest();
    for (unsigned i = 0; i < THINGS; i++) {
        uiw_agenda_leave(&agenda, &things[i].entry);
        cr_assert_eq(state_of(&things[i]), 0);
        cr_assert_eq(things[i].done, POSTS);
    }
}

static void *post_and_leave(void *argument)
{
    struct thing *thing = argument;

    for (uint64_t i = 1; i <= POSTS / 10; i++) {
        (void)atomic_fetch_add(&thing->work, 1);
        (void)enter(thing);
        if (i % 2 == 0)
            (void)sched_yield();
        uiw_agenda_leave(&agenda, &thing->entry);
        if (state_of(thing) != 0 || thing->work + thing->done != i)
            return thing;
    }
    return NULL;
}

Test(uiw_agenda, leaving_waits_for_users)
{
    void *disturbed;

    open_with(&busy_ops);
    for (unsigned i = 0; i < THINGS; i++)
        cr_assert_eq(pthread_create(&things[i].thread, NULL, post_and_leave, &things[i]), 0);
    for (unsigned i = 0; i < THINGS; i++) {
        cr_assert_eq(pthread_join(things[i].thread, &disturbed), 0);
        cr_assert_null(disturbed);
    }
}
