/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * peer.h - the far side of a test: the program verbs_peer (tests/peers), which is controlled by
 * lines of text. All functions end the test if the far side does not answer as expected. Whichever
 * check failed, the last lines of the conversation are printed then.
 */
#ifndef ITAPI_TESTS_INTEROP_PEER_H
#define ITAPI_TESTS_INTEROP_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/time_limit.h"

/* The longest answer: private data of 512 octets in hexadecimal and a few dozen completions fit. */
#define PEER_LINE 16384

/*
 * How long an answer may take. Commands that wait get PEER_WAIT, which the peer multiplies by the
 * same factor. It is shorter, so that the peer can still say what did not come.
 */
#define PEER_PATIENCE_MS time_limit_ms(90000)
#define PEER_WAIT        "timeout=60000"

struct peer;

struct peer_answer {
    char text[PEER_LINE]; /* the whole line without its newline */
};

/* Starts the program, in the named network namespace if there is one. */
struct peer *peer_start(const char *net_namespace);
/*
 * Tells the program to quit and waits for exit status 0, unless it has ended already. Frees the
 * struct.
 */
void peer_end(struct peer *peer);
bool peer_is_there(const struct peer *peer);

/* Writes one command. */
void peer_tell(struct peer *peer, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Reads one answer, which must be "ok". The answer may be NULL. */
void peer_hear(struct peer *peer, struct peer_answer *answer);
/* Reads one answer, which must be "error" and this word. */
void peer_hear_error(struct peer *peer, struct peer_answer *answer, const char *word);
/* Reads one answer of either kind; true if it is "ok". */
bool peer_hear_either(struct peer *peer, struct peer_answer *answer);
/* Returns true if an answer (or the end of the program) can be read within this time. */
bool peer_can_hear(struct peer *peer, unsigned milliseconds);

/* peer_tell and peer_hear, or peer_hear_error. */
void peer_ask(struct peer *peer, struct peer_answer *answer, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void peer_ask_error(struct peer *peer, struct peer_answer *answer, const char *word,
                    const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Calls peer_ask and returns one field of the answer. */
uint64_t peer_ask_number(struct peer *peer, const char *field, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Return fields "name=value" of an answer. They end the test if there is no such field. */
uint64_t peer_number(const struct peer_answer *answer, const char *field);
void peer_string(const struct peer_answer *answer, const char *field, char *value, size_t room);
/* Decodes a hexadecimal field. Returns the number of octets. */
size_t peer_octets(const struct peer_answer *answer, const char *field, void *octets, size_t room);
/* Encodes octets for commands. The text needs room for 2 * length + 2 characters. */
const char *peer_hex(const void *octets, size_t length, char *text);

/* Kills the program with SIGKILL. Returns when it has ended. */
void peer_kill(struct peer *peer);
/* Waits for a program that was told to abort. */
void peer_wait_killed(struct peer *peer);
/* Lets a program continue that was told to pause. */
void peer_continue(struct peer *peer);
/* Return the program's resident memory and its number of open descriptors. */
size_t peer_resident_kb(const struct peer *peer);
size_t peer_descriptors(const struct peer *peer);

/* ---- Its memory ----------------------------------------------------------------------------- */

struct peer_mem {
    unsigned id;
    uint64_t address;
    uint32_t rkey;
    size_t size;
};

/* Registers memory of the peer. rights are those of the command "mem", or NULL for its default. */
struct peer_mem peer_mem_make(struct peer *peer, size_t size, const char *rights);

#endif /* ITAPI_TESTS_INTEROP_PEER_H */
