/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls on service points and connection requests; connecting calls. Entries of DAT_PROVIDER.
 */
#ifndef ITAPI_ULP_UDAPL_CONNECT_UDAPL_CONNECT_H
#define ITAPI_ULP_UDAPL_CONNECT_UDAPL_CONNECT_H

#include "object/udapl_cr.h"
#include "object/udapl_ep.h"
#include "object/udapl_sp.h"

#include <dat2/udat.h>
#include <dat2/dat_registry.h>

DAT_RETURN udapl_psp_create(DAT_IA_HANDLE ia_handle, DAT_CONN_QUAL conn_qual,
                            DAT_EVD_HANDLE evd_handle, DAT_PSP_FLAGS flags,
                            DAT_PSP_HANDLE *psp_handle);
DAT_RETURN udapl_psp_create_any(DAT_IA_HANDLE ia_handle, DAT_CONN_QUAL *conn_qual,
                                DAT_EVD_HANDLE evd_handle, DAT_PSP_FLAGS flags,
                                DAT_PSP_HANDLE *psp_handle);
DAT_RETURN udapl_psp_query(DAT_PSP_HANDLE psp_handle, DAT_PSP_PARAM_MASK mask,
                           DAT_PSP_PARAM *param);
DAT_RETURN udapl_psp_free(DAT_PSP_HANDLE psp_handle);
DAT_RETURN udapl_rsp_create(DAT_IA_HANDLE ia_handle, DAT_CONN_QUAL conn_qual,
                            DAT_EP_HANDLE ep_handle, DAT_EVD_HANDLE evd_handle,
                            DAT_RSP_HANDLE *rsp_handle);
DAT_RETURN udapl_rsp_query(DAT_RSP_HANDLE rsp_handle, DAT_RSP_PARAM_MASK mask,
                           DAT_RSP_PARAM *param);
DAT_RETURN udapl_rsp_free(DAT_RSP_HANDLE rsp_handle);
DAT_RETURN udapl_csp_create(DAT_IA_HANDLE ia_handle, DAT_COMM *communicator,
                            DAT_IA_ADDRESS_PTR address, DAT_EVD_HANDLE evd_handle,
                            DAT_CSP_HANDLE *csp_handle);
DAT_RETURN udapl_csp_query(DAT_CSP_HANDLE csp_handle, DAT_CSP_PARAM_MASK mask,
                           DAT_CSP_PARAM *param);
DAT_RETURN udapl_csp_free(DAT_CSP_HANDLE csp_handle);
DAT_RETURN udapl_cr_query(DAT_CR_HANDLE cr_handle, DAT_CR_PARAM_MASK mask, DAT_CR_PARAM *param);
DAT_RETURN udapl_cr_accept(DAT_CR_HANDLE cr_handle, DAT_EP_HANDLE ep_handle,
                           DAT_COUNT private_data_size, const DAT_PVOID private_data);
DAT_RETURN udapl_cr_reject(DAT_CR_HANDLE cr_handle, DAT_COUNT private_data_size,
                           const DAT_PVOID private_data);
DAT_RETURN udapl_cr_handoff(DAT_CR_HANDLE cr_handle, DAT_CONN_QUAL conn_qual);
DAT_RETURN udapl_ep_connect(DAT_EP_HANDLE ep_handle, DAT_IA_ADDRESS_PTR address,
                            DAT_CONN_QUAL conn_qual, DAT_TIMEOUT timeout,
                            DAT_COUNT private_data_size, const DAT_PVOID private_data, DAT_QOS qos,
                            DAT_CONNECT_FLAGS flags);
DAT_RETURN udapl_ep_common_connect(DAT_EP_HANDLE ep_handle, DAT_IA_ADDRESS_PTR address,
                                   DAT_TIMEOUT timeout, DAT_COUNT private_data_size,
                                   const DAT_PVOID private_data);
DAT_RETURN udapl_ep_dup_connect(DAT_EP_HANDLE ep_handle, DAT_EP_HANDLE ep_dup_handle,
                                DAT_TIMEOUT timeout, DAT_COUNT private_data_size,
                                const DAT_PVOID private_data, DAT_QOS qos);
DAT_RETURN udapl_ep_disconnect(DAT_EP_HANDLE ep_handle, DAT_CLOSE_FLAGS flags);
DAT_RETURN udapl_ep_reset(DAT_EP_HANDLE ep_handle);
DAT_RETURN udapl_handle_extendedop(DAT_HANDLE handle, DAT_EXTENDED_OP operation, va_list arguments);

/*
 * Free the resources of an object other than handles of IT-API. Called after the IA of IT-API and
 * all its handles were freed. The caller ends the object itself.
 */
void udapl_sp_discard(struct udapl_sp *sp);
void udapl_cr_discard(struct udapl_cr *cr);

#endif
