/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes that fork. All adapters are frozen during fork(2), and both processes have all objects
 * afterwards. A connection goes on in the process that first uses its queue pair: that posts a
 * request, or polls or arms one of its CQs and finds it empty. If the child exits or executes
 * another program, or after a second, the parent claims the connections not used yet, since peers
 * may be waiting for it.
 */
#ifndef ITAPI_ULP_OFA_LINK_OFA_FORK_H
#define ITAPI_ULP_OFA_LINK_OFA_FORK_H

#include "object/ofa_object.h"

void ofa_fork_add(struct ofa_context *context);
void ofa_fork_remove(struct ofa_context *context);

#endif /* ITAPI_ULP_OFA_LINK_OFA_FORK_H */
