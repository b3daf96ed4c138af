/* SPDX-License-Identifier: BSD-2-Clause */
/* What the calls on PZs, LMRs and RMRs share. */
#ifndef ITAPI_UAL_MEMORY_UAL_MEMORY_H
#define ITAPI_UAL_MEMORY_UAL_MEMORY_H

#include "ual/object/ual_object.h"
#include "ual/object/ual_provider.h"

#include "it_api.h"

#include <stdbool.h>
#include <stdint.h>

/* The caller has claimed the object (base_object_claim_free). Any state; reports nothing. */
void ual_pz_destroy(struct base_object *object);

void ual_lmr_destroy(struct base_object *object);
void ual_rmr_destroy(struct base_object *object);

/* ---- rules that several calls share ---- */

/* Makes providers that cache the LMR read it again. */
void ual_lmr_renew_pass(struct ual_lmr *lmr);

/* call: the name of the API call, for the log. */
it_status_t ual_lmr_check_flags(const char *call, it_lmr_flag_t flags);
it_status_t ual_lmr_check_privs(const char *call, it_mem_priv_t privs,
                                const struct vp_attributes *attributes);
/* IT_ERR_FAULT: the memory is not mapped. IT_ERR_ACCESS: the pages do not allow the rights. */
it_status_t ual_lmr_check_memory(const char *call, const void *addr, it_length_t length,
                                 it_mem_priv_t privs);

/* ---------------------------------------------------------------- ual_mem_range.c */

/*
 * IT_ERR_FAULT: some octet of [start, start + length) is not mapped, or the range wraps.
 * IT_ERR_ACCESS: some pages do not allow the reading (or writing) that is asked for. Takes time in
 * proportion to the number of mappings of the process, not to the length. Returns IT_SUCCESS where
 * the system has no /proc.
 */
it_status_t ual_mem_range_check(uintptr_t start, uint64_t length, bool reads, bool writes);

#endif
