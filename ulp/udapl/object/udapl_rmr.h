/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef ITAPI_ULP_UDAPL_OBJECT_UDAPL_RMR_H
#define ITAPI_ULP_UDAPL_OBJECT_UDAPL_RMR_H

#include "object/udapl_lmr.h"

/* A Remote Memory Region: a window. What follows scope is that of the last bind. */
struct udapl_rmr {
    struct udapl_object object;
    it_rmr_handle_t it;
    struct udapl_pz *pz;
    DAT_RMR_SCOPE scope;
    struct udapl_lmr *lmr; /* or NULL */
    DAT_LMR_TRIPLET triplet;
    DAT_MEM_PRIV_FLAGS privileges;
    DAT_VA_TYPE va_type;
    DAT_RMR_CONTEXT rmr_context;
};

#endif
