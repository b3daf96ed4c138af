/* SPDX-License-Identifier: BSD-2-Clause */
#include "peer_table.h"

#include "peer_answer.h"

#include <stdlib.h>

static void peer_table_grow(struct peer_table *table)
{
    unsigned room = table->room == 0 ? 16 : table->room * 2;
    void **object = realloc(table->object, room * sizeof(*object));

    if (object == NULL)
        peer_die("no memory");
    for (unsigned i = table->room; i < room; i++)
        object[i] = NULL;
    table->object = object;
    table->room = room;
}

unsigned peer_table_add(struct peer_table *table, void *object)
{
    unsigned i = 0;

    while (i < table->room && table->object[i] != NULL)
        i++;
    if (i == table->room)
        peer_table_grow(table);
    table->object[i] = object;
    return i + 1;
}

void *peer_table_find(const struct peer_table *table, unsigned long long number)
{
    return number >= 1 && number <= table->room ? table->object[number - 1] : NULL;
}

void peer_table_remove(struct peer_table *table, unsigned number)
{
    table->object[number - 1] = NULL;
}

void peer_table_free(struct peer_table *table)
{
    free(table->object);
    table->object = NULL;
    table->room = 0;
}
