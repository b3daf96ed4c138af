/* SPDX-License-Identifier: BSD-2-Clause */
#include "exs_explore.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH 512u

/* A hash of 128 bits stands for each state that was visited. */
struct seen {
    uint64_t hash[2];
};

static struct seen *table;
static size_t table_size;
static size_t states;

static unsigned history[DEPTH];
static size_t depth;

void explore_require(bool condition, const char *text, const char *file, int line)
{
    if (condition)
        return;
    fprintf(stderr, "%s:%d: not so: %s; actions:", file, line, text);
    for (size_t i = 0; i < depth; i++)
        fprintf(stderr, " %u", history[i]);
    fprintf(stderr, "\n");
    exit(1);
}

static void hash_of(const void *state, size_t size, struct seen *result)
{
    const unsigned char *octets = state;
    uint64_t word;

    result->hash[0] = 0x9e3779b97f4a7c15u;
    result->hash[1] = 0xc2b2ae3d27d4eb4fu;
    for (size_t i = 0; i < size; i += sizeof(word)) {
        word = 0;
        memcpy(&word, octets + i, size - i < sizeof(word) ? size - i : sizeof(word));
        result->hash[0] = (result->hash[0] ^ word) * 0xff51afd7ed558ccdu;
        result->hash[0] ^= result->hash[0] >> 32;
        result->hash[1] = (result->hash[1] + word) * 0xc4ceb9fe1a85ec53u;
        result->hash[1] ^= result->hash[1] >> 29;
    }
    if (result->hash[0] == 0)
        result->hash[0] = 1;
}

/* Returns false if the state was visited before. */
static bool note(const struct explore_model *model, const void *state, void *scratch)
{
    struct seen seen;
    size_t at;

    memcpy(scratch, state, model->size);
    model->plain(scratch);
    hash_of(scratch, model->size, &seen);
    for (at = seen.hash[1] % table_size; table[at].hash[0] != 0; at = (at + 1) % table_size)
        if (memcmp(&table[at], &seen, sizeof(seen)) == 0)
            return false;
    table[at] = seen;
    states++;
    return true;
}

/* Visits depth first. `stack` has a state for each depth. */
static bool visit(const struct explore_model *model, unsigned char *stack, size_t most)
{
    unsigned char *here = stack + depth * model->size;
    unsigned char *next = here + model->size;
    bool moved = false;

    for (unsigned action = 0; action < model->actions; action++) {
        memcpy(next, here, model->size);
        model->fix(next);
        history[depth++] = action;
        if (model->act(next, action)) {
            moved = true;
            if (states >= most)
                return false;
            explore_require(depth + 2 < DEPTH, "the model ends", __FILE__, __LINE__);
            if (note(model, next, next + model->size) && !visit(model, stack, most))
                return false;
        }
        depth--;
    }
    if (!moved)
        model->over(here);
    return true;
}

size_t explore(const struct explore_model *model, const void *start, size_t most)
{
    unsigned char *stack = calloc(DEPTH, model->size);
    bool all;

    table_size = 2 * most + 1;
    table = calloc(table_size, sizeof(*table));
    explore_require(stack && table, "there is memory", __FILE__, __LINE__);
    states = 0;
    depth = 0;
    memcpy(stack, start, model->size);
    model->fix(stack);
    all = visit(model, stack, most);
    free(stack);
    free(table);
    return all ? states : 0;
}
