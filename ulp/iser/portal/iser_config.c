/* SPDX-License-Identifier: BSD-2-Clause */
/* Copies of the configuration of targets. */
#include "portal/iser_portal.h"

#include "session/iser_network.h"

#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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
