/* SPDX-License-Identifier: BSD-2-Clause */
/* The configuration: ranges of its values, and copies of those of targets. */
#include "portal/iser_portal.h"

#include "session/iser_network.h"

#include <openssl/crypto.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define CONFIG_NAME_MAX    223u /* RFC 7143 4.2.7.1 */
#define CONFIG_BLOCK_LEAST 512u
#define CONFIG_BLOCK_MOST  65536u
#define CONFIG_BURST_LEAST 512u
#define CONFIG_BURST_MOST  65536u

/* ---- Ranges ---------------------------------------------------------------------- */

bool iser_config_read(struct itiser_config *to, const struct itiser_config *from)
{
    size_t first = offsetof(struct itiser_config, buffers) + sizeof(from->buffers);

    if (from->size < first)
        return false;
    memset(to, 0, sizeof(*to));
    memcpy(to, from, from->size < sizeof(*to) ? from->size : sizeof(*to));
    return true;
}

/* A name of iSCSI: no blanks, control characters and commas (RFC 7143 4.2.7). */
static bool is_name(const char *name)
{
    static const char *const types[] = {"iqn.", "eui.", "naa."};
    size_t length = strlen(name);
    unsigned i = 0;

    while (i < 3 && strncasecmp(name, types[i], 4) != 0)
        i++;
    if (i == 3 || length > CONFIG_NAME_MAX)
        return false;
    for (size_t k = 0; k < length; k++)
        if ((uint8_t)name[k] <= ' ' || name[k] == 0x7f || name[k] == ',')
            return false;
    return true;
}

static bool is_power(uint32_t number)
{
    return number != 0 && (number & (number - 1)) == 0;
}

static const char *complain_of_unit(const struct itiser_unit *unit)
{
    const struct itiser_unit_ops *ops = unit->ops;

    if (!ops || !ops->read || !ops->write || !ops->flush)
        return "a unit has to read, write and flush";
    if (!is_power(unit->block_size) || unit->block_size < CONFIG_BLOCK_LEAST ||
        unit->block_size > CONFIG_BLOCK_MOST ||
        (unit->physical_size && !is_power(unit->physical_size)))
        return "the sizes of a unit's blocks are powers of two, from 512 to 65536";
    if (unit->blocks == 0 || unit->blocks > UINT64_MAX / unit->block_size)
        return "a unit has a block at least, and fewer than 2^64 octets";
    if (unit->serial[0] == '\0' || !memchr(unit->serial, '\0', sizeof(unit->serial)))
        return "a unit has a serial number of 1 to 31 octets";
    return NULL;
}

static const char *complain_of_target(const struct itiser_target_config *target)
{
    const char *complaint = NULL;

    if (!target->name || !is_name(target->name))
        return "the name of a target begins with iqn., eui. or naa., and has 223 octets at most, "
               "without blanks and commas";
    for (size_t i = 0; i < ITISER_LUNS_MAX && !complaint; i++)
        if (target->units[i])
            complaint = complain_of_unit(target->units[i]);
    return complaint;
}

/* Each target writes all of its file, so that another's reservations would be lost. */
static bool shares_state(const struct itiser_config *config, size_t target)
{
    const char *path = config->targets[target].state_file;
    size_t i = 0;

    while (path && i < target &&
           !(config->targets[i].state_file && strcmp(config->targets[i].state_file, path) == 0))
        i++;
    return path && i < target;
}

static const char *complain_of_portal(const struct itiser_portal_config *portal)
{
    if (portal->address.ss_family != AF_INET && portal->address.ss_family != AF_INET6)
        return "the address of a portal is IPv4 or IPv6";
    if (portal->kinds == 0 ||
        portal->kinds & ~(unsigned)(ITISER_PLAIN | ITISER_RDMA | ITISER_CONVERT))
        return "the kinds of a portal are plain, rdma, convert";
    return portal->tag == 0 ? "the tag of a portal is not 0" : NULL;
}

