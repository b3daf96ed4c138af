/* SPDX-License-Identifier: BSD-2-Clause */
/* Replaces the access rules while the target runs. */
#include "portal/iser_portal.h"

#include "auth/iser_chap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool refuse(char *error, const char *name, const char *why)
{
    if (error)
        (void)snprintf(error, 256, "%.150s: %s", name, why);
    return false;
}

static struct iser_target *find_target(struct itiser *target, const char *name)
{
    for (size_t i = 0; i < target->service.target_count; i++)
        if (strcmp(target->service.targets[i].config.name, name) == 0)
            return &target->service.targets[i];
    return NULL;
}

static bool copy_one(struct itiser_target_config *to, const struct itiser_target_config *from,
                     char *error)
{
    const char *complaint = iser_chap_complaint(&from->incoming, &from->outgoing);
    const char *network = iser_config_wrong_network(from);

    if (complaint)
        return refuse(error, from->name, complaint);
    if (network)
        return refuse(error, network, "not ADDRESS/BITS");
    return iser_config_copy(to, from) || refuse(error, from->name, "out of memory");
}

/* Copies the new rules in the order of config; those of discovery come last. */
static bool copy_all(struct itiser *target, const struct itiser_config *config,
                     struct itiser_target_config *fresh, char *error)
{
    struct itiser_target_config discovery = iser_config_discovery(config);

    if (config->target_count != target->service.target_count)
        return refuse(error, "targets", "can be added or removed only by a restart");
    for (size_t i = 0; i < config->target_count; i++) {
        const struct itiser_target_config *one = &config->targets[i];

        if (!find_target(target, one->name))
            return refuse(error, one->name, "targets can be added or removed only by a restart");
        if (iser_config_is_repeated(config, i))
            return refuse(error, one->name, "two targets have this name");
        if (!copy_one(&fresh[i], one, error))
            return false;
    }
    return copy_one(&fresh[config->target_count], &discovery, error);
}

static bool reconfigure(struct itiser *target, const struct itiser_config *config, char *error)
{
    struct itiser_target_config *fresh = calloc(config->target_count + 1, sizeof(*fresh));
    bool good =
        fresh ? copy_all(target, config, fresh, error) : refuse(error, "targets", "out of memory");

    for (size_t i = 0; good && i < config->target_count; i++)
        iser_config_swap_access(&find_target(target, config->targets[i].name)->config, &fresh[i]);
    if (good)
        iser_config_swap_access(&target->service.discovery, &fresh[config->target_count]);
    if (good)
        iser_arrivals_begin_anew(target);
    for (size_t i = 0; fresh && i <= config->target_count; i++)
        iser_config_free(&fresh[i]);
    free(fresh);
    return good;
}

bool itiser_reconfigure(struct itiser *target, const struct itiser_config *config, char error[256])
{
    struct itiser_config known;

    if (!iser_config_read(&known, config))
        return refuse(error, "size", "the size of the configuration is not set");
    return reconfigure(target, &known, error);
}
