/* SPDX-License-Identifier: BSD-2-Clause */
#include "models/model.h"

#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define THREADS 4u
#define OBJECTS 16u
#define WRITES  96u
#define CHOICES 1024u
#define STACK   65536u
#define LINES   64u

/*
 * The writes that a thread, or the reader of a write, has seen: of each object up to this number.
 */
struct view {
    unsigned char seen[OBJECTS];
};

struct write {
    uint64_t value;
    struct view view; /* for a reader that acquires */
};

static struct {
    const volatile void *at;
    struct write writes[WRITES]; /* the first one is the initial value */
    unsigned count;
    unsigned ordered; /* the last one that was sequentially consistent */
} objects[OBJECTS];
static unsigned object_count;

/* What a thread does in its next step. */
enum act {
    ACT_BEGIN,
    ACT_LOAD,
    ACT_STORE, /* or read-modify-write */
    ACT_YIELD  /* looks at all objects */
};

static struct {
    ucontext_t context;
    char stack[STACK];
    struct view view;
    enum act act;
    const volatile void *at;
    size_t awaits; /* octets of *at that must differ from .unwanted; 0: it can go on */
    uint64_t unwanted;
    bool asleep; /* its next step was explored at an earlier time, and commutes with all since */
    bool looked[OBJECTS]; /* since it has yielded */
    bool ended;
    bool yields;
    unsigned changes_seen; /* when it yielded */
} threads[THREADS];
static unsigned current;
static unsigned changes;
static ucontext_t scheduler;
static const struct model *model;
static const char *found;
static int weak;
static memory_order weak_order;
static int known_lines[LINES];
static unsigned known_line_count;

/* ---- Choices: the next path of a search in depth ---- */

static struct {
    unsigned taken, count;
} path[CHOICES];
static unsigned path_length, path_at;

static unsigned choose(unsigned count)
{
    if (count == 1)
        return 0;
    if (path_at == path_length) {
        if (path_length == CHOICES)
            abort();
        path[path_length].taken = 0;
        path[path_length++].count = count;
    }
    return path[path_at++].taken;
}

static bool next_path(void)
{
    while (path_length > 0 && path[path_length - 1].taken + 1 == path[path_length - 1].count)
        path_length--;
    if (path_length == 0)
        return false;
    path[path_length - 1].taken++;
    return true;
}

/* ---- Memory ---- */

static void join(struct view *into, const struct view *other)
{
    for (unsigned i = 0; i < OBJECTS; i++) {
        if (other->seen[i] > into->seen[i])
            into->seen[i] = other->seen[i];
    }
}

static unsigned object_of(const volatile void *at, size_t size)
{
    unsigned i = 0;

    while (i < object_count && objects[i].at != at)
        i++;
    if (i == OBJECTS)
        abort();
    if (i == object_count) {
        uint64_t value = 0;

        memcpy(&value, (const void *)(uintptr_t)at, size);
        memset(&objects[i], 0, sizeof(objects[i]));
        objects[i].at = at;
        objects[i].writes[0].value = value;
        objects[i].count = 1;
        object_count++;
    }
    return i;
}

static bool acquires(memory_order order)
{
    return order == memory_order_acquire || order == memory_order_acq_rel ||
           order == memory_order_seq_cst;
}

static bool releases(memory_order order)
{
    return order == memory_order_release || order == memory_order_acq_rel ||
           order == memory_order_seq_cst;
}

static memory_order order_at(memory_order order, int line)
{
    unsigned i = 0;

    if (order == memory_order_relaxed || line == 0)
        return order;
    while (i < known_line_count && known_lines[i] != line)
        i++;
    if (i == known_line_count && i < LINES)
        known_lines[known_line_count++] = line;
    if (line != weak || (weak_order == memory_order_acq_rel && order != memory_order_seq_cst))
        return order;
    return weak_order;
}

/* Returns the number of the oldest write that a load may return. */
static unsigned oldest(unsigned object, memory_order order)
{
    unsigned from = threads[current].view.seen[object];

    if (order == memory_order_seq_cst && objects[object].ordered > from)
        from = objects[object].ordered;
    return from;
}

static void take(unsigned object, unsigned number, memory_order order)
{
    threads[current].view.seen[object] = (unsigned char)number;
    threads[current].looked[object] = true;
    if (acquires(order))
        join(&threads[current].view, &objects[object].writes[number].view);
}

