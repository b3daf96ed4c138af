/* SPDX-License-Identifier: BSD-2-Clause */
/* itx_ia_stats. */
#include "ual/object/ual_extension.h"
#include "ual/object/ual_provider.h"

#define UAL_COUNTERS_MIN UAL_SIZE_UP_TO(struct itx_counters, thread_wakeups) /* first version */

it_status_t itx_ia_stats(it_ia_handle_t ia_handle, struct itx_counters *counters)
{
    struct ual_ia *ia = ual_ia_from(ia_handle);
    struct itx_counters own = {.size = sizeof(own)};

    if (!ia)
        return base_refuse_handle(IT_ERR_INVALID_IA, __func__, ia_handle);
    if (!counters)
        return base_refuse_null(__func__, counters);
    if (counters->size < UAL_COUNTERS_MIN)
        return base_refuse_below(IT_ERR_INVALID_LENGTH, __func__, counters->size, UAL_COUNTERS_MIN);
    ia->provider->counters(ia, &own);
    ual_extension_write(counters, counters->size, &own, sizeof(own));
    return IT_SUCCESS;
}
