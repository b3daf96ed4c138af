/* SPDX-License-Identifier: BSD-2-Clause */
/* it_listen_create, itx_listen_create_at, it_listen_query, it_listen_free. */
#include "tii/tii_check.h"

#include "base/base_net.h"
#include "ual/object/ual_object.h"

#include <arpa/inet.h>

#define TII_LISTEN_FLAGS                                                                           \
    ((unsigned)IT_LISTEN_CONN_QUAL_INPUT | (unsigned)IT_LISTEN_SUPPRESS_IRD_ORD |                  \
     (unsigned)ITX_LISTEN_SOCKETS)
#define TII_LISTEN_PARAMS (((unsigned)IT_LISTEN_PARAM_CONN_QUAL << 1) - 1) /* all its bits */

/* ---------------------------------------------------------------- create */

static it_status_t tii_listen_check_evd(const char *call, const struct ual_ia *ia,
                                        const struct evd *connect_evd)
{
    const struct evd *evd = connect_evd;

    if (!evd || evd_ia_of(evd) != &ia->evd)
        return base_refuse_handle(IT_ERR_INVALID_CONN_EVD, call, connect_evd);
    if (evd_stream(evd) == IT_AEVD_NOTIFICATION_EVENT_STREAM)
        return base_refuse_handle(IT_ERR_AEVD_NOT_ALLOWED, call, connect_evd);
    if (!evd_carries(evd, IT_CM_REQ_EVENT_STREAM))
        return base_refuse(IT_ERR_INVALID_CONN_EVD, call, "connect_evd %p of %s", (const void *)evd,
                           itx_event_string(evd_stream(evd)));
    return IT_SUCCESS;
}

static it_status_t tii_listen_check_values(const char *call, const struct ual_ia *ia,
                                           size_t *spigot_id, it_listen_flags_t flags,
                                           const it_conn_qual_t *qual)
{
    const struct vp_attributes *attributes = ia->provider->ia_attributes(ia);

    if (((unsigned)flags & ~TII_LISTEN_FLAGS) ||
        ((flags & IT_LISTEN_SUPPRESS_IRD_ORD) && !attributes->suppress_depths) ||
        ((flags & ITX_LISTEN_SOCKETS) &&
         (flags & IT_LISTEN_CONN_QUAL_INPUT || !VP_PROVIDER_HAS(ia->provider, socket_request))))
        return base_refuse_bits(IT_ERR_INVALID_FLAGS, call, flags);
    if (!ual_spigot_find(ia, spigot_id))
        return base_refuse_number(IT_ERR_INVALID_SPIGOT, call, *spigot_id);
    if (flags & IT_LISTEN_CONN_QUAL_INPUT)
        return tii_check_qual(call, attributes, qual, false);
    return IT_SUCCESS;
}

/*
 * Returns a qualifier without a port, which the provider chooses. Its type is a pair of ports if
 * the program asks for one, else the simplest type.
 */
static it_conn_qual_t tii_listen_open_qual(const struct ual_ia *ia, const it_conn_qual_t *given)
{
    unsigned accepted = (unsigned)ia->provider->ia_attributes(ia)->passive_quals;
    it_conn_qual_t qual = {.type = (it_conn_qual_type_t)(accepted & (~accepted + 1))};

    if (given->type == IT_IANA_LR_PORT && (accepted & (unsigned)IT_IANA_LR_PORT))
        qual.type = IT_IANA_LR_PORT;
    return qual;
}

/* address is NULL or an IP address. */
static it_status_t tii_listen_new(const char *call, struct ual_ia *ia, struct evd *evd,
                                  size_t spigot_id, it_listen_flags_t flags,
                                  const struct sockaddr_storage *address, it_conn_qual_t *qual,
                                  it_listen_handle_t *listen_handle)
{
    struct ual_listen *listen;
    it_status_t status;

    listen = ual_object_new_child(call, ia, IT_HANDLE_TYPE_LISTEN, evd, IT_ERR_INVALID_CONN_EVD,
                                  &status);
    if (!listen)
        return status;
    listen->spigot_id = spigot_id;
    listen->connect_evd = evd;
    listen->flags = flags;
    listen->conn_qual = flags & IT_LISTEN_CONN_QUAL_INPUT ? *qual : tii_listen_open_qual(ia, qual);
    status = address ? ia->provider->listen_start_at(listen, address)
                     : ia->provider->listen_start(listen);
    if (status != IT_SUCCESS) {
        ual_object_discard_child(&listen->object, evd);
        return base_refuse(status, call, "conn_qual port %u, spigot_id %zu: refused by %s",
                           ntohs(qual->conn_qual.port), spigot_id, ia->provider->name);
    }
    if (!(flags & IT_LISTEN_CONN_QUAL_INPUT))
        *qual = listen->conn_qual;
    ual_object_start(&listen->object);
    *listen_handle = (it_listen_handle_t)(void *)listen;
    return IT_SUCCESS;
}

/* Normalizes the address: without a port; an IPv4-mapped one becomes IPv4. */
static it_status_t tii_listen_address(const char *call, const struct sockaddr *given,
                                      struct sockaddr_storage *address)
{
    it_net_addr_t ip;
    uint32_t scope = 0;

