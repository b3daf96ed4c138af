/* SPDX-License-Identifier: BSD-2-Clause */
/* The ia_params of a line of dat.conf: the name of an Interface, then key=value pairs. */
#ifndef ITAPI_ULP_UDAPL_TABLE_UDAPL_PARAMS_H
#define ITAPI_ULP_UDAPL_TABLE_UDAPL_PARAMS_H

#include "object/udapl_provider.h"

/* Sets interface, extension and ignores_sigpipe. False with *problem: the line is wrong. */
bool udapl_params_read(const char *ia_params, struct udapl_provider *provider,
                       const char **problem);

#endif
