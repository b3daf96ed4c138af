/* SPDX-License-Identifier: BSD-2-Clause */
/* Other names for Interfaces, from the configuration file: for programs that have one built in. */
#ifndef ITAPI_UAL_PROVIDERS_UAL_ALIAS_H
#define ITAPI_UAL_PROVIDERS_UAL_ALIAS_H

/*
 * While the configuration file is read, before anybody looks for one. NULL, or why not. Both names
 * are copied.
 */
const char *ual_alias_add(const char *name, const char *interface_name);

/*
 * The Interface that the name stands for; NULL: the name is no alias. Never an alias of an alias.
 */
const char *ual_alias_of(const char *name);

#endif
