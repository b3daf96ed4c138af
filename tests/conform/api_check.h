/*
 * api_check.h
 *
 * Checks of the C units. Each yields an entry of a table of names and refuses to compile when the
 * fact does not hold.
 */
#ifndef API_CHECK_H
#define API_CHECK_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef void (*any_fn)(void);
struct fn_entry {
    const char *name;
    any_fn      address;
};

#define CHECKED(text, condition, complaint) \
    (&text[0 * sizeof(struct { char c; _Static_assert(condition, complaint); })])

/* Exact prototype: the only association is the expected pointer type. */
#define CHECK_FN(ret, name, params) \
    { #name, _Generic(&name, ret (*) params: (any_fn)name) }

#define CHECK_VALUE(name, value) \
    CHECKED(#name, (name) == (value), #name " must be " #value)

#define CHECK_FIELD(type, member, expected) \
    CHECKED(#type "." #member, \
            _Generic(&((type *)0)->member, __typeof__(expected) *: 1, default: 0), \
            #type "." #member " must have type " #expected)

#define CHECK_GROUP(type, member) \
    CHECKED(#type "." #member, sizeof(((type *)0)->member) > 0, #type "." #member " must exist")

#define CHECK_TYPE(name, expected) \
    CHECKED(#name, _Generic((name *)0, expected *: 1, default: 0), #name " must be " #expected)

/* A pointer to an object type, not interchangeable with void *. */
#define CHECK_HANDLE(name) \
    CHECKED(#name, sizeof(name) == sizeof(void *) && _Generic((name)0, void *: 0, default: 1), \
            #name " must be a distinct pointer type")

#define CHECK_ORDER(type, first, second) \
    CHECKED(#type "." #first " < " #second, offsetof(type, first) < offsetof(type, second), \
            #type ": " #first " must come before " #second)

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* Returns 1 if a function of the table has no address; otherwise 0. */
static inline int check_addresses(const struct fn_entry *table, size_t count)
{
    int wrong = 0;

    for (size_t i = 0; i < count; i++) {
        const struct fn_entry *const volatile entry = &table[i];
        if (!entry->address) {
            printf("%s has no address\n", entry->name);
            wrong = 1;
        }
    }
    return wrong;
}

#endif
