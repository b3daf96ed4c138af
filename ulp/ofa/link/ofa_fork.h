/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes that fork. All adapters are frozen for the moment of it, and objects are there in both
 * processes afterwards. A connection goes on in the one that first uses its queue pair: posts a
 * request, polls or arms one of its CQs in vain. A child that ends or runs another program has not
 * used it, and after a second the parent goes on with what nobody has used: its peers may be
 * waiting for it while it does nothing itself.
 */
#ifndef ITAPI_ULP_OFA_LINK_OFA_FORK_H
#define ITAPI_ULP_OFA_LINK_OFA_FORK_H

#include "object/ofa_object.h"

void ofa_fork_add(struct ofa_context *context);
void ofa_fork_remove(struct ofa_context *context);

#endif /* ITAPI_ULP_OFA_LINK_OFA_FORK_H */
