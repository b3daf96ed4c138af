/* SPDX-License-Identifier: BSD-2-Clause */
/* Queue pair numbers: 16 bits are a TCP port that the context reserves, 8 bits a place. */
#ifndef ITAPI_ULP_OFA_LINK_OFA_NUMBER_H
#define ITAPI_ULP_OFA_LINK_OFA_NUMBER_H

#include "object/ofa_object.h"

/* Gives a queue pair its number. Returns 0 or errno. */
int ofa_number_add(struct ofa_context *context, struct ofa_qp *qp);

/*
 * While a queue pair is being destroyed, its number finds it no more, but is not given to another
 * one: the destruction may fail.
 */
void ofa_number_hide(struct ofa_qp *qp, bool hide);

void ofa_number_remove(struct ofa_context *context, struct ofa_qp *qp);

/* With ofa_context.lock. Returns the queue pair; NULL: none has the number. */
struct ofa_qp *ofa_number_find_locked(const struct ofa_context *context, uint32_t number);

/* With ofa_context.lock. Calls act for each queue pair with an EP that is not being destroyed. */
void ofa_number_each_locked(struct ofa_context *context,
                            void (*act)(struct ofa_qp *qp, void *argument), void *argument);

/* With ofa_context.lock. Returns the block of a port; NULL: not reserved by the context. */
struct ofa_port_block *ofa_number_block_locked(const struct ofa_context *context, uint32_t port);

/* In the child of a fork: the parent keeps the ports. New queue pairs get numbers of new ones. */
void ofa_number_leave(struct ofa_context *context);

void ofa_number_close(struct ofa_context *context);

#endif /* ITAPI_ULP_OFA_LINK_OFA_NUMBER_H */
