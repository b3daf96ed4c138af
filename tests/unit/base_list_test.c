/* SPDX-License-Identifier: BSD-2-Clause */
/* Compares base_list with an array that does the same, and runs base_stack between threads. */
#include "base/base_list.h"

#include "support/check.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

#define ITEMS  12
#define ROUNDS 20000

struct item {
    char name;
    struct base_link link;
    struct base_stack_link stacked;
};

/* What the list must contain. */
struct model {
    struct item *items[ITEMS];
    size_t count;
};

static void model_insert(struct model *model, size_t at, struct item *item)
{
    memmove(&model->items[at + 1], &model->items[at],
            (model->count - at) * sizeof(model->items[0]));
    model->items[at] = item;
    model->count++;
}

static size_t model_find(const struct model *model, const struct item *item)
{
    size_t at = 0;

    while (at < model->count && model->items[at] != item)
        at++;
    return at;
}

static void model_remove(struct model *model, size_t at)
{
    model->count--;
    memmove(&model->items[at], &model->items[at + 1],
            (model->count - at) * sizeof(model->items[0]));
}

/* Walks the list in both directions and checks both ends. */
static void check_same(const struct base_list *list, const struct model *model)
{
    const struct base_link *link = list->last;
    size_t at = 0;

    CHECK(base_list_is_empty(list) == (model->count == 0));
    BASE_LIST_EACH(const struct item, item, list, link)
        CHECK(at < model->count && item == model->items[at++]);
    CHECK(at == model->count);
    for (; link; link = link->prev)
        CHECK(at > 0 && link == &model->items[--at]->link);
    CHECK(at == 0);
}

static void step(struct base_list *list, struct model *model, struct item *item, unsigned how)
{
    size_t at = model_find(model, item);

    if (at < model->count) {
        base_list_remove(list, &item->link);
        CHECK(!item->link.prev && !item->link.next);
        model_remove(model, at);
    } else if (how % 3 == 0) {
        base_list_prepend(list, &item->link);
        model_insert(model, 0, item);
    } else if (how % 3 == 1 || model->count == 0) {
        base_list_append(list, &item->link);
        model_insert(model, model->count, item);
    } else {
        at = how % model->count;
        base_list_insert(list, &model->items[at]->link, &item->link);
        model_insert(model, at + 1, item);
    }
}

Test(base_list, is_the_same_as_an_array)
{
    struct item items[ITEMS];
    struct base_list list;
    struct model model = {.count = 0};
    uint32_t random = 1;

    memset(items, 0, sizeof(items));
    memset(&list, 0, sizeof(list)); /* zeroed memory is an empty list */
    for (unsigned round = 0; round < ROUNDS; round++) {
        random = random * 1664525u + 1013904223u;
        step(&list, &model, &items[(random >> 16) % ITEMS], random >> 24);
        check_same(&list, &model);
    }
}

static void fill(struct base_list *list, struct item *items, size_t count)
{
    memset(items, 0, count * sizeof(*items));
    for (size_t i = 0; i < count; i++)
        base_list_append(list, &items[i].link);
}

Test(base_list, gives_the_first_until_it_is_empty)
{
    struct base_list list = {NULL, NULL};
    struct item items[3];

    CHECK(!base_list_take(&list));
    CHECK(!BASE_LIST_FIRST(&list, struct item, link));
    fill(&list, items, 3);
    for (size_t i = 0; i < 3; i++)
        CHECK(BASE_LIST_ITEM(base_list_take(&list), struct item, link) == &items[i]);
    CHECK(base_list_is_empty(&list) && !list.last);
}

Test(base_list, lets_items_go_under_way)
{
    struct base_list list = {NULL, NULL};
    struct item items[4];

    fill(&list, items, 4);
    BASE_LIST_EACH_REMOVABLE(struct item, item, &list, link) {
        if (item == &items[2])
            continue;
        base_list_remove(&list, &item->link);
        memset(item, 0xa5, sizeof(*item)); /* the item counts as freed */
    }
    CHECK(list.first == &items[2].link && list.last == &items[2].link);
}

Test(base_list, may_be_copied)
{
    struct base_list list = {NULL, NULL};
    struct base_list taken;
    struct item items[2];

    fill(&list, items, 2);
    taken = list;
    list = (struct base_list){NULL, NULL};
    base_list_remove(&taken, &items[0].link);
    base_list_append(&list, &items[0].link);
    CHECK(taken.first == &items[1].link && list.first == &items[0].link);
}

/* ---------------------------------------------------------------- the stack */

Test(base_stack, gives_the_oldest_first)
{
    struct base_stack stack = {NULL};
    struct item items[3];
    struct base_stack_link *link;

    CHECK(base_stack_is_empty(&stack) && !base_stack_take(&stack));
    for (size_t i = 0; i < 3; i++)
        CHECK(base_stack_push(&stack, &items[i].stacked) == (i == 0));
    CHECK(!base_stack_is_empty(&stack));
    link = base_stack_take(&stack);
    for (size_t i = 0; i < 3; i++, link = link->next)
        CHECK(BASE_STACK_ITEM(link, struct item, stacked) == &items[i]);
    CHECK(!link && base_stack_is_empty(&stack));
    CHECK(base_stack_push(&stack, &items[0].stacked));
}

#define PUSHERS 3
#define PUSHES  2000

struct pushed {
    struct base_stack_link link;
    unsigned pusher, number;
};

static struct base_stack shared;
static _Atomic size_t told; /* number of pushes onto an empty stack */
static struct pushed pushed[PUSHERS][PUSHES];

static void *push_all(void *argument)
{
    struct pushed *own = argument;

    for (unsigned i = 0; i < PUSHES; i++) {
        own[i].number = i;
        if (base_stack_push(&shared, &own[i].link))
            told++;
    }
    return NULL;
}

/*
 * Each item is taken once, in the order of its thread's pushes. Each non-empty stack that was taken
 * was announced once.
 */
Test(base_stack, loses_nothing_between_threads)
{
    pthread_t threads[PUSHERS];
    unsigned next[PUSHERS] = {0};
    size_t taken = 0, stacks = 0;

    for (unsigned i = 0; i < PUSHERS; i++) {
        for (unsigned k = 0; k < PUSHES; k++)
            pushed[i][k].pusher = i;
        CHECK(pthread_create(&threads[i], NULL, push_all, pushed[i]) == 0);
    }
    while (taken < PUSHERS * PUSHES) {
        struct base_stack_link *link = base_stack_take(&shared);

        stacks += link != NULL;
        for (; link; link = link->next, taken++) {
            const struct pushed *one = BASE_STACK_ITEM(link, struct pushed, link);

            CHECK(one->number == next[one->pusher]++);
        }
    }
    for (unsigned i = 0; i < PUSHERS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(told == stacks && base_stack_is_empty(&shared));
}
