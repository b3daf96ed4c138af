/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The words of a command: the name, then words that count by position, options name=value and
 * flags in any order. What is wrong with one is answered at once ("error usage TEXT"); a command
 * asks for all its arguments, looks at peer_args_refused() and only then begins.
 */
#ifndef PEERS_ARGS_H
#define PEERS_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PEER_ARGS_MAX 16

struct peer_args {
    unsigned positions;
    const char *position[PEER_ARGS_MAX];
    unsigned options;
    struct {
        const char *name;
        const char *value; /* NULL for a flag */
    } option[PEER_ARGS_MAX];
    bool refused;
};

/*
 * Takes the words after the name apart, in place. allowed names the options, separated by blanks:
 * "name=" may be given, "name=!" must be, "name" is a flag.
 */
void peer_args_parse(struct peer_args *args, char *text, const char *allowed);

__attribute__((format(printf, 2, 3))) void peer_args_refuse(struct peer_args *args,
                                                            const char *format, ...);
bool peer_args_refused(const struct peer_args *args);

/* A whole text as a number from min to max. */
bool peer_args_to_number(const char *text, uint64_t min, uint64_t max, uint64_t *number);

uint64_t peer_args_number(struct peer_args *args, unsigned i, uint64_t min, uint64_t max);

/* The value of an option, the fallback if it is not there. */
uint64_t peer_args_option(struct peer_args *args, const char *name, uint64_t fallback, uint64_t min,
                          uint64_t max);
const char *peer_args_text(const struct peer_args *args, const char *name);
bool peer_args_flag(const struct peer_args *args, const char *name);

/* Octets in hexadecimal digits, at most room of them; returns how many. */
size_t peer_args_hex(struct peer_args *args, const char *name, uint8_t *octets, size_t room);

/* Option timeout, times the factor of all time limits, as a deadline that begins now. */
int64_t peer_args_deadline(struct peer_args *args);
#define PEER_TIMEOUT_DEFAULT_MS 20000u
#define PEER_TIMEOUT_MAX_MS     86400000u

#endif
