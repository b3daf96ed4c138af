/* SPDX-License-Identifier: BSD-2-Clause */
#include "link/ofa_link.h"
#include "memory/ofa_adapter.h"

int ofa_link_evd(struct ofa_context *context, it_event_type_t stream, size_t room,
                 it_evd_callback_rtn_t callback, void *argument, it_evd_handle_t *evd)
{
    int error = ofa_errno(
        it_evd_create(context->ia, stream, 0, room, IT_THRESHOLD_DISABLE, NULL, evd, NULL));

    if (error != 0)
        return error;
    error = ofa_errno(it_evd_callback_attach(*evd, callback, argument));
    if (error != 0) {
        (void)it_evd_free(*evd);
        *evd = NULL;
    }
    return error;
}
