/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef ITAPI_ULP_UDAPL_TABLE_UDAPL_TABLE_H
#define ITAPI_ULP_UDAPL_TABLE_UDAPL_TABLE_H

#include <dat2/udat.h>
#include <dat2/dat_registry.h>

/* The table of DAT's calls. Each name of dat.conf has a copy with its device_name. */
extern const DAT_PROVIDER udapl_table;

#endif
