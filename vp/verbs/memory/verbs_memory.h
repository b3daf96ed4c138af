/* SPDX-License-Identifier: BSD-2-Clause */
/* PZs and LMRs. */
#ifndef ITAPI_VP_VERBS_MEMORY_VERBS_MEMORY_H
#define ITAPI_VP_VERBS_MEMORY_VERBS_MEMORY_H

#include "vp/verbs/device/verbs.h"

#define VERBS_LIMIT_TEXT 64

/* Of a shortage: the limit of locked memory, if there is one, to be put behind the error. */
const char *verbs_limit_text(int error, char text[VERBS_LIMIT_TEXT]);
it_status_t verbs_pz_create(struct ual_pz *ual);
void verbs_pz_destroy(struct ual_pz *ual);
it_status_t verbs_lmr_create(struct ual_lmr *ual);
void verbs_lmr_destroy(struct ual_lmr *ual);
it_status_t verbs_lmr_modify(struct ual_lmr *ual, struct ual_pz *pz, it_mem_priv_t privs);

#endif
