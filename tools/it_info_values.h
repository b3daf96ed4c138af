/* SPDX-License-Identifier: BSD-2-Clause */
/* The properties of an Interface, in order and with names, for any form of output. */
#ifndef ITAPI_TOOLS_IT_INFO_VALUES_H
#define ITAPI_TOOLS_IT_INFO_VALUES_H

#include <it_api.h>
#include <itx_api.h>

#include <stdbool.h>
#include <stdint.h>

enum {
    EXIT_FINE = 0,
    EXIT_FAILED = 1, /* an Interface could not be opened or queried */
    EXIT_USAGE = 2,
    EXIT_UNKNOWN = 3 /* no Interface of that name */
};

/* The functions of a form. Groups, and lists of groups, are nested. */
struct info_form {
    void (*group)(const char *name); /* name NULL: the next group of a list */
    void (*group_end)(void);
    void (*list)(const char *name);
    void (*list_end)(void);
    void (*text)(const char *name, const char *value); /* name NULL: in a list */
    void (*number)(const char *name, uint64_t value);
    void (*truth)(const char *name, bool value);
};

/* info_as_line prints only the addresses. */
extern const struct info_form info_as_text, info_as_json, info_as_line;

const char *info_transport(it_transport_type_t type);
const char *info_obstacle(itx_obstacle_t obstacle);
void info_values(const struct info_form *form, const it_ia_info_t *info,
                 const struct itx_features *features);

#endif
