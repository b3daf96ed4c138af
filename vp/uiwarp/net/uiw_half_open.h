/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A table of accepted streams without a complete MPA Request, by age and source address. No stream
 * is refused because it is new: the one that has waited longest makes room. All functions take
 * constant time. They are for the loop's thread only, and know no sockets.
 */
#ifndef ITAPI_VP_UIWARP_NET_UIW_HALF_OPEN_H
#define ITAPI_VP_UIWARP_NET_UIW_HALF_OPEN_H

#include "base/base_list.h"
#include "it_api.h"

#include <stdbool.h>
#include <stdint.h>

/* A source: an IPv4 address, or the /64 of an IPv6 address. */
struct uiw_half_open_source;

/* A member of its stream's struct. Zeroed memory is an entry in no table. */
struct uiw_half_open {
    struct base_link of_all, of_source;
    struct uiw_half_open_source *source; /* NULL: in no table */
};

/* Sorted by age, oldest first. */
struct uiw_half_open_queue {
    struct base_list entries;
    unsigned count;
};

struct uiw_half_open_table {
    struct uiw_half_open_queue all;
    uint64_t secret[5]; /* of the hash, so that peers cannot choose addresses of one bucket */
    struct uiw_half_open_source **buckets;
};

/* Initializes zeroed memory. Returns false if memory or random numbers run out. */
bool uiw_half_open_init(struct uiw_half_open_table *table);
/* Frees a table without entries; also after a failed init. */
void uiw_half_open_fini(struct uiw_half_open_table *table);

/*
 * Returns the stream that must be dropped: the oldest of the source if the source has more than its
 * share, or the oldest of all if there are more than max. NULL: there is room for all.
 */
struct uiw_half_open *uiw_half_open_excess(struct uiw_half_open_table *table,
                                           const it_net_addr_t *source, unsigned share,
                                           unsigned max);

/* Returns the oldest of all; NULL: none. */
struct uiw_half_open *uiw_half_open_oldest(const struct uiw_half_open_table *table);

/* Returns false if memory runs out. */
bool uiw_half_open_add(struct uiw_half_open_table *table, struct uiw_half_open *entry,
                       const it_net_addr_t *source);
/* Ignores an entry that is in no table. */
void uiw_half_open_remove(struct uiw_half_open_table *table, struct uiw_half_open *entry);

#endif
