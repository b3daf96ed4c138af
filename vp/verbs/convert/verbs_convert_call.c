/* SPDX-License-Identifier: BSD-2-Clause */
/* it_socket_convert: from a descriptor to a conversion that proceeds by itself. */
#include "vp/verbs/convert/verbs_convert.h"

#include "vp/verbs/convert/verbs_convert_private.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* The arguments of it_socket_convert, for the IA's thread. */
struct convert_call {
    struct ual_ep *ep;
    const struct vp_convert *convert;
};

/* ---------------------------------------------------------------- both ends */

/* Stores an IPv4-mapped IPv6 address as the IPv4 address. */
static uint8_t convert_address(const struct sockaddr_storage *from, uint8_t address[AGREE_ADDRESS])
{
    const struct sockaddr_in *ipv4 = (const struct sockaddr_in *)(const void *)from;
    const struct in6_addr *ipv6 = &((const struct sockaddr_in6 *)(const void *)from)->sin6_addr;

    memset(address, 0, AGREE_ADDRESS);
    if (from->ss_family == AF_INET) {
        memcpy(address, &ipv4->sin_addr, sizeof(ipv4->sin_addr));
        return 4;
    }
    memcpy(address, ipv6, AGREE_ADDRESS);
    return 6;
}

static void convert_unmap(struct sockaddr_storage *address)
{
    uint16_t port = base_net_port(address);
    it_net_addr_t ip;

    if (base_net_from_sockaddr(address, &ip) && ip.addr_type == IT_IPV4)
        (void)base_net_to_sockaddr(&ip, port, 0, address);
}

static bool convert_find_ends(struct verbs_convert *convert, int fd)
{
    if (!base_net_ends(fd, &convert->local, &convert->remote))
        return false;
    convert_unmap(&convert->local);
    convert_unmap(&convert->remote);
    return true;
}

static bool convert_init_agreement(struct verbs_convert *convert, const struct vp_convert *what)
{
    struct agree_terms own = {
        .kind = (uint8_t)verbs_convert_kind(convert),
        .private_length = (uint16_t)what->private_length,
    };
    uint8_t remote[AGREE_ADDRESS];
    uint8_t family = convert_address(&convert->remote, remote);

    own.family = convert_address(&convert->local, own.address);
    if (what->private_length > 0)
        memcpy(own.private_data, what->private_data, what->private_length);
    if (getrandom(own.token, sizeof(own.token), 0) != (ssize_t)sizeof(own.token))
        return false; /* cannot fail for so few octets once the system is up */
    agree_init(&convert->agree, what->initiator, &own, family, remote);
    return true;
}

/* Copies octets that stay the caller's. */
static bool convert_copy(struct verbs_convert *convert, const struct vp_convert *what)
{
    size_t total = what->message_length + what->early_length;

    convert->message_length = what->message_length;
    convert->buffer = malloc(total > 0 ? total : 1);
    if (!convert->buffer)
        return false;
    if (what->message_length > 0)
        memcpy(convert->buffer, what->message, what->message_length);
    if (what->early_length > 0)
        memcpy(convert->buffer + what->message_length, what->early, what->early_length);
    return true;
}

static it_status_t convert_prepare(struct verbs_convert *convert, const struct vp_convert *what)
{
    if (!convert_copy(convert, what))
        return IT_ERR_RESOURCES;
    if (!convert_find_ends(convert, what->fd))
        return IT_ERR_INVALID_CONVERSION;
    if (!convert_init_agreement(convert, what))
        return IT_ERR_RESOURCES;
    if (!verbs_host->timer_start(convert->timer, base_ns_of_us(what->timeout_us)) ||
        !verbs_stream_open(&convert->stream, convert->ia->ual, what->fd,
                           convert->buffer + what->message_length, what->early_length,
                           verbs_convert_ready, convert))
        return IT_ERR_RESOURCES;
    return IT_SUCCESS;
}

static it_status_t convert_begin(void *argument)
{
    const struct convert_call *call = argument;
    struct verbs_ep *ep = verbs_ep_of(call->ep);
    struct verbs_convert *convert = verbs_convert_new(ep);
    it_status_t status = IT_ERR_INVALID_EP_STATE;

    if (!convert)
        return IT_ERR_RESOURCES;
    /* The step below checks the state again, under the lock. */
    if (verbs_host->ep_state(call->ep) == IT_EP_STATE_UNCONNECTED)
        status = convert_prepare(convert, call->convert);
    if (status != IT_SUCCESS) {
        verbs_convert_free(convert);
        return status;
    }
    if (!verbs_ep_step(ep, call->convert->initiator ? UAL_EP_CONNECT : UAL_EP_WAIT_REQUEST)) {
        verbs_stream_leave(&convert->stream);
        verbs_convert_free(convert);
        return IT_ERR_INVALID_EP_STATE;
    }
    ep->convert = convert;
    /* The EP is in its pending state: from here on an event reports the outcome. */
    verbs_convert_tell_path(convert);
    verbs_convert_run(convert);
    return IT_SUCCESS;
}

it_status_t verbs_convert(struct ual_ep *ual, const struct vp_convert *convert)
{
    struct convert_call call = {.ep = ual, .convert = convert};

    if (convert->no_request_reply)
        return IT_ERR_INVALID_FLAGS; /* a conversion needs startup frames */
    if (convert->private_length > AGREE_PRIVATE_MAX)
        return IT_ERR_INVALID_PDATA_LENGTH;
    return verbs_run(verbs_host->ia_of(ual), convert_begin, &call);
}
