/* SPDX-License-Identifier: BSD-2-Clause */
/* What the examples of manual pages in this folder share. */
#ifndef ITAPI_SAMPLES_CALLS_H
#define ITAPI_SAMPLES_CALLS_H

#include <itx_api.h>

/* Ends the program unless the call has succeeded. */
void check(it_status_t status, const char *call);

#endif
