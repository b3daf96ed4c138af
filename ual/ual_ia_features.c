/* SPDX-License-Identifier: BSD-2-Clause */
/* itx_ia_query_features. */
#include "ual/ual_extension.h"
#include "ual/ual_provider.h"

#define UAL_FEATURES_MIN                                                                           \
    UAL_SIZE_UP_TO(struct itx_features, send_imm_receives) /* the first version */

it_status_t itx_ia_query_features(it_ia_handle_t ia_handle, struct itx_features *features)
{
    struct ual_ia *ia = ual_ia_from(ia_handle);
    struct itx_features own = {.size = sizeof(own)};
    const struct vp_attributes *attributes;

    if (!ia)
        return IT_ERR_INVALID_IA;
    if (!features)
        return IT_ERR_FAULT;
    if (features->size < UAL_FEATURES_MIN)
        return IT_ERR_INVALID_LENGTH;
    attributes = ia->provider->ia_attributes(ia);
    own.atomic_swap = attributes->atomic_swap;
    own.immediate_bits = attributes->immediate_bits;
    own.send_imm_receives = attributes->send_imm_receives;
    ual_extension_write(features, features->size, &own, sizeof(own));
    return IT_SUCCESS;
}
