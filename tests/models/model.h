/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * model.h - runs a few threads in each order of their atomic operations, and lets each load return
 * each value that C11 allows it. Code that is included after this header runs in the model.
 *
 * A store goes to the end of its object's modification order, and no load returns a value that is
 * written later. Within these bounds the exploration is complete: acquire, release, relaxed and
 * sequentially consistent operations, release sequences, read-modify-writes.
 */
#ifndef ITAPI_TESTS_MODELS_MODEL_H
#define ITAPI_TESTS_MODELS_MODEL_H

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum model_change {
    MODEL_EXCHANGE,
    MODEL_ADD,
    MODEL_SUB,
    MODEL_OR
};

/* Sets a value before the threads begin. */
void model_init(volatile void *at, size_t size, uint64_t value);
uint64_t model_load(const volatile void *at, size_t size, memory_order order, int line);
void model_store(volatile void *at, size_t size, uint64_t value, memory_order order, int line);
uint64_t model_change(volatile void *at, size_t size, enum model_change change, uint64_t value,
                      memory_order order, int line);
bool model_compare(volatile void *at, size_t size, void *expected, uint64_t value,
                   memory_order success, memory_order failure, int line);
/* Lets another thread go on first. */
int model_yield(void);
/* A lock: 0 is free. No thread spins. */
void model_lock(_Atomic uint32_t *word);
void model_unlock(_Atomic uint32_t *word);
/* Returns when the memory no longer has this value. Sees it, and orders nothing else. */
void model_sleep(const volatile void *at, size_t size, uint64_t value);
/* Plain memory that threads use in turns. Returns the value before. */
uint64_t model_use(uint64_t *at, uint64_t value);
uint64_t model_read(uint64_t *at);
void model_require(bool condition, const char *text);
#define MODEL_REQUIRE(condition) model_require((condition), #condition)

struct model {
    const char *name;
    unsigned threads;
    void (*begin)(void);
    void (*run)(unsigned thread);
    void (*end)(void); /* all threads have ended */
};

/*
 * Explores all executions. Returns a text about the check that failed, or NULL. The operation at
 * weak_line has this order: relaxed; or, if its own is sequentially consistent, acquire and
 * release.
 */
const char *model_explore(const struct model *model, int weak_line, memory_order order,
                          unsigned long *executions);
/*
 * Gets the lines of the last exploration's operations that are not relaxed. Returns their number.
 */
unsigned model_lines(int *lines, unsigned room);

#undef atomic_init
#undef atomic_load
#undef atomic_load_explicit
#undef atomic_store
#undef atomic_store_explicit
#undef atomic_exchange
#undef atomic_exchange_explicit
#undef atomic_fetch_add
#undef atomic_fetch_add_explicit
#undef atomic_fetch_sub
#undef atomic_fetch_sub_explicit
#undef atomic_fetch_or
#undef atomic_fetch_or_explicit
#undef atomic_compare_exchange_weak
#undef atomic_compare_exchange_strong_explicit
#undef atomic_compare_exchange_weak_explicit

/*
 * A file of the library that is included after another one defines it anew. Operations of -1 are
 * not weakened: another test does that.
 */
#define MODEL_FILE             0
#define MODEL_LINE             (MODEL_FILE < 0 ? 0 : MODEL_FILE * 10000 + __LINE__)
#define MODEL_TYPE(at)         __typeof__(0 ? *(at) : *(at))
#define atomic_init(at, value) model_init((at), sizeof(*(at)), (uint64_t)(value))
#define atomic_load_explicit(at, order)                                                            \
    ((MODEL_TYPE(at))model_load((at), sizeof(*(at)), (order), MODEL_LINE))
#define atomic_store_explicit(at, value, order)                                                    \
    model_store((at), sizeof(*(at)), (uint64_t)(value), (order), MODEL_LINE)
#define MODEL_CHANGE(at, change, value, order)                                                     \
    ((MODEL_TYPE(at))model_change((at), sizeof(*(at)), (change), (uint64_t)(value), (order),       \
                                  MODEL_LINE))
#define atomic_exchange_explicit(at, value, order)  MODEL_CHANGE(at, MODEL_EXCHANGE, value, order)
#define atomic_fetch_add_explicit(at, value, order) MODEL_CHANGE(at, MODEL_ADD, value, order)
#define atomic_fetch_sub_explicit(at, value, order) MODEL_CHANGE(at, MODEL_SUB, value, order)
#define atomic_fetch_or_explicit(at, value, order)  MODEL_CHANGE(at, MODEL_OR, value, order)
#define atomic_compare_exchange_strong_explicit(at, expected, value, success, failure)             \
    model_compare((at), sizeof(*(at)), (expected), (uint64_t)(value), (success), (failure),        \
                  MODEL_LINE)
#define atomic_compare_exchange_weak_explicit atomic_compare_exchange_strong_explicit
#define MODEL_TOTAL                           memory_order_seq_cst
#define atomic_load(at)                       atomic_load_explicit(at, MODEL_TOTAL)
#define atomic_store(at, value)               atomic_store_explicit(at, value, MODEL_TOTAL)
#define atomic_exchange(at, value)            atomic_exchange_explicit(at, value, MODEL_TOTAL)
#define atomic_fetch_add(at, value)           atomic_fetch_add_explicit(at, value, MODEL_TOTAL)
#define atomic_fetch_sub(at, value)           atomic_fetch_sub_explicit(at, value, MODEL_TOTAL)
#define atomic_fetch_or(at, value)            atomic_fetch_or_explicit(at, value, MODEL_TOTAL)
#define atomic_compare_exchange_weak(at, expected, value)                                          \
    model_compare((at), sizeof(*(at)), (expected), (uint64_t)(value), MODEL_TOTAL, MODEL_TOTAL,    \
                  MODEL_LINE)
#define sched_yield model_yield

#endif
