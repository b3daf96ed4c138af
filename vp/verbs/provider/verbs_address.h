/* SPDX-License-Identifier: BSD-2-Clause */
/* Destinations of datagrams. */
#ifndef ITAPI_VP_VERBS_PROVIDER_VERBS_ADDRESS_H
#define ITAPI_VP_VERBS_PROVIDER_VERBS_ADDRESS_H

#include "vp/verbs/memory/verbs_memory.h"

it_status_t verbs_address_create(struct ual_address *ual, const it_path_t *path,
                                 it_ah_flags_t flags);
it_status_t verbs_address_modify(struct ual_address *ual, const it_path_t *path);
void verbs_address_destroy(struct ual_address *ual);

#endif
