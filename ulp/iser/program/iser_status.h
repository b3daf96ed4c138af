/* SPDX-License-Identifier: BSD-2-Clause */
/* it_iser_target --status: a Unix socket on which a target that runs says how it is. */
#ifndef ITAPI_ULP_ISER_PROGRAM_ISER_STATUS_H
#define ITAPI_ULP_ISER_PROGRAM_ISER_STATUS_H

#include "itiser.h"

struct iser_status;

/* Answers on the path, in the loop; only the owner gets in. NULL: error has a line for people. */
struct iser_status *iser_status_open(struct event_base *base, const char *path,
                                     const struct itiser *target, char error[256]);
void iser_status_close(struct iser_status *status);

/* Copies what a target says on the path to stdout. The status of the process. */
int iser_status_show(const char *path);

#endif
