/* SPDX-License-Identifier: BSD-2-Clause */
#include "vp/uiwarp/stream/uiw_stream.h"

#include "base/base_log.h"
#include "tdi/iwarp/iw_text.h"

#include <string.h>

bool uiw_log_peer_of(int fd, struct uiw_net_text *text)
{
    struct sockaddr_storage address = {.ss_family = AF_UNSPEC};
    socklen_t length = sizeof(address);
    bool known = getpeername(fd, (struct sockaddr *)&address, &length) == 0;

    *text = uiw_net_text(&address);
    return known;
}

/* Returns the peer's address; without the port if the stream was reset and forgot its peer. */
static struct uiw_net_text log_peer(struct ual_ep *ual)
{
    struct sockaddr_storage address = {.ss_family = AF_UNSPEC};
    struct uiw_net_text text;
    it_net_addr_t local, remote;
    it_path_t path;

    if (uiw_log_peer_of(uiw_ep_of(ual)->fd, &text))
        return text;
    base_lock_take(&ual->lock);
    path = ual->dst_path;
    base_lock_drop(&ual->lock);
    if (base_net_from_path(&path, &local, &remote))
        (void)base_net_to_sockaddr(&remote, 0, 0, &address); /* an IP address: cannot fail */
    return uiw_net_text(&address);
}

/* ---------------------------------------------------------------- connections */

static bool log_is_of_key(enum iw_error error)
{
    return IW_ERROR_LAYER(error) <= 1 && IW_ERROR_TYPE(error) == 1;
}

static void log_no_receive(struct ual_ep *ual, const char *peer)
{
    const struct uiw_ep *ep = uiw_ep_of(ual);
    enum iw_opcode opcode = ep->rx.iw.segment.opcode;

    if (opcode == IW_OP_READ_REQUEST || opcode == IW_OP_ATOMIC_REQUEST)
        base_log_limited(BASE_LOG_WARN, "ep %p: %s sent more RDMA Reads at once than the IRD of %u",
                         (void *)ual, peer, ep->agreed.ird);
    else if (ual->srq)
        base_log_limited(BASE_LOG_WARN,
                         "ep %p: no receive was posted on S-RQ %p for a %s of %s, or the endpoint "
                         "holds as many as its hard watermark allows",
                         (void *)ual, (void *)ual->srq, iw_opcode_text(opcode), peer);
    else
        base_log_limited(BASE_LOG_WARN, "ep %p: no receive was posted for a %s of %s", (void *)ual,
                         iw_opcode_text(opcode), peer);
}

void uiw_log_refused(struct ual_ep *ual, enum iw_error error)
{
    const struct uiw_ep *ep = uiw_ep_of(ual);
    const struct iw_segment *segment = &ep->rx.iw.segment;
    struct uiw_net_text peer;

    if (atomic_load_explicit(&base_log_level, memory_order_relaxed) < BASE_LOG_WARN)
        return;
    peer = log_peer(ual);
    if (error == IW_ERR_DDP_NO_BUFFER)
        log_no_receive(ual, peer.chars);
    else if (error == IW_ERR_DDP_TOO_LONG)
        base_log_limited(
            BASE_LOG_WARN,
            "ep %p: the receive was too small for a %s of %s, which has %llu octets at "
            "least",
            (void *)ual, iw_opcode_text(segment->opcode), peer.chars,
            (unsigned long long)segment->mo + segment->length);
    else if (log_is_of_key(error))
        base_log_limited(BASE_LOG_WARN, "ep %p: a key was refused to a %s of %s: %s (%x/%x/%02x)",
                         (void *)ual, iw_opcode_text(segment->opcode), peer.chars,
                         iw_error_text(error), IW_ERROR_LAYER(error), IW_ERROR_TYPE(error),
                         IW_ERROR_CODE(error));
    else /* the opcode of a damaged FPDU is unknown */
        base_log_limited(BASE_LOG_WARN, "ep %p: %s broke the protocol%s%s: %s (%x/%x/%02x)",
                         (void *)ual, peer.chars, IW_ERROR_LAYER(error) == 2 ? "" : " with a ",
                         IW_ERROR_LAYER(error) == 2 ? "" : iw_opcode_text(segment->opcode),
                         iw_error_text(error), IW_ERROR_LAYER(error), IW_ERROR_TYPE(error),
                         IW_ERROR_CODE(error));
}

void uiw_log_terminated(struct ual_ep *ual, const struct iw_terminate *terminate)
{
    enum iw_error error = terminate->error;

    base_log_limited(BASE_LOG_INFO, "ep %p: %s has ended the connection: %s (%x/%x/%02x%s)",
                     (void *)ual, log_peer(ual).chars, iw_error_text(error), IW_ERROR_LAYER(error),
                     IW_ERROR_TYPE(error), IW_ERROR_CODE(error),
                     terminate->little_endian_nibbles ? ", in the encoding of siw" : "");
}

void uiw_log_gone(struct ual_ep *ual, enum iw_error error)
{
    base_log_limited(BASE_LOG_WARN, "ep %p: a key became invalid while a %s was answered: %s",
                     (void *)ual, iw_opcode_text(IW_OP_READ_REQUEST), iw_error_text(error));
}

void uiw_log_lost(struct ual_ep *ual, int error)
{
    base_log_limited(BASE_LOG_INFO, "ep %p: the connection with %s is lost: %s", (void *)ual,
                     log_peer(ual).chars,
                     error ? strerror(error) : "closed in the middle of an FPDU");
}
