/* SPDX-License-Identifier: BSD-2-Clause */
#include "machines/machine_page.h"

#include <limits.h>
#include <stdio.h>

void machine_section(const char *title)
{
    printf("\n## %s\n", title);
}

void machine_words(const char *kind, const struct machine_word *words, size_t count)
{
    printf("\n| %s | meaning |\n| --- | --- |\n", kind);
    for (size_t i = 0; i < count; i++) {
        if (words[i].name)
            printf("| %s | %s |\n", words[i].name, words[i].meaning);
    }
}

void machine_table(const char *title, const char *text)
{
    printf("\n### %s\n\n%s\n\n", title, text);
    printf("| state | event | does | next state |\n| --- | --- | --- | --- |\n");
}

static void page_list(unsigned bits, const struct machine_word *words)
{
    const char *between = "";

    for (unsigned i = 0; i < sizeof(bits) * CHAR_BIT; i++) {
        if (bits & 1u << i) {
            printf("%s%s", between, words[i].name);
            between = ", ";
        }
    }
}

void machine_row(const struct machine_row *row, const struct machine_word *states,
                 const struct machine_word *events)
{
    printf("| ");
    page_list(row->states, states);
    printf(" | ");
    page_list(row->events, events);
    printf(" | %s | %s", row->does ? row->does : "", row->next);
    if (row->otherwise)
        printf(", or %s", row->otherwise);
    printf(" |\n");
}
