/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The words of a command: the name, then positional words, options name=value and flags in any
 * order. An error in one is answered at once ("error usage TEXT"). A command reads all its
 * arguments, calls peer_args_refused(), and only then begins.
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
 * Parses the words after the name in place. allowed lists the options, separated by blanks: "name="
 * is optional, "name=!" is required, "name" is a flag.
 */
void peer_args_parse(struct peer_args *args, char *text, const char *allowed);

__attribute__((format(printf, 2, 3))) void peer_args_refuse(struct peer_args *args,
                                                            const char *format, ...);
bool peer_args_refused(const struct peer_args *args);

/* Converts the whole text to a number from min to max. */
bool peer_args_to_number(const char *text, uint64_t min, uint64_t max, uint64_t *number);

uint64_t peer_args_number(struct peer_args *args, unsigned i, uint64_t min, uint64_t max);

/* Returns the value of an option, or the fallback without it. */
uint64_t peer_args_option(struct peer_args *args, const char *name, uint64_t fallback, uint64_t min,
                          uint64_t max);
const char *peer_args_text(const struct peer_args *args, const char *name);
bool peer_args_flag(const struct peer_args *args, const char *name);

/* Converts hexadecimal digits to at most room octets. Returns their number. */
size_t peer_args_hex(struct peer_args *args, const char *name, uint8_t *octets, size_t room);

/* Returns a deadline that begins now: option timeout times the factor of all time limits. */
int64_t peer_args_deadline(struct peer_args *args);
#define PEER_TIMEOUT_DEFAULT_MS 20000u
#define PEER_TIMEOUT_MAX_MS     86400000u

#endif
