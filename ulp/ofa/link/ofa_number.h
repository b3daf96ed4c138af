/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers of queue pairs: 16 bits of a TCP port that belongs to the context, 8 bits of place. */
#ifndef ITAPI_ULP_OFA_LINK_OFA_NUMBER_H
#define ITAPI_ULP_OFA_LINK_OFA_NUMBER_H

#include "object/ofa_object.h"

/* Gives a queue pair its number. 0 or errno. */
int ofa_number_add(struct ofa_context *context, struct ofa_qp *qp);

void ofa_number_remove(struct ofa_context *context, struct ofa_qp *qp);

/* With ofa_context.lock. NULL: no queue pair has it. */
struct ofa_qp *ofa_number_find_locked(const struct ofa_context *context, uint32_t number);

/* With ofa_context.lock. NULL: a port of another process. */
struct ofa_port_block *ofa_number_block_locked(const struct ofa_context *context, uint32_t port);

void ofa_number_close(struct ofa_context *context);

#endif /* ITAPI_ULP_OFA_LINK_OFA_NUMBER_H */
