/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines for the dat.conf of uDAPL programs. */
#ifndef ITAPI_TOOLS_IT_INFO_DAT_CONF_H
#define ITAPI_TOOLS_IT_INFO_DAT_CONF_H

#include <stdbool.h>

#define DAT_CONF_LIBRARY "libdaplitapi.so.1" /* the loader searches for it */

/*
 * Prints the line of the Interface; library is a name for the loader, or an absolute path. On siw,
 * programs ignore SIGPIPE; otherwise each post would need system calls to guard against it.
 */
void dat_conf_line(const char *interface, const char *library, bool siw);

/* Prints an obstacle of a provider as a comment. */
void dat_conf_obstacle(const char *provider, const char *detail);

#endif
