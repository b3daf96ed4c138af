/* SPDX-License-Identifier: BSD-2-Clause */
/* Rules about the arguments of LMRs that several calls share. */
#ifndef ITAPI_UAL_MEMORY_UAL_LMR_H
#define ITAPI_UAL_MEMORY_UAL_LMR_H

#include "ual/object/ual_provider.h"

/* Providers that remember the LMR look at it anew. */
void ual_lmr_renew_pass(struct ual_lmr *lmr);

/* For the call of that name. */
it_status_t ual_lmr_check_flags(const char *call, it_lmr_flag_t flags);
it_status_t ual_lmr_check_privs(const char *call, it_mem_priv_t privs,
                                const struct vp_attributes *attributes);
/* IT_ERR_FAULT: not mapped. IT_ERR_ACCESS: the pages do not allow the rights. */
it_status_t ual_lmr_check_memory(const char *call, const void *addr, it_length_t length,
                                 it_mem_priv_t privs);

#endif
