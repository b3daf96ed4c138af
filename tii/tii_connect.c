/* SPDX-License-Identifier: BSD-2-Clause */
/* it_ep_connect, it_ep_disconnect. */
#include "tii/tii_check.h"
#include "ual/object/ual_ep_state.h"

#include <arpa/inet.h>

#define TII_CONNECT "it_ep_connect"

#define TII_CONNECT_FLAGS                                                                          \
    ((unsigned)IT_CONNECT_FLAG_TWO_WAY | (unsigned)IT_CONNECT_FLAG_THREE_WAY |                     \
     (unsigned)IT_CONNECT_SUPPRESS_IRD_ORD)

static it_status_t tii_connect_check_flags(it_cn_est_flags_t cn_est_flags,
                                           const struct vp_attributes *attributes)
{
    unsigned flags = (unsigned)cn_est_flags;
    bool two_way = (flags & IT_CONNECT_FLAG_TWO_WAY) != 0;
    bool three_way = (flags & IT_CONNECT_FLAG_THREE_WAY) != 0;

    if ((flags & ~TII_CONNECT_FLAGS) || two_way == three_way ||
        (three_way && !attributes->three_way) ||
        ((flags & IT_CONNECT_SUPPRESS_IRD_ORD) && !attributes->suppress_depths))
        return base_refuse_bits(IT_ERR_INVALID_CN_EST_FLAGS, TII_CONNECT, cn_est_flags);
    return IT_SUCCESS;
}

static it_status_t tii_connect_check(const struct ual_ep *ep, it_path_t *path,
                                     const it_conn_qual_t *qual, it_cn_est_flags_t flags,
                                     size_t private_data_length)
{
    const struct ual_ia *ia = ual_ia_of(&ep->object);
    const struct vp_attributes *attributes = ia->provider->ia_attributes(ia);
    it_status_t status;

    status = tii_connect_check_flags(flags, attributes);
    if (status == IT_SUCCESS)
        status = tii_check_qual(TII_CONNECT, attributes, qual, true);
    if (status == IT_SUCCESS)
        status = tii_check_path(TII_CONNECT, ia, path, IT_ERR_INVALID_SPIGOT);
    if (status == IT_SUCCESS)
        status = tii_check_pdata_length(TII_CONNECT, attributes, private_data_length,
                                        attributes->connect_pdata);
    if (status == IT_SUCCESS && ual_ep_state(ep) != IT_EP_STATE_UNCONNECTED)
        status = ual_ep_refuse_state(TII_CONNECT, ep);
    return status;
}

it_status_t it_ep_connect(it_ep_handle_t ep_handle, const it_path_t *path,
                          const it_conn_attributes_t *conn_attr, const it_conn_qual_t *connect_qual,
                          it_cn_est_flags_t cn_est_flags, const unsigned char *private_data,
                          size_t private_data_length)
{
    struct ual_ep *ep = ual_ep_from(ep_handle);
    struct ual_ia *ia;
    it_path_t own;
    it_status_t status;

    if (!ep || ep->datagrams)
        return ual_ep_refuse(__func__, ep_handle);
    if (!path || !connect_qual)
        return base_refuse_null2(__func__, path, connect_qual);
    status = tii_check_pdata_pointer(__func__, private_data, private_data_length);
    if (status != IT_SUCCESS)
        return status;
    ia = ual_ia_of(&ep->object);
    if (ual_ia_failed(ia))
        return IT_ERR_IA_CATASTROPHE;
    own = *path;
    status = tii_connect_check(ep, &own, connect_qual, cn_est_flags, private_data_length);
    if (status != IT_SUCCESS)
        return status;
    /* The provider checks the state again, with the EP locked. */
    status = ia->provider->connect(ep, &own, conn_attr, connect_qual, cn_est_flags, private_data,
                                   private_data_length);
    return base_refuse(status, __func__,
                       "ep_handle %p in %s, path of Spigot %zu, connect_qual port %u, "
                       "private_data_length %zu: refused by %s",
                       (void *)ep, ual_ep_state_name(ep), own.spigot_id,
                       ntohs(connect_qual->conn_qual.port), private_data_length,
                       ia->provider->name);
}

it_status_t it_ep_disconnect(it_ep_handle_t ep_handle, const unsigned char *private_data,
                             size_t private_data_length)
{
    struct ual_ep *ep = ual_ep_from(ep_handle);
    struct ual_ia *ia;
    it_ep_state_rc_t state;
    it_status_t status;

    if (!ep || ep->datagrams)
        return ual_ep_refuse(__func__, ep_handle);
    ia = ual_ia_of(&ep->object);
    status = tii_check_pdata(__func__, ia, private_data, private_data_length,
                             ia->provider->ia_attributes(ia)->disconnect_pdata);
    if (status != IT_SUCCESS)
        return status;
    state = ual_ep_state(ep);
    if (state == IT_EP_STATE_UNCONNECTED || state == IT_EP_STATE_NONOPERATIONAL)
        return ual_ep_refuse_state(__func__, ep);
    /* The provider checks the state again, with the EP locked. */
    return base_refuse(ia->provider->disconnect(ep), __func__, "ep_handle %p in %s", (void *)ep,
                       ual_ep_state_name(ep));
}
