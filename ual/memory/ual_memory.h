/* SPDX-License-Identifier: BSD-2-Clause */
/* PZs, LMRs and RMRs, between the calls on them. */
#ifndef ITAPI_UAL_MEMORY_UAL_MEMORY_H
#define ITAPI_UAL_MEMORY_UAL_MEMORY_H

#include "ual/object/ual_object.h"
#include "ual/object/ual_provider.h"

#include "it_api.h"

#include <stdbool.h>
#include <stdint.h>

/* Each is claimed (base_object_claim_free) before. In any state; nothing is reported. */
void ual_pz_destroy(struct base_object *object);

void ual_lmr_destroy(struct base_object *object);
void ual_rmr_destroy(struct base_object *object);

/* ---- rules that several calls share ---- */

/* Providers that remember the LMR look at it anew. */
void ual_lmr_renew_pass(struct ual_lmr *lmr);

/* For the call of that name. */
it_status_t ual_lmr_check_flags(const char *call, it_lmr_flag_t flags);
it_status_t ual_lmr_check_privs(const char *call, it_mem_priv_t privs,
                                const struct vp_attributes *attributes);
/* IT_ERR_FAULT: not mapped. IT_ERR_ACCESS: the pages do not allow the rights. */
it_status_t ual_lmr_check_memory(const char *call, const void *addr, it_length_t length,
                                 it_mem_priv_t privs);

/* ---------------------------------------------------------------- ual_mem_range.c */

/*
 * IT_ERR_FAULT: some octet of [start, start + length) is not mapped, or the range wraps.
 * IT_ERR_ACCESS: pages do not allow reading (or writing) though it is asked for. Takes time by the
 * number of mappings of the process, not by the length. IT_SUCCESS where the system has no /proc.
 */
it_status_t ual_mem_range_check(uintptr_t start, uint64_t length, bool reads, bool writes);

#endif