    if (!given)
        return base_refuse_null(call, given);
    if (!base_net_from_sockaddr(given, &ip))
        return base_refuse_number(IT_ERR_INVALID_NETADDR, call, given->sa_family);
    if (ip.addr_type == IT_IPV6)
        scope = ((const struct sockaddr_in6 *)(const void *)given)->sin6_scope_id;
    (void)base_net_to_sockaddr(&ip, 0, scope, address);
    return IT_SUCCESS;
}

/* The arguments of both calls. */
struct tii_listen_call {
    const char *name;
    size_t spigot_id;
    it_listen_flags_t flags;
    bool at; /* on one address */
    const struct sockaddr *address;
};

static it_status_t tii_listen_create(const struct tii_listen_call *call, struct ual_ia *ia,
                                     struct evd *evd, it_conn_qual_t *conn_qual,
                                     it_listen_handle_t *listen_handle)
{
    struct sockaddr_storage address;
    size_t spigot_id = call->spigot_id;
    it_status_t status = tii_listen_check_evd(call->name, ia, evd);

    if (status == IT_SUCCESS && call->at)
        status = tii_listen_address(call->name, call->address, &address);
    if (status != IT_SUCCESS)
        return status;
    if (!conn_qual || !listen_handle)
        return base_refuse_null2(call->name, conn_qual, listen_handle);
    if (ual_ia_failed(ia))
        return IT_ERR_IA_CATASTROPHE;
    if (call->at && (call->flags & ITX_LISTEN_SOCKETS))
        return base_refuse_bits(IT_ERR_INVALID_FLAGS, call->name, call->flags);
    status = tii_listen_check_values(call->name, ia, &spigot_id, call->flags, conn_qual);
    if (status == IT_SUCCESS)
        status = tii_listen_new(call->name, ia, evd, spigot_id, call->flags,
                                call->at ? &address : NULL, conn_qual, listen_handle);
    return status;
}

it_status_t it_listen_create(it_ia_handle_t ia_handle, size_t spigot_id,
                             it_evd_handle_t connect_evd, it_listen_flags_t flags,
                             it_conn_qual_t *conn_qual, it_listen_handle_t *listen_handle)
{
    const struct tii_listen_call call = {.name = __func__, .spigot_id = spigot_id, .flags = flags};
    struct ual_ia *ia = ual_ia_from(ia_handle);

    if (!ia)
        return base_refuse_handle(IT_ERR_INVALID_IA, __func__, ia_handle);
    return tii_listen_create(&call, ia, evd_from_handle(connect_evd), conn_qual, listen_handle);
}

it_status_t itx_listen_create_at(it_ia_handle_t ia_handle, it_evd_handle_t connect_evd,
                                 it_listen_flags_t flags, const struct sockaddr *address,
                                 it_conn_qual_t *conn_qual, it_listen_handle_t *listen_handle)
{
    const struct tii_listen_call call = {
        .name = __func__, .flags = flags, .at = true, .address = address};
    struct ual_ia *ia = ual_ia_from(ia_handle);

    if (!ia)
        return base_refuse_handle(IT_ERR_INVALID_IA, __func__, ia_handle);
    if (!VP_PROVIDER_HAS(ia->provider, listen_start_at))
        return base_refuse(IT_ERR_OP_NOT_SUPPORTED, __func__, "%s", ia->name);
    return tii_listen_create(&call, ia, evd_from_handle(connect_evd), conn_qual, listen_handle);
}

/* ---------------------------------------------------------------- query and free */

it_status_t it_listen_query(it_listen_handle_t listen_handle, it_listen_param_mask_t mask,
                            it_listen_param_t *params)
{
    struct ual_listen *listen = ual_listen_from(listen_handle);
    unsigned members = ual_object_members(mask);

    if (!listen)
        return base_refuse_handle(IT_ERR_INVALID_LISTEN, __func__, listen_handle);
    if (!params)
        return base_refuse_null(__func__, params);
    if ((unsigned)mask & ~TII_LISTEN_PARAMS)
        return base_refuse_bits(IT_ERR_INVALID_MASK, __func__, mask);
    if (members & IT_LISTEN_PARAM_IA_HANDLE)
        params->ia_handle = (it_ia_handle_t)(void *)listen->object.ia;
    if (members & IT_LISTEN_PARAM_SPIGOT_ID)
        params->spigot_id = listen->spigot_id;
    if (members & IT_LISTEN_PARAM_CONNECT_EVD)
        params->connect_evd = evd_handle(listen->connect_evd);
    if (members & IT_LISTEN_PARAM_CONN_QUAL)
        params->connect_qual = listen->conn_qual;
    return IT_SUCCESS;
}

it_status_t it_listen_free(it_listen_handle_t listen_handle)
{
    return ual_object_free(__func__, "listen_handle", listen_handle, IT_HANDLE_TYPE_LISTEN,
                           IT_ERR_INVALID_LISTEN, IT_ERR_INVALID_LISTEN, ual_listen_destroy);
}
