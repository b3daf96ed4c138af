/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef ITAPI_ULP_UDAPL_OBJECT_UDAPL_PZ_H
#define ITAPI_ULP_UDAPL_OBJECT_UDAPL_PZ_H

#include "object/udapl_object.h"

/* A Protection Zone, referenced by LMRs, RMRs, EPs and S-RQs. */
struct udapl_pz {
    struct udapl_object object;
    it_pz_handle_t it;
};

#endif
