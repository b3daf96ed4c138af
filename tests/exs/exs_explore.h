/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Visits every state that a model can reach. A model consists of a state struct and a function that
 * makes the n-th possible action. The struct may contain pointers into itself only if its fix
 * function sets them in a copy.
 */
#ifndef TESTS_EXS_EXS_EXPLORE_H
#define TESTS_EXS_EXS_EXPLORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct explore_model {
    size_t size; /* size of a state */
    unsigned actions;
    void (*fix)(void *state);   /* sets pointers into the state itself */
    void (*plain)(void *state); /* sets these pointers to NULL, for comparison */
    /* Returns false if the action is not possible, and leaves the state unchanged. */
    bool (*act)(void *state, unsigned action);
    /* Checks a state in which no action is possible. */
    void (*over)(const void *state);
};

/* Returns the number of states, or 0 if there are more than `most`. */
size_t explore(const struct explore_model *model, const void *start, size_t most);

/* Fails the test and prints the history of the state. */
void explore_require(bool condition, const char *text, const char *file, int line);
#define REQUIRE(condition) explore_require(condition, #condition, __FILE__, __LINE__)

#endif /* TESTS_EXS_EXS_EXPLORE_H */
