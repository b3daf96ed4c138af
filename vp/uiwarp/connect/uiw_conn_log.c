/* SPDX-License-Identifier: BSD-2-Clause */
/* Log lines that say why an attempt has failed. */
#include "vp/uiwarp/connect/uiw_conn_private.h"

#include "base/base_log.h"
#include "tdi/iwarp/iw_text.h"
#include "vp/uiwarp/net/uiw_net.h"
#include "vp/uiwarp/stream/uiw_stream.h"

#include <stdio.h>
#include <string.h>

/* The text of each state, behind "while". */
static const char *const log_state_texts[UIW_CONN_STATES] = {
    [UIW_CONN_OVER] = "it is over",
    [UIW_CONN_CONNECTING] = "TCP connects",
    [UIW_CONN_REFUSED] = "TCP connects",
    [UIW_CONN_MESSAGE] = "the last streaming message goes out",
    [UIW_CONN_ONLY_MESSAGE] = "the last streaming message goes out",
    [UIW_CONN_NEXT_REQUEST] = "the MPA Request goes out",
    [UIW_CONN_REQUEST] = "the MPA Request goes out",
    [UIW_CONN_WAIT_REPLY] = "it waits for the MPA Reply",
    [UIW_CONN_READ_REPLY] = "it waits for the MPA Reply",
    [UIW_CONN_WAIT_REQUEST] = "it waits for the MPA Request",
    [UIW_CONN_READ_REQUEST] = "it waits for the MPA Request",
    [UIW_CONN_ANNOUNCED] = "the program decides",
    [UIW_CONN_WATCHED] = "the program decides",
    [UIW_CONN_GONE] = "the program decides",
    [UIW_CONN_REPLY] = "the MPA Reply goes out",
};

/* The first octets of the peer as text: they show which protocol it uses. */
struct log_octets {
    char text[4 * IW_MPA_FRAME + 1];
};

static struct log_octets log_octets(const uint8_t *octets, size_t length)
{
    struct log_octets result = {.text = ""};
    size_t used = 0;

    for (size_t i = 0; i < length && i < IW_MPA_FRAME; i++) {
        bool printable = octets[i] >= ' ' && octets[i] <= '~' && octets[i] != '\\';

        used += (size_t)snprintf(result.text + used, sizeof(result.text) - used,
                                 printable ? "%c" : "\\x%02x", octets[i]);
    }
    return result;
}

static const char *log_cause(const struct uiw_conn *conn, char *text, size_t size)
{
    if (conn->error == EBADMSG)
        return "closed in the middle of an MPA frame";
    if (conn->error != 0)
        return strerror(conn->error);
    if (conn->mpa.verdict == IW_MPA_TERMINATE)
        return iw_error_text(conn->mpa.error);
    if (conn->mpa.verdict == IW_MPA_REJECTED)
        return "the peer has rejected it";
    if (conn->mpa.verdict != IW_MPA_BAD)
        return "";
    (void)snprintf(text, size, "the peer sent no MPA frame that can be taken, but \"%s\"",
                   log_octets(conn->mpa.frame, conn->mpa.length).text);
    return text;
}

void uiw_log_attempt(const struct uiw_conn *conn, it_conn_reject_code_t code)
{
    char text[160];
    struct uiw_net_text peer;
    const char *cause;

    if (atomic_load_explicit(&base_log_level, memory_order_relaxed) < BASE_LOG_INFO)
        return;
    if (conn->remote.ss_family)
        peer = uiw_net_text(&conn->remote);
    else
        (void)uiw_log_peer_of(conn->fd, &peer);
    cause = log_cause(conn, text, sizeof(text));
    if (conn->ep)
        base_log(BASE_LOG_INFO, "ep %p: no connection with %s: %s while %s%s%s", (void *)conn->ep,
                 peer.chars, itx_reject_string(code), log_state_texts[conn->state],
                 *cause ? ": " : "", cause);
    else /* limited: a peer can cause many of these */
        base_log_limited(BASE_LOG_INFO, "%s: no connection with %s: %s while %s%s%s",
                         conn->ia->ual->name, peer.chars, itx_reject_string(code),
                         log_state_texts[conn->state], *cause ? ": " : "", cause);
}
