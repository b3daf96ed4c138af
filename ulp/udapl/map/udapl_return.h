/* SPDX-License-Identifier: BSD-2-Clause */
/* Return codes of DAT, and converting a status of IT-API to one. */
#ifndef ITAPI_ULP_UDAPL_MAP_UDAPL_RETURN_H
#define ITAPI_ULP_UDAPL_MAP_UDAPL_RETURN_H

#include "it_api.h"

#include <dat2/udat.h>

/*
 * Returns the code of an error: its type, and the wrong argument or object (DAT_RETURN_SUBTYPE).
 */
static inline DAT_RETURN udapl_error(DAT_RETURN_TYPE type, DAT_RETURN_SUBTYPE subtype)
{
    return (DAT_RETURN)DAT_CLASS_ERROR | (DAT_RETURN)type | (DAT_RETURN)subtype;
}

/* Converts any status; if it names an object, the subtype does, too. */
DAT_RETURN udapl_return(it_status_t status);

/* Returns DAT_INVALID_STATE with the state of an EP. */
DAT_RETURN udapl_state_error(DAT_EP_STATE state);

#endif
