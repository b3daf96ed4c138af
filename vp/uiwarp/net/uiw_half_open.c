/* SPDX-License-Identifier: BSD-2-Clause */
#include "vp/uiwarp/net/uiw_half_open.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define HALF_OPEN_WORDS  4u               /* of a source's address */
#define HALF_OPEN_PREFIX sizeof(uint64_t) /* octets of an IPv6 address that identify the source */
#define HALF_OPEN_BITS   10u              /* of a bucket's number */

struct uiw_half_open_source {
    struct uiw_half_open_source *next; /* in the bucket */
    struct in6_addr name;
    struct uiw_half_open_queue queue; /* empty only while the first entry is added */
};

/* ---------------------------------------------------------------- queues */

static void queue_add(struct uiw_half_open_queue *queue, struct base_link *link)
{
    base_list_append(&queue->entries, link);
    queue->count++;
}

static void queue_remove(struct uiw_half_open_queue *queue, struct base_link *link)
{
    base_list_remove(&queue->entries, link);
    queue->count--;
}

/* ---------------------------------------------------------------- sources */

/*
 * Returns the name of a source: an IPv4-mapped address, the /64 of an IPv6 address, or a whole
 * link-local address, since all addresses of a link share the first half.
 */
static struct in6_addr source_name(const it_net_addr_t *address)
{
    struct in6_addr name = IN6ADDR_ANY_INIT;

    if (address->addr_type == IT_IPV4) {
        name.s6_addr[10] = 0xff;
        name.s6_addr[11] = 0xff;
        memcpy(&name.s6_addr[12], &address->addr.ipv4, sizeof(address->addr.ipv4));
    } else if (IN6_IS_ADDR_LINKLOCAL(&address->addr.ipv6)) {
        name = address->addr.ipv6;
    } else {
        memcpy(&name, &address->addr.ipv6, HALF_OPEN_PREFIX);
    }
    return name;
}

/* Hashes by multiply and shift. With secret factors, two sources collide only by chance. */
static struct uiw_half_open_source **source_bucket(struct uiw_half_open_table *table,
                                                   const struct in6_addr *name)
{
    uint64_t sum = table->secret[HALF_OPEN_WORDS];
    uint32_t words[HALF_OPEN_WORDS];

    memcpy(words, name, sizeof(words));
    for (unsigned i = 0; i < HALF_OPEN_WORDS; i++)
        sum += table->secret[i] * words[i];
    return &table->buckets[sum >> (64u - HALF_OPEN_BITS)];
}

/* Returns the link that points to the source, or the last link, which is NULL. */
static struct uiw_half_open_source **source_find(struct uiw_half_open_table *table,
                                                 const struct in6_addr *name)
{
    struct uiw_half_open_source **link = source_bucket(table, name);

    while (*link && memcmp(&(*link)->name, name, sizeof(*name)) != 0)
        link = &(*link)->next;
    return link;
}

static struct uiw_half_open_source *source_get(struct uiw_half_open_table *table,
                                               const struct in6_addr *name)
{
    struct uiw_half_open_source **link = source_find(table, name);

    if (!*link) {
        *link = calloc(1, sizeof(**link));
        if (*link)
            (*link)->name = *name;
    }
    return *link;
}

/* ---------------------------------------------------------------- the table */

bool uiw_half_open_init(struct uiw_half_open_table *table)
{
    table->buckets = calloc((size_t)1 << HALF_OPEN_BITS, sizeof(struct uiw_half_open_source *));
    return table->buckets &&
           getrandom(table->secret, sizeof(table->secret), 0) == (ssize_t)sizeof(table->secret);
}

void uiw_half_open_fini(struct uiw_half_open_table *table)
{
    free(table->buckets);
}

struct uiw_half_open *uiw_half_open_excess(struct uiw_half_open_table *table,
                                           const it_net_addr_t *source, unsigned share,
                                           unsigned max)
{
    struct in6_addr name = source_name(source);
    const struct uiw_half_open_source *own = *source_find(table, &name);

    if (own && own->queue.count > share)
        return BASE_LIST_FIRST(&own->queue.entries, struct uiw_half_open, of_source);
    return table->all.count > max ? uiw_half_open_oldest(table) : NULL;
}

struct uiw_half_open *uiw_half_open_oldest(const struct uiw_half_open_table *table)
{
    return BASE_LIST_FIRST(&table->all.entries, struct uiw_half_open, of_all);
}

bool uiw_half_open_add(struct uiw_half_open_table *table, struct uiw_half_open *entry,
                       const it_net_addr_t *source)
{
    struct in6_addr name = source_name(source);

    entry->source = source_get(table, &name);
    if (!entry->source)
        return false;
    queue_add(&table->all, &entry->of_all);
    queue_add(&entry->source->queue, &entry->of_source);
    return true;
}

void uiw_half_open_remove(struct uiw_half_open_table *table, struct uiw_half_open *entry)
{
    struct uiw_half_open_source *source = entry->source;

    if (!source)
        return;
    entry->source = NULL;
    queue_remove(&table->all, &entry->of_all);
    queue_remove(&source->queue, &entry->of_source);
    if (source->queue.count == 0) {
        *source_find(table, &source->name) = source->next;
        free(source);
    }
}
