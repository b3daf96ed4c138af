/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The message for a program that asks for an Interface that no provider has: the names that exist,
 * and which of them the program may mean.
 */
#include "base/base_log.h"
#include "ual/object/ual_object.h"
#include "ual/providers/ual_providers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNKNOWN_TEXT 256 /* of all names together */

/* Returns the edit distance of two names of at most IT_INTERFACE_NAME_SIZE - 1 letters each. */
static size_t unknown_distance(const char *a, const char *b)
{
    size_t length = strlen(b);
    size_t row[IT_INTERFACE_NAME_SIZE]; /* from the letters of a so far to each prefix of b */

    for (size_t j = 0; j <= length; j++)
        row[j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        size_t diagonal = row[0];

        row[0] = i;
        for (size_t j = 1; j <= length; j++) {
            size_t best = diagonal + (a[i - 1] != b[j - 1]);

            diagonal = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[length];
}

struct unknown {
    const char *name;
    char text[UNKNOWN_TEXT]; /* the names that exist */
    size_t used;
    char nearest[IT_INTERFACE_NAME_SIZE]; /* "": no name is near */
    size_t distance;
};

static void unknown_see(struct unknown *unknown, const char *name)
{
    size_t distance = unknown_distance(unknown->name, name);
    int length = snprintf(unknown->text + unknown->used, sizeof(unknown->text) - unknown->used,
                          "%s%s", unknown->used ? ", " : "", name);

    if (length > 0 && (size_t)length < sizeof(unknown->text) - unknown->used)
        unknown->used += (size_t)length;
    else
        memcpy(unknown->text + sizeof(unknown->text) - 4, "...", 4); /* more than fit */
    if (distance < unknown->distance) {
        unknown->distance = distance;
        (void)snprintf(unknown->nearest, sizeof(unknown->nearest), "%s", name);
    }
}

static void unknown_see_all(struct unknown *unknown)
{
    size_t count = 0;
    it_interface_t *list;

    it_interface_list(NULL, NULL, &count);
    list = calloc(count ? count : 1, sizeof(*list));
    if (!list)
        return;
    it_interface_list(list, &count, NULL);
    for (size_t i = 0; i < count; i++)
        unknown_see(unknown, list[i].name);
    free(list);
}

/* Gets the known reason why Interfaces are missing. */
static void unknown_obstacle(struct itx_provider_info *info)
{
    const struct vp_provider *provider = NULL;

    while ((provider = ual_provider_next(provider)) != NULL && info->obstacle == ITX_OBSTACLE_NONE)
        if (VP_PROVIDER_HAS(provider, obstacle))
            provider->obstacle(info);
    if (info->obstacle == ITX_OBSTACLE_NONE)
        *info = *ual_registry_module();
}

it_status_t ual_provider_refuse(const char *call, const char *name, const char *interface_name)
{
    struct unknown unknown = {.name = interface_name, .distance = 1 + strlen(interface_name) / 3};
    struct itx_provider_info info = {.size = sizeof(info)};
    bool alias;

    base_log_setup();
    if (atomic_load_explicit(&base_log_level, memory_order_relaxed) < BASE_LOG_ERROR)
        return IT_ERR_INVALID_NAME;
    unknown_see_all(&unknown);
    unknown_obstacle(&info);
    alias = name != interface_name;
    base_log(BASE_LOG_ERROR, "no Interface %s%s%s%s%s%s%s%s%s; there are %s", interface_name,
             alias ? ", for which " : "", alias ? name : "", alias ? " stands" : "",
             info.detail[0] ? ": " : "", info.detail, unknown.nearest[0] ? "; did you mean " : "",
             unknown.nearest, unknown.nearest[0] ? "?" : "", unknown.used ? unknown.text : "none");
    return base_refuse(IT_ERR_INVALID_NAME, call, "name %s", name);
}
