/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * status_kit.h - a call of the API as data: its parameters, and rows for wrong values. The runner
 * itself makes the usual mistakes with every parameter (status_run.c).
 */
#ifndef ITAPI_TESTS_STATUS_STATUS_KIT_H
#define ITAPI_TESTS_STATUS_STATUS_KIT_H

#include "status/status_world.h"

#define STATUS_PARAMS  11u
#define STATUS_CHANGES 4u

union status_value {
    void *p;
    uint64_t n;
};

enum status_kind {
    PARAM_NONE,
    PARAM_HANDLE,  /* handle of an object */
    PARAM_POINTER, /* must not be NULL, unless .optional */
    PARAM_BITS,    /* flags or mask: an unknown bit is refused */
    PARAM_NUMBER   /* its wrong values are in rows */
};

struct status_param {
    enum status_kind kind;
    it_status_t bad;            /* status for a wrong handle or an unknown bit */
    enum status_object object;  /* kind of the handle's object */
    enum status_object or_else; /* the handle may also be of this kind, unless it is IA */
    bool of_any_kind;
    enum status_slot slot; /* a valid one */
    it_status_t foreign;   /* status for a handle of another IA; IT_SUCCESS: not tried */
    bool optional;
    uint64_t number; /* a valid number or set of bits */
    uint64_t known;  /* bits that are not refused as unknown */
    const void *at;  /* the content of a pointer, copied for the call; NULL: room for a result */
    size_t size;
    bool as_is; /* the pointer is passed as it is: .at itself */
};

enum status_way {
    CHANGE_NONE,
    CHANGE_NUMBER,
    CHANGE_SLOT,
    CHANGE_AT,    /* another content of a pointer */
    CHANGE_MEMBER /* one member of the content */
};

struct status_change {
    unsigned param; /* from 0 */
    enum status_way way;
    uint64_t number;
    enum status_slot slot;
    const void *at;
    size_t offset, size; /* of the member */
};

struct status_row {
    const char *what;
    it_status_t want;
    struct status_change change[STATUS_CHANGES];
    /* Makes the call fail, in a world of its own. */
    void (*scene)(struct status_world *world, union status_value *values);
};

struct status_call {
    const char *name;
    it_status_t (*make)(const union status_value *values);
    struct status_param params[STATUS_PARAMS];
    const struct status_row *rows; /* the last row has no .what */
    /*
     * The result with valid arguments: IT_SUCCESS, or the status that this library always returns.
     */
    it_status_t at_best;
    it_status_t when_short; /* without memory; IT_SUCCESS: IT_ERR_RESOURCES, as usual */
    bool tells;             /* .at_best writes results, too */
    bool pooled;            /* makes an object from a pool that has memory for some of its kind */
};

struct status_table {
    const struct status_call *calls; /* the last call has no .name */
    /* Sets what .at of the parameters points to, for each new world. */
    void (*prepare)(struct status_world *world);
};

/* The statuses that the standard (or itx_api.h) allows for a call; status_documented.c. */
struct status_documented {
    const char *name;
    it_status_t statuses[32]; /* up to the first IT_SUCCESS */
};
extern const struct status_documented status_documented[];

/* Statuses that no program can cause with this library, and why; status_never.c. */
struct status_never {
    const char *name;   /* NULL: any call */
    it_status_t status; /* IT_SUCCESS: all that were not seen */
    const char *why;
};
extern const struct status_never status_never[];

void status_run(const struct status_table *table);

/* A scene calls this if the machine cannot show its status. */
void status_cannot_be_shown(void);

/* ---- Short forms ---------------------------------------------------------------------------- */

/*
 * Defines a function that makes a call with the values v, and begins the row that describes the
 * call.
 */
#define STATUS_CALL(maker, call)                                                                   \
    static it_status_t maker(const union status_value *v)                                          \
    {                                                                                              \
        return call;                                                                               \
    }
#define STATUS_NAMED(function, maker) .name = #function, .make = maker

#define STATUS_IA                                                                                  \
    {                                                                                              \
        .kind = PARAM_HANDLE, .bad = IT_ERR_INVALID_IA, .object = OBJECT_IA, .slot = SLOT_IA       \
    }
#define STATUS_PZ                                                                                  \
    {                                                                                              \
        .kind = PARAM_HANDLE, .bad = IT_ERR_INVALID_PZ, .object = OBJECT_PZ, .slot = SLOT_PZ       \
    }
#define STATUS_EVD(which, status)                                                                  \
    {                                                                                              \
        .kind = PARAM_HANDLE, .bad = (status), .object = OBJECT_EVD, .slot = (which)               \
    }
#define STATUS_EP(which)                                                                           \
    {                                                                                              \
        .kind = PARAM_HANDLE, .bad = IT_ERR_INVALID_EP, .object = OBJECT_EP, .slot = (which)       \
    }
#define STATUS_RESULT                                                                              \
    {                                                                                              \
        .kind = PARAM_POINTER                                                                      \
    }
#define STATUS_OPTIONAL                                                                            \
    {                                                                                              \
        .kind = PARAM_POINTER, .optional = true                                                    \
    }
#define STATUS_GIVEN(thing)                                                                        \
    {                                                                                              \
        .kind = PARAM_POINTER, .at = &(thing), .size = sizeof(thing)                               \
    }
#define STATUS_GIVEN_OR_NULL(thing)                                                                \
    {                                                                                              \
        .kind = PARAM_POINTER, .at = &(thing), .size = sizeof(thing), .optional = true             \
    }
#define STATUS_GIVEN_AS_IS(thing)                                                                  \
    {                                                                                              \
        .kind = PARAM_POINTER, .at = &(thing), .as_is = true, .optional = true                     \
    }
#define STATUS_NUMBER(good)                                                                        \
    {                                                                                              \
        .kind = PARAM_NUMBER, .number = (uint64_t)(good)                                           \
    }
#define STATUS_BITS(status, good, all)                                                             \
    {                                                                                              \
        .kind = PARAM_BITS, .bad = (status), .number = (uint64_t)(good), .known = (uint64_t)(all)  \
    }

#define SET(index, value)                                                                          \
    {                                                                                              \
        .param = (index), .way = CHANGE_NUMBER, .number = (uint64_t)(value)                        \
    }
#define USE(index, which)                                                                          \
    {                                                                                              \
        .param = (index), .way = CHANGE_SLOT, .slot = (which)                                      \
    }
#define POINT(index, thing)                                                                        \
    {                                                                                              \
        .param = (index), .way = CHANGE_AT, .at = &(thing), .size = sizeof(thing)                  \
    }
#define MEMBER(index, type, member, value)                                                         \
    {                                                                                              \
        .param = (index), .way = CHANGE_MEMBER, .number = (uint64_t)(value),                       \
        .offset = offsetof(type, member), .size = sizeof(((type *)NULL)->member)                   \
    }

/* ROW(what, status, changes...); SCENE(what, status, scene), which may be followed by changes. */
#define ROW(text, status, ...)                                                                     \
    {                                                                                              \
        .what = (text), .want = (status), .change = { __VA_ARGS__ }                                \
    }
#define SCENE(text, status, function, ...)                                                         \
    {                                                                                              \
        .what = (text), .want = (status), .scene = (function), .change = { __VA_ARGS__ }           \
    }
#define ROWS(...) ((const struct status_row[]){__VA_ARGS__, {.what = NULL}})

#endif
