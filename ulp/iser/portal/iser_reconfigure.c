/* SPDX-License-Identifier: BSD-2-Clause */
/* Who may log in, anew, while the target runs. */
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

/* Copies all that is new, in the order of config. */
static bool copy_all(struct itiser *target, const struct itiser_config *config,
                     struct itiser_target_config *fresh, char *error)
{
    if (config->target_count != target->service.target_count)
        return refuse(error, "targets", "come and go only when the program starts");
    for (size_t i = 0; i < config->target_count; i++) {
        const struct itiser_target_config *one = &config->targets[i];
        const char *complaint = iser_chap_complaint(&one->incoming, &one->outgoing);

        if (!find_target(target, one->name))
            return refuse(error, one->name, "targets come and go only when the program starts");
        if (complaint)
            return refuse(error, one->name, complaint);
        if (!iser_config_copy(&fresh[i], one))
            return refuse(error, one->name, "out of memory");
    }
    return true;
}

bool itiser_reconfigure(struct itiser *target, const struct itiser_config *config, char error[256])
{
    struct itiser_target_config *fresh = calloc(config->target_count + 1, sizeof(*fresh));
    bool good =
        fresh ? copy_all(target, config, fresh, error) : refuse(error, "targets", "out of memory");

    for (size_t i = 0; good && i < config->target_count; i++)
        iser_config_swap_access(&find_target(target, config->targets[i].name)->config, &fresh[i]);
    for (size_t i = 0; fresh && i < config->target_count; i++)
        iser_config_free(&fresh[i]);
    free(fresh);
    return good;
}
