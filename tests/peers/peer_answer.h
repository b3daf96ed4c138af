/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The answer to the command that runs: what is written here up to peer_answer_end() is one line of
 * standard output. A command that fails has answered when it returns.
 */
#ifndef PEERS_ANSWER_H
#define PEERS_ANSWER_H

#include <stdbool.h>

/*
 * Before everything else: makes standard output ours alone. A provider's library that prints to it
 * (libsiw tells of asynchronous events so) prints to standard error from then on.
 */
void peer_answer_open(void);

/* Adds to the line. */
__attribute__((format(printf, 1, 2))) void peer_answer(const char *format, ...);

/* "error CALL errno=N" */
void peer_answer_errno(const char *call, int error);

/* Ends the line and sends it. False: nothing was answered, or nobody reads any more. */
bool peer_answer_end(void);

/* For what leaves the program no way to go on: says so on standard error, exit status 2. */
__attribute__((noreturn, format(printf, 1, 2))) void peer_die(const char *format, ...);

#endif
