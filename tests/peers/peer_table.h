/* SPDX-License-Identifier: BSD-2-Clause */
/* Objects by the numbers with which commands name them: the lowest free one, from 1. */
#ifndef PEERS_TABLE_H
#define PEERS_TABLE_H

struct peer_table {
    void **object;
    unsigned room;
};

unsigned peer_table_add(struct peer_table *table, void *object);
void *peer_table_find(const struct peer_table *table, unsigned long long number);
void peer_table_remove(struct peer_table *table, unsigned number);

/* Frees the table, but not the objects. */
void peer_table_free(struct peer_table *table);

#endif
