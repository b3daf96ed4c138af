/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The answer to the running command: all text up to peer_answer_end() becomes one line of standard
 * output. When a command that fails returns, it has answered.
 */
#ifndef PEERS_ANSWER_H
#define PEERS_ANSWER_H

#include <stdbool.h>

/*
 * Called before everything else. Reserves standard output for the answers: a provider's library
 * that prints to it (libsiw prints asynchronous events) then prints to standard error.
 */
void peer_answer_open(void);

/* Appends text to the line. */
__attribute__((format(printf, 1, 2))) void peer_answer(const char *format, ...);

/* Answers "error CALL errno=N". */
void peer_answer_errno(const char *call, int error);

/* Ends the line and sends it. Returns false if there was no answer, or nobody reads any more. */
bool peer_answer_end(void);

/* Ends the program after a fatal error: prints it to standard error and exits with status 2. */
__attribute__((noreturn, format(printf, 1, 2))) void peer_die(const char *format, ...);

#endif
