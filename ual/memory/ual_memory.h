/* SPDX-License-Identifier: BSD-2-Clause */
/* The ends of PZs, LMRs and RMRs. */
#ifndef ITAPI_UAL_MEMORY_UAL_MEMORY_H
#define ITAPI_UAL_MEMORY_UAL_MEMORY_H

#include "ual/object/ual_object.h"

/* Each is claimed (base_object_claim_free) before. In any state; nothing is reported. */
void ual_pz_destroy(struct base_object *object);

void ual_lmr_destroy(struct base_object *object);
void ual_rmr_destroy(struct base_object *object);

#endif
