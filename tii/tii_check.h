/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks that several connection calls have in common. */
#ifndef ITAPI_TII_TII_CHECK_H
#define ITAPI_TII_TII_CHECK_H

#include "ual/object/ual_provider.h"

/* All for the call of that name. */

/* Rule G7: a pointer is needed only when there is a length. */
it_status_t tii_check_pdata_pointer(const char *call, const void *private_data, size_t length);

/* Rule G7: limit is that of the call, one of those in attributes. */
it_status_t tii_check_pdata_length(const char *call, const struct vp_attributes *attributes,
                                   size_t private_data_length, size_t limit);

/* Both, as far as the IA has not failed. */
it_status_t tii_check_pdata(const char *call, const struct ual_ia *ia, const void *private_data,
                            size_t length, size_t limit);

/* One type out of a mask of accepted ones, and not port 0 on the side that counts. */
it_status_t tii_check_active_qual(const char *call, const it_conn_qual_t *conn_qual,
                                  it_conn_qual_type_t accepted);
it_status_t tii_check_passive_qual(const char *call, const it_conn_qual_t *conn_qual,
                                   it_conn_qual_type_t accepted);

/*
 * Spigot (if it is bad: bad_spigot), then the local, then the remote part of a path. Spigot 0 is
 * replaced by the only one.
 */
it_status_t tii_check_path(const char *call, const struct ual_ia *ia, it_path_t *path,
                           it_status_t bad_spigot);

/* A request that is none, or that somebody else has in hand: IT_ERR_INVALID_CN_EST_ID. */
it_status_t tii_refuse_request(const char *call, it_cn_est_identifier_t cn_est_id);

#endif
