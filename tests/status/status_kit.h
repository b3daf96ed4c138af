/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * status_kit.h - a call of the API as data: its parameters, and rows for what can be wrong with
 * them. The runner makes the usual mistakes with every parameter by itself (status_run.c).
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
    PARAM_HANDLE,  /* of an object */
    PARAM_POINTER, /* must not be NULL, unless .optional */
    PARAM_BITS,    /* flags, mask: an unknown bit is refused */
    PARAM_NUMBER   /* what can be wrong with it is in rows */
};

struct status_param {
    enum status_kind kind;
    it_status_t bad;            /* the answer to a wrong handle, to an unknown bit */
    enum status_object object;  /* of a handle */
    enum status_object or_else; /* it may be of this kind as well, unless IA */
    bool of_any_kind;
    enum status_slot slot; /* a good one */
    it_status_t foreign;   /* to a handle of another IA; IT_SUCCESS: not tried */
    bool optional;
    uint64_t number; /* a good number or set of bits */
    uint64_t known;  /* bits that are not refused as unknown */
    const void *at;  /* what a pointer points to, copied for the call; NULL: room for a result */
    size_t size;
    bool as_is; /* a pointer that is not looked behind: .at itself is given */
};

enum status_way {
    CHANGE_NONE,
    CHANGE_NUMBER,
    CHANGE_SLOT,
    CHANGE_AT,    /* another thing that a pointer points to */
    CHANGE_MEMBER /* one of it */
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
    /* Brings about what makes the call fail, in a world of its own. */
    void (*scene)(struct status_world *world, union status_value *values);
};

struct status_call {
    const char *name;
    it_status_t (*make)(const union status_value *values);
    struct status_param params[STATUS_PARAMS];
    const struct status_row *rows; /* the last one has no .what */
    /* With everything right. IT_SUCCESS; otherwise what this library always answers then. */
    it_status_t at_best;
    it_status_t when_short; /* of memory; IT_SUCCESS: IT_ERR_RESOURCES, as usual */
    bool tells;             /* .at_best writes something, too */
    bool pooled; /* makes an object, of memory that is there already for some of its kind */
};

struct status_table {
    const struct status_call *calls; /* the last one has no .name */
    /* Fills in what .at of the parameters points to, for each new world. */
    void (*prepare)(struct status_world *world);
};

/* What the standard (or itx_api.h) says a call may answer; status_documented.c. */
struct status_documented {
    const char *name;
    it_status_t statuses[32]; /* up to the first IT_SUCCESS */
};
extern const struct status_documented status_documented[];

/* What no program can bring about with this library, and why; status_never.c. */
struct status_never {
    const char *name;   /* NULL: any call */
    it_status_t status; /* IT_SUCCESS: all that are not seen */
    const char *why;
};
extern const struct status_never status_never[];

void status_run(const struct status_table *table);

/* For scenes: this machine is not made for it. */
void status_cannot_be_shown(void);

/* ---- Short forms ---------------------------------------------------------------------------- */

/* A function that makes a call with the values v, and the start of the row that describes it. */
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

/* ROW(what, status, changes...); SCENE(what, status, scene), or with changes behind it. */
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
