/* SPDX-License-Identifier: BSD-2-Clause */
/* it_socket_convert and itx_socket_convert: they check everything, then call the provider. */
#include "tdi/tdi_socket.h"
#include "ual/object/ual_ep_state.h"
#include "ual/object/ual_extension.h"
#include "ual/object/ual_provider.h"

#include <fcntl.h>
#include <unistd.h>

#define TDI_FLAGS                                                                                  \
    ((unsigned)IT_SC_NO_REQ_REP | (unsigned)ITX_SC_INITIATOR | (unsigned)ITX_SC_RESPONDER)
#define TDI_MESSAGE_MAX 65536u             /* limit of the early octets too */
#define TDI_TIMEOUT_US  UINT64_C(30000000) /* the default */

#define TDI_PARAMS_MIN UAL_SIZE_UP_TO(struct itx_convert_params, timeout_us) /* first version */

/* ---------------------------------------------------------------- checks */

static it_status_t tdi_check_pointers(const char *call, const struct itx_convert_params *params)
{
    if (params->msg_len > 0 && !params->msg)
        return base_refuse_null(call, msg);
    if (params->early_len > 0 && !params->early_data)
        return base_refuse_null(call, early_data);
    if (params->private_data_length > 0 && !params->private_data)
        return base_refuse_null(call, private_data);
    return IT_SUCCESS;
}

static it_status_t tdi_check_flags(const char *call, it_sc_flags_t flags)
{
    if (((unsigned)flags & ~TDI_FLAGS) ||
        ((flags & ITX_SC_INITIATOR) && (flags & ITX_SC_RESPONDER)))
        return base_refuse_bits(IT_ERR_INVALID_FLAGS, call, flags);
    return IT_SUCCESS;
}

static bool tdi_is_initiator(it_sc_flags_t flags, size_t message_length)
{
    if (flags & ITX_SC_INITIATOR)
        return true;
    if (flags & ITX_SC_RESPONDER)
        return false;
    return message_length == 0;
}

/* The limit is that of the MPA Request for an Initiator, of the Reply for a Responder. */
static it_status_t tdi_check_private_data(const char *call, const struct vp_attributes *attributes,
                                          it_sc_flags_t flags, bool initiator,
                                          size_t private_data_length)
{
    size_t limit = initiator ? attributes->connect_pdata : attributes->accept_pdata;

    if (flags & IT_SC_NO_REQ_REP)
        limit = 0;
    if (private_data_length > limit)
        return base_refuse_above(IT_ERR_INVALID_PDATA_LENGTH, call, private_data_length, limit);
    return IT_SUCCESS;
}

static it_status_t tdi_check_values(const char *call, const struct ual_ia *ia, it_sc_flags_t flags,
                                    const struct itx_convert_params *params)
{
    it_status_t status = tdi_check_flags(call, flags);

    if (status != IT_SUCCESS)
        return status;
    if (params->msg_len > TDI_MESSAGE_MAX)
        return base_refuse_above(IT_ERR_INVALID_LENGTH, call, params->msg_len, TDI_MESSAGE_MAX);
    if (params->early_len > TDI_MESSAGE_MAX)
        return base_refuse_above(IT_ERR_INVALID_LENGTH, call, params->early_len, TDI_MESSAGE_MAX);
    return tdi_check_private_data(call, ia->provider->ia_attributes(ia), flags,
                                  tdi_is_initiator(flags, params->msg_len),
                                  params->private_data_length);
}

/* ---------------------------------------------------------------- the path of the endpoint */

/* Returns false, and changes nothing, when the EP is not UNCONNECTED. */
static bool tdi_set_path(struct ual_ep *ep, const it_path_t *path, it_path_t *before)
{
    bool legal;

    base_lock_take(&ep->lock);
    legal = ual_ep_state(ep) == IT_EP_STATE_UNCONNECTED;
    if (legal) {
        if (before)
            *before = ep->dst_path;
        ep->dst_path = *path;
    }
    base_lock_drop(&ep->lock);
    return legal;
}

/* ---------------------------------------------------------------- the calls */

static it_status_t tdi_start(const char *call, struct ual_ep *ep, int sd, it_path_t *path,
                             struct vp_convert *convert)
{
    struct ual_ia *ia = ual_ia_of(&ep->object);
    it_path_t before;
    it_status_t status;

