/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Visits every state that a model can reach. A model is a struct without pointers to itself but
 * those that its fix function sets anew in a copy, and a function that makes the n-th possible
 * action.
 */
#ifndef TESTS_EXS_EXS_EXPLORE_H
#define TESTS_EXS_EXS_EXPLORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct explore_model {
    size_t size; /* of a state */
    unsigned actions;
    void (*fix)(void *state);   /* pointers into itself */
    void (*plain)(void *state); /* the same pointers become NULL, for comparison */
    /* false: not possible in this state, which is then unchanged. */
    bool (*act)(void *state, unsigned action);
    /* No action is possible: is that right? */
    void (*over)(const void *state);
};

/* Number of states; 0: more than `most`. */
size_t explore(const struct explore_model *model, const void *start, size_t most);

/* Fails the test with the state's history. */
void explore_require(bool condition, const char *text, const char *file, int line);
#define REQUIRE(condition) explore_require(condition, #condition, __FILE__, __LINE__)

#endif /* TESTS_EXS_EXS_EXPLORE_H */
