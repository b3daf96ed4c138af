/* SPDX-License-Identifier: BSD-2-Clause */
/* Return codes of DAT, and what a status of IT-API is among them. */
#ifndef ITAPI_ULP_UDAPL_MAP_UDAPL_RETURN_H
#define ITAPI_ULP_UDAPL_MAP_UDAPL_RETURN_H

#include "it_api.h"

#include <dat2/udat.h>

/*
 * The code of an error: its type, and the argument or object that is to blame (DAT_RETURN_SUBTYPE).
 */
static inline DAT_RETURN udapl_error(DAT_RETURN_TYPE type, DAT_RETURN_SUBTYPE subtype)
{
    return (DAT_RETURN)DAT_CLASS_ERROR | (DAT_RETURN)type | (DAT_RETURN)subtype;
}

/* Any status; those that name an object keep it as the subtype. */
DAT_RETURN udapl_return(it_status_t status);

/* DAT_INVALID_STATE, and the state that an EP is in. */
DAT_RETURN udapl_state_error(DAT_EP_STATE state);

#endif
