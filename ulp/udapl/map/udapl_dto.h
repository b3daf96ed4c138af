/* SPDX-License-Identifier: BSD-2-Clause */
/* Data transfer: statuses, operations, rights. */
#ifndef ITAPI_ULP_UDAPL_MAP_UDAPL_DTO_H
#define ITAPI_ULP_UDAPL_MAP_UDAPL_DTO_H

#include "it_api.h"

#include <dat2/udat.h>

extern const unsigned char udapl_dto_statuses[IT_DTO_ERR_LOCAL_MM_OPERATION + 1];
extern const unsigned char udapl_dto_operations[IT_LMR_LINK_CMPL_EVENT + 1];

static inline DAT_DTO_COMPLETION_STATUS udapl_dto_status(it_dto_status_t status)
{
    return (unsigned)status < sizeof(udapl_dto_statuses)
               ? (DAT_DTO_COMPLETION_STATUS)udapl_dto_statuses[status]
               : DAT_DTO_ERR_TRANSPORT;
}

static inline DAT_DTOS udapl_dto_operation(it_event_type_t event_number)
{
    return (unsigned)event_number < sizeof(udapl_dto_operations)
               ? (DAT_DTOS)udapl_dto_operations[event_number]
               : DAT_DTO_SEND;
}

/* Converts the rights of an LMR, which always include local read. */
it_mem_priv_t udapl_lmr_privileges(DAT_MEM_PRIV_FLAGS privileges);
/* Converts the rights of a window: only remote ones. */
it_mem_priv_t udapl_rmr_privileges(DAT_MEM_PRIV_FLAGS privileges);

#endif
