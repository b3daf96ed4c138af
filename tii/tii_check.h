/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks that several connection calls have in common. */
#ifndef ITAPI_TII_TII_CHECK_H
#define ITAPI_TII_TII_CHECK_H

#include "ual/ual_provider.h"

/* Rule G7: a pointer is needed only when there is a length. */
static inline it_status_t tii_check_pdata_pointer(const void *private_data, size_t length)
{
    return length > 0 && !private_data ? IT_ERR_FAULT : IT_SUCCESS;
}

/* Rule G7: limit is that of the call, one of those in attributes. */
it_status_t tii_check_pdata_length(const struct vp_attributes *attributes, size_t length,
                                   size_t limit);

/* One type out of a mask of accepted ones, and not port 0 on the side that counts. */
it_status_t tii_check_active_qual(const it_conn_qual_t *qual, it_conn_qual_type_t accepted);
it_status_t tii_check_passive_qual(const it_conn_qual_t *qual, it_conn_qual_type_t accepted);

/* Spigot, then the local, then the remote part of a path. Spigot 0 is replaced by the only one. */
it_status_t tii_check_path(const struct ual_ia *ia, it_path_t *path);

#endif
