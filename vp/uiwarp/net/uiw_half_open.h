/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Accepted streams whose MPA Request is not complete yet, by age and by the address they come from.
 * No stream is refused for being new: the one that has waited longest makes room. A call takes
 * the same short time however many there are. Loop thread only; knows no socket.
 */
#ifndef ITAPI_VP_UIWARP_NET_UIW_HALF_OPEN_H
#define ITAPI_VP_UIWARP_NET_UIW_HALF_OPEN_H

#include "base/base_list.h"
#include "it_api.h"

#include <stdbool.h>
#include <stdint.h>

/* The addresses that count as one: an IPv4 address, the /64 of an IPv6 address. */
struct uiw_half_open_source;

/* Part of the memory of its stream. Zeroed: in no table. */
struct uiw_half_open {
    struct base_link of_all, of_source;
    struct uiw_half_open_source *source; /* NULL: in no table */
};

/* The oldest first. */
struct uiw_half_open_queue {
    struct base_list entries;
    unsigned count;
};

struct uiw_half_open_table {
    struct uiw_half_open_queue all;
    uint64_t secret[5]; /* of the hash: peers cannot choose addresses of one bucket */
    struct uiw_half_open_source **buckets;
};

/* Of zeroed memory. False without memory or random numbers. */
bool uiw_half_open_init(struct uiw_half_open_table *table);
/* All entries are removed; also after an init that failed. */
void uiw_half_open_fini(struct uiw_half_open_table *table);

/*
 * The stream that has to go: the oldest of the source if the source has more than its share, or the
 * oldest of all if there are more than max. NULL: there is room for all.
 */
struct uiw_half_open *uiw_half_open_excess(struct uiw_half_open_table *table,
                                           const it_net_addr_t *source, unsigned share,
                                           unsigned max);

/* The oldest of all; NULL: there is none. */
struct uiw_half_open *uiw_half_open_oldest(const struct uiw_half_open_table *table);

/* False without memory. */
bool uiw_half_open_add(struct uiw_half_open_table *table, struct uiw_half_open *entry,
                       const it_net_addr_t *source);
/* Of one that is in no table: nothing happens. */
void uiw_half_open_remove(struct uiw_half_open_table *table, struct uiw_half_open *entry);

#endif
