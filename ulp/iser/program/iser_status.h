/* SPDX-License-Identifier: BSD-2-Clause */
/* it_iser_target --status: a Unix socket on which a running target reports its status. */
#ifndef ITAPI_ULP_ISER_PROGRAM_ISER_STATUS_H
#define ITAPI_ULP_ISER_PROGRAM_ISER_STATUS_H

#include "itiser.h"

struct iser_status;

/*
 * Serves the path in the loop; only its owner may connect. Returns NULL with a line of text in
 * error.
 */
struct iser_status *iser_status_open(struct event_base *base, const char *path,
                                     const struct itiser *target, char error[256]);
void iser_status_close(struct iser_status *status);

/* Copies the status of the target at the path to stdout. Returns the exit status. */
int iser_status_show(const char *path);

#endif
