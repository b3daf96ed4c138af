/* SPDX-License-Identifier: BSD-2-Clause */
/* The Interface Adapter of a context, opened when the first object needs it. */
#ifndef ITAPI_ULP_OFA_MEMORY_OFA_ADAPTER_H
#define ITAPI_ULP_OFA_MEMORY_OFA_ADAPTER_H

#include "object/ofa_object.h"

/* Converts a status of IT-API to an errno. */
int ofa_errno(it_status_t status);

/* Returns 0 or errno. */
int ofa_adapter_open(struct ofa_context *context);

void ofa_adapter_close(struct ofa_context *context);

#endif /* ITAPI_ULP_OFA_MEMORY_OFA_ADAPTER_H */
