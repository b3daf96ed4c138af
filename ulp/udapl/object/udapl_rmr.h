/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef ITAPI_ULP_UDAPL_OBJECT_UDAPL_RMR_H
#define ITAPI_ULP_UDAPL_OBJECT_UDAPL_RMR_H

#include "object/udapl_lmr.h"

/* A Remote Memory Region: a window. Members after .scope are of the last bind. */
struct udapl_rmr {
    struct udapl_object object;
    it_rmr_handle_t it;
    struct udapl_pz *pz;
    DAT_RMR_SCOPE scope;
    DAT_LMR_TRIPLET triplet;
    DAT_MEM_PRIV_FLAGS privileges;
    DAT_VA_TYPE va_type;
    DAT_RMR_CONTEXT rmr_context;
};

/* Called after a bind, so that the window can be found by its key. */
void udapl_rmr_remember(struct udapl_rmr *rmr);

/*
 * Returns the window of a key, or NULL. Recently bound windows are found at once; a window
 * displaced by one with a similar key is searched for.
 */
struct udapl_rmr *udapl_rmr_of_key(struct udapl_ia *ia, DAT_RMR_CONTEXT key);

#endif