/* continues: a read-modify-write continues the release sequence of the write before. */
static void put(unsigned object, size_t size, uint64_t value, memory_order order, bool continues)
{
    unsigned number = objects[object].count;
    struct write *write = &objects[object].writes[number];

    if (number == WRITES)
        abort();
    objects[object].count++;
    *write = (struct write){.value = value};
    threads[current].view.seen[object] = (unsigned char)number;
    if (releases(order))
        write->view = threads[current].view;
    write->view.seen[object] = (unsigned char)number;
    if (continues)
        join(&write->view, &write[-1].view);
    if (order == memory_order_seq_cst)
        objects[object].ordered = number;
    memcpy((void *)(uintptr_t)objects[object].at, &value, size);
    changes++;
}

/* ---- Operations ---- */

static void step(enum act act, const volatile void *at)
{
    threads[current].act = act;
    threads[current].at = at;
    (void)swapcontext(&threads[current].context, &scheduler);
}

void model_init(volatile void *at, size_t size, uint64_t value)
{
    memcpy((void *)(uintptr_t)at, &value, size);
}

uint64_t model_load(const volatile void *at, size_t size, memory_order order, int line)
{
    unsigned object, from, number;

    step(ACT_LOAD, at);
    order = order_at(order, line);
    object = object_of(at, size);
    from = oldest(object, order);
    number = objects[object].count - 1 - choose(objects[object].count - from);
    take(object, number, order);
    return objects[object].writes[number].value;
}

void model_store(volatile void *at, size_t size, uint64_t value, memory_order order, int line)
{
    step(ACT_STORE, at);
    put(object_of(at, size), size, value, order_at(order, line), false);
}

uint64_t model_change(volatile void *at, size_t size, enum model_change change, uint64_t value,
                      memory_order order, int line)
{
    uint64_t mask = size == 8 ? UINT64_MAX : (UINT64_C(1) << (8 * size)) - 1;
    unsigned object;
    uint64_t before;

    step(ACT_STORE, at);
    order = order_at(order, line);
    object = object_of(at, size);
    take(object, objects[object].count - 1, order);
    before = objects[object].writes[objects[object].count - 1].value;
    if (change == MODEL_ADD)
        value = before + value;
    else if (change == MODEL_SUB)
        value = before - value;
    else if (change == MODEL_OR)
        value = before | value;
    put(object, size, value & mask, order, true);
    return before;
}

bool model_compare(volatile void *at, size_t size, void *expected, uint64_t value,
                   memory_order success, memory_order failure, int line)
{
    unsigned object, last, may[WRITES], count = 0, number;
    uint64_t wanted = 0;

    step(ACT_STORE, at);
    success = order_at(success, line);
    failure = order_at(failure, line);
    memcpy(&wanted, expected, size);
    object = object_of(at, size);
    last = objects[object].count - 1;
    /* It may fail with any write that differs, and succeeds only with the last one. */
    for (unsigned i = last + 1; i > oldest(object, failure); i--) {
        if (i - 1 == last || objects[object].writes[i - 1].value != wanted)
            may[count++] = i - 1;
    }
    number = may[choose(count)];
    if (objects[object].writes[number].value == wanted) {
        take(object, number, success);
        put(object, size, value, success, true);
        return true;
    }
    take(object, number, failure);
    memcpy(expected, &objects[object].writes[number].value, size);
    return false;
}

void model_lock(_Atomic uint32_t *word)
{
    unsigned object;

    threads[current].awaits = sizeof(*word);
    threads[current].unwanted = 1;
    step(ACT_STORE, word);
    threads[current].awaits = 0;
    object = object_of(word, sizeof(*word));
    take(object, objects[object].count - 1, memory_order_acquire);
    put(object, sizeof(*word), 1, memory_order_relaxed, true);
}

void model_unlock(_Atomic uint32_t *word)
{
    model_store(word, sizeof(*word), 0, memory_order_release, 0);
}

void model_sleep(const volatile void *at, size_t size, uint64_t value)
{
    unsigned object;

    threads[current].awaits = size;
    threads[current].unwanted = value;
    step(ACT_LOAD, at);
    threads[current].awaits = 0;
    object = object_of(at, size);
    take(object, objects[object].count - 1, memory_order_relaxed);
}

/* Returns true if the thread has seen the last write of each object that it has loaded. */
static bool is_up_to_date(void)
{
    for (unsigned i = 0; i < object_count; i++) {
        if (threads[current].looked[i] && threads[current].view.seen[i] + 1u < objects[i].count)
            return false;
    }
    return true;
}

