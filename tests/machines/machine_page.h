/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints the table of a state machine for docs/connections.md. Each provider has a program
 * PROVIDER_machines.c here, which reads the tables that the library uses. `page` joins the output.
 */
#ifndef ITAPI_TESTS_MACHINES_MACHINE_PAGE_H
#define ITAPI_TESTS_MACHINES_MACHINE_PAGE_H

#include <stddef.h>

/* The name of a machine, a state or an event, and its meaning. */
struct machine_word {
    const char *name;
    const char *meaning;
};

/* Prints the heading of a section. */
void machine_section(const char *title);
/* Prints the meaning of the names in the section's machines. */
void machine_words(const char *kind, const struct machine_word *words, size_t count);
/* Begins the table of a machine. Its rows follow. */
void machine_table(const char *title, const char *text);
/*
 * A row: in one of these states, on one of these events (bits by number of the name), `does` is
 * done, and the next state follows. does NULL: nothing is done. otherwise NULL: there is no other
 * outcome.
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
