/* SPDX-License-Identifier: BSD-2-Clause */
#include "ual/providers/ual_providers.h"

#include "base/base_list.h"

#include "it_api.h"

#include <stdlib.h>
#include <string.h>

struct alias {
    struct base_link link;
    char name[IT_INTERFACE_NAME_SIZE];
    char interface_name[IT_INTERFACE_NAME_SIZE];
};

static struct base_list aliases; /* written before the first reader; never freed */

const char *ual_alias_add(const char *name, const char *interface_name)
{
    struct alias *alias;

    if (!*name || !*interface_name)
        return "an alias needs a name and an Interface";
    if (strlen(name) >= IT_INTERFACE_NAME_SIZE || strlen(interface_name) >= IT_INTERFACE_NAME_SIZE)
        return "longer than the name of an Interface can be";
    if (strcmp(name, interface_name) == 0)
        return "an alias of itself";
    if (ual_alias_of(name))
        return "an alias already";
    alias = calloc(1, sizeof(*alias));
    if (!alias)
        return "out of memory";
    memcpy(alias->name, name, strlen(name)); /* the rest is zero */
    memcpy(alias->interface_name, interface_name, strlen(interface_name));
    base_list_append(&aliases, &alias->link);
    return NULL;
}

const char *ual_alias_of(const char *name)
{
    BASE_LIST_EACH(const struct alias, alias, &aliases, link) {
        if (strcmp(alias->name, name) == 0)
            return alias->interface_name;
    }
    return NULL;
}
