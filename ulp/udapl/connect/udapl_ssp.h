/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls of the iWARP extension, with the arguments of <dat2/dat_iw_extensions.h>. */
#ifndef ITAPI_ULP_UDAPL_CONNECT_UDAPL_SSP_H
#define ITAPI_ULP_UDAPL_CONNECT_UDAPL_SSP_H

#include <dat2/dat_iw_extensions.h>

DAT_RETURN udapl_ssp_create(DAT_HANDLE ia_handle, DAT_IW_SOCKET socket, DAT_EP_HANDLE ep_handle,
                            DAT_EVD_HANDLE evd_handle, const void *message, DAT_COUNT length,
                            DAT_IW_SSP_HANDLE *ssp_handle);
DAT_RETURN udapl_ssp_query(DAT_IW_SSP_HANDLE ssp_handle, DAT_IW_SSP_PARAM_MASK mask,
                           DAT_IW_SSP_PARAM *param);
DAT_RETURN udapl_ssp_free(DAT_IW_SSP_HANDLE ssp_handle);
DAT_RETURN udapl_socket_connect(DAT_EP_HANDLE ep_handle, DAT_IW_SOCKET socket, DAT_TIMEOUT timeout,
                                DAT_COUNT private_data_size, const void *private_data);

#endif
