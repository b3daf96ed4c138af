/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints the table of a state machine for docs/connections.md. Each provider has a program here,
 * PROVIDER_machines.c, that reads the tables the library runs on; `page` joins the output.
 */
#ifndef ITAPI_TESTS_MACHINES_MACHINE_PAGE_H
#define ITAPI_TESTS_MACHINES_MACHINE_PAGE_H

#include <stddef.h>

/* A word of the machine, a state or an event, and what it means. */
struct machine_word {
    const char *name;
    const char *meaning;
};

/* A section of the page. */
void machine_section(const char *title);
/* The meaning of the words of the section's machines. */
void machine_words(const char *kind, const struct machine_word *words, size_t count);
/* The rows of this machine follow. */
void machine_table(const char *title, const char *text);
/*
 * In one of these states (bits, the number of the word) on one of these events: what is done, then
 * the next state. does NULL: nothing; otherwise NULL: there is no other outcome.
 */
struct machine_row {
    unsigned states;
    unsigned events;
    const char *does;
    const char *next;
    const char *otherwise;
};

void machine_row(const struct machine_row *row, const struct machine_word *states,
                 const struct machine_word *events);

#endif
