/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls on an IA, and on handles of any type. Entries of DAT_PROVIDER. */
#ifndef ITAPI_ULP_UDAPL_IA_UDAPL_IA_CALLS_H
#define ITAPI_ULP_UDAPL_IA_UDAPL_IA_CALLS_H

#include <dat2/udat.h>
#include <dat2/dat_registry.h>

DAT_RETURN udapl_ia_open(const DAT_NAME_PTR name, DAT_COUNT qlen, DAT_EVD_HANDLE *async_evd,
                         DAT_IA_HANDLE *ia_handle);
DAT_RETURN udapl_ia_query(DAT_IA_HANDLE ia_handle, DAT_EVD_HANDLE *async_evd,
                          DAT_IA_ATTR_MASK ia_mask, DAT_IA_ATTR *ia_attr,
                          DAT_PROVIDER_ATTR_MASK provider_mask, DAT_PROVIDER_ATTR *provider_attr);
DAT_RETURN udapl_ia_close(DAT_IA_HANDLE ia_handle, DAT_CLOSE_FLAGS flags);
DAT_RETURN udapl_ia_ha_related(DAT_IA_HANDLE ia_handle, const DAT_NAME_PTR name,
                               DAT_BOOLEAN *related);
DAT_RETURN udapl_set_consumer_context(DAT_HANDLE handle, DAT_CONTEXT context);
DAT_RETURN udapl_get_consumer_context(DAT_HANDLE handle, DAT_CONTEXT *context);
DAT_RETURN udapl_get_handle_type(DAT_HANDLE handle, DAT_HANDLE_TYPE *type);

#endif