    path->spigot_id = ual_spigot_first(ia);
    path->timeout = convert->timeout_us;
    convert->fd = fcntl(sd, F_DUPFD_CLOEXEC, 0);
    if (convert->fd < 0)
        return IT_ERR_RESOURCES;
    status = IT_ERR_INVALID_EP_STATE;
    if (!tdi_set_path(ep, path,
                      &before)) /* set before the provider runs, whose events show the path */
        goto err_close;
    status = ia->provider->convert(ep, convert);
    if (status != IT_SUCCESS)
        goto err_restore;
    return IT_SUCCESS;

err_restore:
    (void)tdi_set_path(ep, &before, NULL); /* fails if another call has moved the EP */
err_close:
    (void)close(convert->fd); /* cannot lose data: it is a duplicate */
    return base_refuse(status, call, "sd %d, ep_handle %p in %s: refused by %s", sd, (void *)ep,
                       ual_ep_state_name(ep), ia->provider->name);
}

/* params is complete, with defaults for members that the caller does not know. */
static it_status_t tdi_convert(const char *call, int sd, struct ual_ep *ep, it_sc_flags_t flags,
                               const struct itx_convert_params *params)
{
    struct ual_ia *ia = ual_ia_of(&ep->object);
    struct vp_convert convert = {
        .initiator = tdi_is_initiator(flags, params->msg_len),
        .no_request_reply = (flags & IT_SC_NO_REQ_REP) != 0,
        .message = params->msg,
        .message_length = params->msg_len,
        .early = params->early_data,
        .early_length = params->early_len,
        .private_data = params->private_data,
        .private_length = params->private_data_length,
        .timeout_us = params->timeout_us ? params->timeout_us : TDI_TIMEOUT_US,
    };
    struct tdi_socket stream;
    it_status_t status;

    status = tdi_check_pointers(call, params);
    if (status != IT_SUCCESS)
        return status;
    if (ual_ia_failed(ia))
        return IT_ERR_IA_CATASTROPHE;
    status = tdi_check_values(call, ia, flags, params);
    if (status != IT_SUCCESS)
        return status;
    if (!tdi_socket_examine(sd, &stream))
        return base_refuse(IT_ERR_INVALID_CONVERSION, call,
                           "sd %d is no established TCP connection", sd);
    status = ia->provider->has_address(ia, &stream.local);
    if (status == IT_ERR_RESOURCES)
        return status;
    if (status != IT_SUCCESS)
        return base_refuse(IT_ERR_INVALID_CONVERSION, call, "sd %d has no address of %s", sd,
                           ia->name);
    if (!ia->provider->ia_attributes(ia)->socket_conversion)
        return base_refuse(IT_ERR_OP_NOT_SUPPORTED, call, "%s converts no sockets", ia->name);
    if (ual_ep_state(ep) != IT_EP_STATE_UNCONNECTED)
        return ual_ep_refuse_state(call, ep);
    return tdi_start(call, ep, sd, &stream.path, &convert);
}

it_status_t it_socket_convert(int sd, it_ep_handle_t ep_handle, it_sc_flags_t flags,
                              const unsigned char *msg, size_t len)
{
    struct ual_ep *ep = ual_ep_from(ep_handle);
    struct itx_convert_params params = {.size = sizeof(params), .msg = msg, .msg_len = len};

    if (!ep || ep->datagrams)
        return ual_ep_refuse(__func__, ep_handle);
    return tdi_convert(__func__, sd, ep, flags, &params);
}

it_status_t itx_socket_convert(int sd, it_ep_handle_t ep_handle, it_sc_flags_t flags,
                               const struct itx_convert_params *params)
{
    struct ual_ep *ep = ual_ep_from(ep_handle);
    struct itx_convert_params own = {.size = sizeof(own)};

    if (!ep || ep->datagrams)
        return ual_ep_refuse(__func__, ep_handle);
    if (params) {
        if (params->size < TDI_PARAMS_MIN)
            return base_refuse_below(IT_ERR_INVALID_LENGTH, __func__, params->size, TDI_PARAMS_MIN);
        ual_extension_read(&own, sizeof(own), params, params->size);
    }
    return tdi_convert(__func__, sd, ep, flags, &own);
}
