/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks that several connection calls share. call is the name of the API's call. */
#ifndef ITAPI_TII_TII_CHECK_H
#define ITAPI_TII_TII_CHECK_H

#include "ual/object/ual_provider.h"

/* Rule G7: private data of length 0 needs no pointer. */
it_status_t tii_check_pdata_pointer(const char *call, const void *private_data, size_t length);

/* Rule G7: limit is the one that attributes has for this call. */
it_status_t tii_check_pdata_length(const char *call, const struct vp_attributes *attributes,
                                   size_t private_data_length, size_t limit);

/* Both checks; or IT_ERR_IA_CATASTROPHE if the IA has failed. */
it_status_t tii_check_pdata(const char *call, const struct ual_ia *ia, const void *private_data,
                            size_t length, size_t limit);

/*
 * The qualifier has one of the types that the provider accepts, and not port 0 on the side that
 * matters. active: the side that connects or asks.
 */
it_status_t tii_check_qual(const char *call, const struct vp_attributes *attributes,
                           const it_conn_qual_t *conn_qual, bool active);

/*
 * Checks the Spigot of a path, then its local and its remote part. Replaces Spigot 0 by the only
 * Spigot of the IA. Returns bad_spigot for a wrong Spigot.
 */
it_status_t tii_check_path(const char *call, const struct ual_ia *ia, it_path_t *path,
                           it_status_t bad_spigot);

/*
 * Returns IT_ERR_INVALID_CN_EST_ID for an id without a request, or with one that another call has
 * taken.
 */
it_status_t tii_refuse_request(const char *call, it_cn_est_identifier_t cn_est_id);

#endif