/* Afterwards the thread has seen the last write of each object that it had loaded before. */
int model_yield(void)
{
    threads[current].yields = is_up_to_date();
    threads[current].changes_seen = changes;
    step(ACT_YIELD, NULL);
    threads[current].yields = false;
    for (unsigned i = 0; i < object_count; i++) {
        if (threads[current].looked[i])
            threads[current].view.seen[i] = (unsigned char)(objects[i].count - 1);
        threads[current].looked[i] = false;
    }
    return 0;
}

/* Counts as a write even if it reads, because each access must see the one before. */
uint64_t model_use(uint64_t *at, uint64_t value)
{
    unsigned object = object_of(at, sizeof(*at));
    uint64_t before = *at;

    model_require(threads[current].view.seen[object] == objects[object].count - 1,
                  "accesses to plain memory are ordered");
    put(object, sizeof(*at), value, memory_order_relaxed, false);
    return before;
}

uint64_t model_read(uint64_t *at)
{
    return model_use(at, *at);
}

void model_require(bool condition, const char *text)
{
    if (!condition && !found)
        found = text;
}

/* ---- Executions ---- */

static void thread_main(void)
{
    model->run(current);
    threads[current].ended = true;
    step(ACT_BEGIN, NULL);
}

static void execute_begin(void)
{
    object_count = 0;
    changes = 0;
    path_at = 0;
    model->begin();
    for (unsigned i = 0; i < model->threads; i++) {
        memset(&threads[i].view, 0, sizeof(threads[i].view));
        memset(threads[i].looked, 0, sizeof(threads[i].looked));
        threads[i].ended = threads[i].yields = threads[i].asleep = false;
        threads[i].act = ACT_BEGIN;
        threads[i].at = NULL;
        threads[i].awaits = 0;
        (void)getcontext(&threads[i].context);
        threads[i].context.uc_stack.ss_sp = threads[i].stack;
        threads[i].context.uc_stack.ss_size = STACK;
        makecontext(&threads[i].context, thread_main, 0);
    }
}

/* Returns true if both orders of the next steps of two threads have the same outcome. */
static bool commute(unsigned one, unsigned other)
{
    enum act act = threads[one].act;
    enum act other_act = threads[other].act;

    if (act == ACT_YIELD || other_act == ACT_YIELD)
        return act != ACT_STORE && other_act != ACT_STORE;
    return threads[one].at != threads[other].at || (act != ACT_STORE && other_act != ACT_STORE);
}

/*
 * Of executions that differ only in the order of steps that commute, one is explored: a step that
 * was explored here before is not explored behind steps that it commutes with ("sleep sets").
 */
static unsigned choose_thread(const unsigned *may, unsigned count)
{
    unsigned chosen = choose(count);

    for (unsigned i = 0; i < chosen; i++)
        threads[may[i]].asleep = true;
    for (unsigned i = 0; i < model->threads; i++)
        threads[i].asleep = threads[i].asleep && commute(i, may[chosen]);
    return may[chosen];
}

static bool can_go_on(unsigned thread)
{
    uint64_t value = 0;

    if (threads[thread].ended ||
        (threads[thread].yields && threads[thread].changes_seen == changes))
        return false;
    memcpy(&value, (const void *)(uintptr_t)threads[thread].at, threads[thread].awaits);
    return threads[thread].awaits == 0 || value != threads[thread].unwanted;
}

/* Returns false if the rest of this execution was explored before. */
static bool execute_step(bool *all_ended)
{
    unsigned may[THREADS], count = 0;
    bool stuck = true;

    *all_ended = true;
    for (unsigned i = 0; i < model->threads; i++) {
        *all_ended = *all_ended && threads[i].ended;
        if (!can_go_on(i))
            continue;
        stuck = false;
        if (!threads[i].asleep)
            may[count++] = i;
    }
    model_require(*all_ended || !stuck, "some thread can go on");
    if (found || *all_ended)
        return true;
    if (count == 0)
        return false;
    current = choose_thread(may, count);
    (void)swapcontext(&scheduler, &threads[current].context);
    return true;
}

static bool execute(void)
{
    bool all_ended = false;

    execute_begin();
    while (!found && !all_ended) {
        if (!execute_step(&all_ended))
            return false;
    }
    if (!found)
        model->end();
    return true;
}

const char *model_explore(const struct model *of, int weak_line, memory_order order,
                          unsigned long *executions)
{
    model = of;
    weak = weak_line;
    weak_order = order;
    found = NULL;
    path_length = 0;
    known_line_count = 0;
    *executions = 0;
    do {
        *executions += execute();
    } while (!found && next_path());
    return found;
}

unsigned model_lines(int *lines, unsigned room)
{
    unsigned count = known_line_count < room ? known_line_count : room;

    memcpy(lines, known_lines, count * sizeof(*lines));
    return count;
}
