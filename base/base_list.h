/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lists of objects that hold the links themselves. Zeroed memory is an empty list, or a link that
 * is in none. A list needs no address of its own: it may be copied, and the copy goes on in its
 * place.
 *
 * base_list is guarded by whoever owns it. base_stack needs no lock: any thread pushes, and a
 * thread that takes gets all there is.
 */
#ifndef ITAPI_BASE_BASE_LIST_H
#define ITAPI_BASE_BASE_LIST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct base_link {
    struct base_link *prev, *next; /* NULL at the ends, and outside of a list */
};

struct base_list {
    struct base_link *first, *last; /* NULL: empty */
};

static inline void *base_list_object(const struct base_link *link, size_t offset)
{
    return link ? (unsigned char *)(struct base_link *)link - offset : NULL;
}

/* The object that a link is the member of; NULL for NULL. */
#define BASE_LIST_ITEM(link, type, member)                                                         \
    ((type *)base_list_object((link), offsetof(type, member)))
#define BASE_LIST_FIRST(list, type, member) BASE_LIST_ITEM((list)->first, type, member)
#define BASE_LIST_NEXT(item, type, member)  BASE_LIST_ITEM((item)->member.next, type, member)

/* Each object of the list, first to last. The body may leave, but not remove the item and go on. */
#define BASE_LIST_EACH(type, item, list, member)                                                   \
    for (type *item = BASE_LIST_FIRST(list, type, member); item;                                   \
         item = BASE_LIST_NEXT(item, type, member))

/* The same; the body may remove the item, or end it, but none behind it. */
#define BASE_LIST_EACH_REMOVABLE(type, item, list, member)                                         \
    for (type *item = BASE_LIST_FIRST(list, type, member), *item##_next;                           \
         item && (item##_next = BASE_LIST_NEXT(item, type, member), true); item = item##_next)

static inline bool base_list_is_empty(const struct base_list *list)
{
    return !list->first;
}

/* Behind `before`, which is in the list; NULL: as the first. */
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

/* The link is in this list. */
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

/* Removes the first and returns it; NULL: the list is empty. */
static inline struct base_link *base_list_take(struct base_list *list)
{
    struct base_link *link = list->first;

    if (link)
        base_list_remove(list, link);
    return link;
}

/* ---------------------------------------------------------------- a stack without a lock */

struct base_stack_link {
    struct base_stack_link *next; /* by the thread that pushes, then by the one that has taken it */
};

struct base_stack {
    _Atomic(struct base_stack_link *) newest; /* NULL: empty */
};

#define BASE_STACK_ITEM(link, type, member)                                                        \
    ((type *)base_stack_object((link), offsetof(type, member)))

static inline void *base_stack_object(const struct base_stack_link *link, size_t offset)
{
    return link ? (unsigned char *)(struct base_stack_link *)link - offset : NULL;
}

/* Just a look. */
static inline bool base_stack_is_empty(const struct base_stack *stack)
{
    return !atomic_load_explicit(&stack->newest, memory_order_relaxed);
}

/* The link is on no stack. True when the stack was empty: of several threads one is told so. */
static inline bool base_stack_push(struct base_stack *stack, struct base_stack_link *link)
{
    struct base_stack_link *newest = atomic_load_explicit(&stack->newest, memory_order_relaxed);

    do {
        link->next = newest;
    } while (!atomic_compare_exchange_weak(&stack->newest, &newest, link));
    return !newest;
}

/* All there is, chained by .next, oldest first. Sees what was written before each push. */
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