bool iser_config_is_usable(const struct itiser_config *config, const char **what,
                           const char **which)
{
    *what = NULL;
    *which = "";
    if (config->first_burst > 0 &&
        (config->first_burst < CONFIG_BURST_LEAST || config->first_burst > CONFIG_BURST_MOST))
        *what = "FirstBurstLength is 512 to 65536";
    for (size_t i = 0; i < config->portal_count && !*what; i++)
        *what = complain_of_portal(&config->portals[i]);
    for (size_t i = 0; i < config->target_count && !*what; i++) {
        *what = complain_of_target(&config->targets[i]);
        *which = *what && config->targets[i].name ? config->targets[i].name : "";
        if (*what || !shares_state(config, i))
            continue;
        *what = "two targets have this state file";
        *which = config->targets[i].state_file;
    }
    return !*what;
}

/* ---- Copies ---------------------------------------------------------------------- */

/* Copies NULL as NULL. Returns false without memory. */
static bool copy_string(const char **to, const char *from)
{
    *to = from ? strdup(from) : NULL;
    return *to || !from;
}

static bool copy_secret(struct itiser_secret *to, const struct itiser_secret *from)
{
    uint8_t *secret;

    to->secret = NULL;
    to->length = 0;
    if (!copy_string(&to->name, from->name))
        return false;
    if (from->length == 0)
        return true;
    secret = malloc(from->length);
    if (!secret)
        return false;
    memcpy(secret, from->secret, from->length);
    to->secret = secret;
    to->length = from->length;
    return true;
}

static bool copy_list(const char *const **to, const char *const *from)
{
    size_t count = 0;
    const char **list;

    *to = NULL;
    if (!from)
        return true;
    while (from[count])
        count++;
    list = calloc(count + 1, sizeof(*list));
    *to = list;
    if (!list)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!copy_string(&list[i], from[i]))
            return false;
    return true;
}

static void free_string(const char *string)
{
    free((void *)(uintptr_t)string);
}

static void free_secret(struct itiser_secret *secret)
{
    free_string(secret->name);
    if (secret->secret)
        OPENSSL_cleanse((void *)(uintptr_t)secret->secret, secret->length);
    free((void *)(uintptr_t)secret->secret);
}

static void free_list(const char *const *list)
{
    for (size_t i = 0; list && list[i]; i++)
        free_string(list[i]);
    free((void *)(uintptr_t)list);
}

void iser_config_free(struct itiser_target_config *config)
{
    free_string(config->name);
    free_string(config->alias);
    free_string(config->state_file);
    free_secret(&config->incoming);
    free_secret(&config->outgoing);
    free_list(config->initiators);
    free_list(config->networks);
    memset(config, 0, sizeof(*config));
}

bool iser_config_copy(struct itiser_target_config *to, const struct itiser_target_config *from)
{
    memset(to, 0, sizeof(*to));
    memcpy(to->units, from->units, sizeof(to->units));
    if (copy_string(&to->name, from->name) && copy_string(&to->alias, from->alias) &&
        copy_string(&to->state_file, from->state_file) &&
        copy_secret(&to->incoming, &from->incoming) &&
        copy_secret(&to->outgoing, &from->outgoing) &&
        copy_list(&to->initiators, from->initiators) && copy_list(&to->networks, from->networks))
        return true;
    iser_config_free(to);
    return false;
}

const char *iser_config_wrong_network(const struct itiser_target_config *config)
{
    const char *const *network = config->networks;

    while (network && *network && iser_network_is_legal(*network))
        network++;
    return network ? *network : NULL;
}

bool iser_config_is_repeated(const struct itiser_config *config, size_t target)
{
    for (size_t i = 0; i < target; i++)
        if (strcasecmp(config->targets[i].name, config->targets[target].name) == 0)
            return true;
    return false;
}

struct itiser_target_config iser_config_discovery(const struct itiser_config *config)
{
    return (struct itiser_target_config){.name = "discovery",
                                         .incoming = config->discovery_incoming,
                                         .outgoing = config->discovery_outgoing};
}

static void swap(void *a, void *b, size_t size)
{
    uint8_t kept[sizeof(struct itiser_secret)];

    memcpy(kept, a, size);
    memcpy(a, b, size);
    memcpy(b, kept, size);
}

void iser_config_swap_access(struct itiser_target_config *a, struct itiser_target_config *b)
{
    swap(&a->incoming, &b->incoming, sizeof(a->incoming));
    swap(&a->outgoing, &b->outgoing, sizeof(a->outgoing));
    swap(&a->initiators, &b->initiators, sizeof(a->initiators));
    swap(&a->networks, &b->networks, sizeof(a->networks));
}
