/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Repeats it_handoff to a port where nobody listens while the peer of the request disconnects. Each
 * call finds the request unchanged or gone.
 */
#include <arpa/inet.h>

#include "support/it_fixture.h"
#include "support/raw_peer.h"

#define ROUNDS     60u
#define WATCHED_US 15000u /* the library watches a peer whose request has waited this long */

static it_cn_est_identifier_t come(const struct fx_node *node, uint16_t port, struct raw_peer *peer)
{
    RAW_BYTES(request);

    raw_connect(peer, port);
    raw_mpa1(&request, false, RAW_MPA_C);
    CHECK(raw_send(peer, &request));
    return fx_request(node, NULL);
}

/* The IA's thread looks for a request that a call has taken. */
static void peer_goes(const struct fx_node *node, uint16_t port)
{
    it_conn_qual_t nobody = {.type = IT_IANA_PORT, .conn_qual.port = htons(1)};
    struct fx_patience patience = fx_patience_start("the end of the peer");
    struct raw_peer peer;
    it_cn_est_identifier_t id = come(node, port, &peer);
    uint64_t watched_us = fx_now_us() + WATCHED_US;
    it_status_t status;

    while (fx_now_us() < watched_us)
        CHECK_STATUS(IT_ERR_INVALID_CONN_QUAL, it_handoff(&nobody, node->spigot, id));
    raw_close(&peer);
    while ((status = it_handoff(&nobody, node->spigot, id)) == IT_ERR_INVALID_CONN_QUAL) {
        if (fx_now_us() > patience.end_us)
            fx_patience_check(&patience);
    }
    CHECK_STATUS(IT_ERR_INVALID_CN_EST_ID, status);
    CHECK_STATUS(IT_ERR_INVALID_CN_EST_ID, it_reject(id, NULL, 0));
}

/* Refused handoffs do not prevent the accept of the request. */
static void peer_stays(const struct fx_node *node, uint16_t port)
{
    it_conn_qual_t nobody = {.type = IT_IANA_PORT, .conn_qual.port = htons(1)};
    struct raw_mpa_frame reply;
    struct raw_peer peer;
    it_cn_est_identifier_t id = come(node, port, &peer);

    for (unsigned i = 0; i < 100; i++)
        CHECK_STATUS(IT_ERR_INVALID_CONN_QUAL, it_handoff(&nobody, node->spigot, id));
    CHECK_OK(it_reject(id, NULL, 0));
    CHECK_EQ(RAW_OK, raw_receive_mpa(&peer, &reply));
    raw_close(&peer);
}

int main(void)
{
    struct fx_node node;
    uint16_t port = 0;

    fx_node_open(&node);
    (void)fx_listen(&node, &port);
    for (unsigned i = 0; i < ROUNDS; i++) {
        peer_goes(&node, port);
        peer_stays(&node, port);
    }
    fx_empty(node.listen_evd);
    fx_node_close(&node);
    check_done();
    return 0;
}
