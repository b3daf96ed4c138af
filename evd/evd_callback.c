/* SPDX-License-Identifier: BSD-2-Clause */
/* Callbacks on event dispatchers. Not offered yet. */
#include "it_api.h"

it_status_t it_evd_callback_attach(it_evd_handle_t evd_handle, it_evd_callback_rtn_t callback,
                                   void *arg)
{
    (void)evd_handle;
    (void)callback;
    (void)arg;
    return IT_ERR_OP_NOT_SUPPORTED;
}

it_status_t it_evd_callback_detach(it_evd_handle_t evd_handle)
{
    (void)evd_handle;
    return IT_ERR_OP_NOT_SUPPORTED;
}
