/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Intrusive lists. Zeroed memory is an empty list, or a link that is in no list. A list does not
 * depend on its own address: it may be copied, and the copy used in its place.
 *
 * The owner of a base_list guards it. base_stack needs no lock: any thread pushes an item, any
 * thread takes all items.
 */
#ifndef ITAPI_BASE_BASE_LIST_H
#define ITAPI_BASE_BASE_LIST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct base_link {
    struct base_link *prev, *next; /* NULL at the ends of a list, and in no list */
};

struct base_list {
    struct base_link *first, *last; /* NULL: empty */
};

static inline void *base_item(const void *member, size_t offset)
{
    return member ? (unsigned char *)(void *)member - offset : NULL;
}

/* The object that contains the member at that address; NULL for NULL. */
#define BASE_ITEM(address, type, member) ((type *)base_item((address), offsetof(type, member)))

#define BASE_LIST_ITEM(link, type, member)  BASE_ITEM(link, type, member)
#define BASE_LIST_FIRST(list, type, member) BASE_LIST_ITEM((list)->first, type, member)
#define BASE_LIST_NEXT(item, type, member)  BASE_LIST_ITEM((item)->member.next, type, member)

/* Each object of the list, in order. The body may not remove the item unless it leaves the loop. */
#define BASE_LIST_EACH(type, item, list, member)                                                   \
    for (type *item = BASE_LIST_FIRST(list, type, member); item;                                   \
         item = BASE_LIST_NEXT(item, type, member))

/* The same; the body may remove the item, or free it, but not the next one. */
#define BASE_LIST_EACH_REMOVABLE(type, item, list, member)                                         \
    for (type *item = BASE_LIST_FIRST(list, type, member), *item##_next;                           \
         item && (item##_next = BASE_LIST_NEXT(item, type, member), true); item = item##_next)

static inline bool base_list_is_empty(const struct base_list *list)
{
    return !list->first;
}

/* Inserts link behind `before`, which is in the list; if NULL, as the first. */
static inline void base_list_insert(struct base_list *list, struct base_link *before,
                                    struct base_link *link)
{
    struct base_link *after = before ? before->next : list->first;

    link->prev = before;
    link->next = after;
    if (before)
        before->next = link;
    else
        list->first = link;
    if (after)
        after->prev = link;
    else
        list->last = link;
}

static inline void base_list_prepend(struct base_list *list, struct base_link *link)
{
    base_list_insert(list, NULL, link);
}

static inline void base_list_append(struct base_list *list, struct base_link *link)
{
    base_list_insert(list, list->last, link);
}

/* Removes link, which must be in this list. */
static inline void base_list_remove(struct base_list *list, struct base_link *link)
{
    if (link->prev)
        link->prev->next = link->next;
    else
        list->first = link->next;
    if (link->next)
        link->next->prev = link->prev;
    else
        list->last = link->prev;
    *link = (struct base_link){NULL, NULL};
}

/* Removes the first link and returns it, or NULL. */
static inline struct base_link *base_list_take(struct base_list *list)
{
    struct base_link *link = list->first;

    if (link)
        base_list_remove(list, link);
    return link;
}

/* ---------------------------------------------------------------- a stack without a lock */

struct base_stack_link {
    struct base_stack_link
        *next; /* belongs to the thread that pushes, then to the one that takes */
};

struct base_stack {
    _Atomic(struct base_stack_link *) newest; /* NULL: empty */
};

#define BASE_STACK_ITEM(link, type, member) BASE_ITEM(link, type, member)

/* A hint: another thread may change it at any time. */
static inline bool base_stack_is_empty(const struct base_stack *stack)
{
    return !atomic_load_explicit(&stack->newest, memory_order_relaxed);
}

/* Pushes a link that is on no stack. Returns true, to one thread only, when it was empty. */
static inline bool base_stack_push(struct base_stack *stack, struct base_stack_link *link)
{
    struct base_stack_link *newest = atomic_load_explicit(&stack->newest, memory_order_relaxed);

    do {
        link->next = newest;
    } while (!atomic_compare_exchange_weak(&stack->newest, &newest, link));
    return !newest;
}

/* Takes all links, chained by .next, oldest first. Acquires what each push released. */
static inline struct base_stack_link *base_stack_take(struct base_stack *stack)
{
    struct base_stack_link *newest = atomic_exchange(&stack->newest, NULL);
    struct base_stack_link *oldest = NULL;

    while (newest) {
        struct base_stack_link *next = newest->next;

        newest->next = oldest;
        oldest = newest;
        newest = next;
    }
    return oldest;
}

#endif
