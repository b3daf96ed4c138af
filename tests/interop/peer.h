/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * peer.h - the far side of a test: the program verbs_peer (tests/peers), which does what it is told
 * by lines of text. Everything here ends the test when the far side does not answer as expected;
 * the end of the conversation is printed then, whichever check failed.
 */
#ifndef ITAPI_TESTS_INTEROP_PEER_H
#define ITAPI_TESTS_INTEROP_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/time_limit.h"

/* Longest answer; private data of 512 octets in hexadecimal and a few dozen completions fit. */
#define PEER_LINE 16384

/* How long an answer may take. Commands that wait get PEER_WAIT, which the peer multiplies by the
 * same factor: shorter, so that it can say what it waited for in vain. */
#define PEER_PATIENCE_MS time_limit_ms(90000)
#define PEER_WAIT        "timeout=60000"

struct peer;

struct peer_answer {
    char text[PEER_LINE]; /* the whole line without its end */
};

/* Starts the program, in a network namespace if one is named. */
struct peer *peer_start(const char *net_namespace);
/* Tells it to quit and waits for exit status 0, unless it is gone already; frees the struct. */
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
/* Is an answer (or the end of the program) there to be read? Waits at most so long. */
bool peer_can_hear(struct peer *peer, unsigned milliseconds);

/* peer_tell and peer_hear, or peer_hear_error. */
void peer_ask(struct peer *peer, struct peer_answer *answer, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void peer_ask_error(struct peer *peer, struct peer_answer *answer, const char *word,
                    const char *format, ...) __attribute__((format(printf, 4, 5)));
/* peer_ask for the answer's one field of interest. */
uint64_t peer_ask_number(struct peer *peer, const char *field, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Fields of an answer, "name=value"; the test ends if there is none of that name. */
uint64_t peer_number(const struct peer_answer *answer, const char *field);
void peer_string(const struct peer_answer *answer, const char *field, char *value, size_t room);
/* Octets given in hexadecimal; returns their number. */
size_t peer_octets(const struct peer_answer *answer, const char *field, void *octets, size_t room);
/* Octets in the form that commands take; the text needs 2 * length + 2 characters. */
const char *peer_hex(const void *octets, size_t length, char *text);

/* Kills the program by SIGKILL, and returns when it is gone. */
void peer_kill(struct peer *peer);
/* Waits for a program that was told to abort. */
void peer_wait_killed(struct peer *peer);
/* Lets a program go on that was told to pause. */
void peer_continue(struct peer *peer);
/* Resident memory and open descriptors of the program. */
size_t peer_resident_kb(const struct peer *peer);
size_t peer_descriptors(const struct peer *peer);

/* ---- Its memory ----------------------------------------------------------------------------- */

struct peer_mem {
    unsigned id;
    uint64_t address;
    uint32_t rkey;
    size_t size;
};

/* Registered memory of the peer; rights as in the command "mem", NULL for its default. */
struct peer_mem peer_mem_make(struct peer *peer, size_t size, const char *rights);

#endif /* ITAPI_TESTS_INTEROP_PEER_H */
