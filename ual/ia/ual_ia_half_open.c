/* SPDX-License-Identifier: BSD-2-Clause */
/* itx_ia_set_half_open_share. */
#include "ual/object/ual_provider.h"

it_status_t itx_ia_set_half_open_share(it_ia_handle_t ia_handle, size_t streams)
{
    struct ual_ia *ia = ual_ia_from(ia_handle);

    if (!ia)
        return base_refuse_handle(IT_ERR_INVALID_IA, __func__, ia_handle);
    atomic_store_explicit(&ia->half_open_share, streams, memory_order_relaxed);
    return IT_SUCCESS;
}
