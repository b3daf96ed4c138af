/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CRC: what either side asks for, and what both do then. The capture of this test proves that
 * the CRC field really has a CRC.
 *
 * siw violates RFC 5044 in one point: as responder with mpa_crc_required it does not ask for CRC if
 * the initiator has not asked, and accepts the connection without it.
 */
#include <stdio.h>

#include "interop/siw.h"
#include "interop/wire.h"

enum outcome {
    WITHOUT, /* connected, no CRC */
    WITH,    /* connected, CRC both ways */
    REFUSED  /* siw forbids CRC and is strict about it */
};

static const struct row {
    bool ours; /* the library asks for CRC */
    int required;
    int strict;
    enum outcome active;
    enum outcome passive;
} rows[] = {
    {true, 0, 0, WITH, WITH},        {true, 1, 0, WITH, WITH},
    {true, 1, 1, WITH, WITH},        {true, 0, 1, REFUSED, REFUSED},
    {false, 0, 0, WITHOUT, WITHOUT}, {false, 0, 1, WITHOUT, WITHOUT},
    {false, 1, 0, WITHOUT, WITH},    {false, 1, 1, WITHOUT, WITH},
};

static struct itx_mpa_params mpa_with(const struct wire *host, bool crc)
{
    struct itx_mpa_params mpa = fx_mpa(host->ep);

    mpa.crc = crc ? IT_TRUE : IT_FALSE;
    return mpa;
}

static void check_connected(struct wire *wire, bool crc)
{
    wire_join(wire);
    CHECK_EQ(crc ? IT_TRUE : IT_FALSE, wire_mpa(wire).crc);
    wire_ping_from_there(wire, 1001);
    wire_ping_from_here(wire, 1001);
    wire_ping_from_there(wire, 70000);
    wire_ping_from_here(wire, 70000);
    wire_part(wire);
}

/* siw answers by itself with the reject bit and does not ask its application. */
static void check_rejected_actively(struct wire *wire)
{
    struct peer_answer answer;
    it_event_t event;

    peer_ask(wire->peer, &answer, "listen %s 0", wire->setup.place->theirs);
    wire->listener = (unsigned)peer_number(&answer, "listen");
    wire_call(wire, (uint16_t)peer_number(&answer, "port"));
    event = fx_conn(wire->node->conn_evd, wire->ep, IT_CM_MSG_CONN_PEER_REJECT_EVENT);
    CHECK_EQ(IT_FALSE, event.conn.private_data_present);
}

/*
 * siw refuses the library's Reply. The library is connected when it has written the Reply, and then
 * loses the peer.
 */
static void check_rejected_passively(struct wire *wire)
{
    wire_meet(wire);
    CHECK_OK(it_ep_accept(wire->ep, wire->request.conn_req.cn_est_id, NULL, 0));
    fx_conn(wire->node->conn_evd, wire->ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    fx_conn(wire->node->conn_evd, wire->ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    peer_hear_error(wire->peer, NULL, "rejected");
}

static void one_row(struct wire *host, const struct row *row, enum wire_role role)
{
    struct itx_mpa_params mpa = mpa_with(host, row->ours);
    struct wire_setup setup = {
        .place = host->setup.place, .role = role, .mpa = &mpa, .beside = host};
    enum outcome outcome = role == WIRE_ACTIVE ? row->active : row->passive;
    struct wire wire;
    char about[128];

    (void)snprintf(about, sizeof(about), "%s, we ask: %d, siw: required %d strict %d",
                   wire_name(&setup), row->ours, row->required, row->strict);
    check_context(about);
    siw_set("mpa_crc_required", row->required);
    siw_set("mpa_crc_strict", row->strict);
    wire_open(&wire, &setup);
    if (outcome == REFUSED && role == WIRE_ACTIVE) {
        check_rejected_actively(&wire);
    } else if (outcome == REFUSED) {
        check_rejected_passively(&wire);
    } else {
        wire_meet(&wire);
        check_connected(&wire, outcome == WITH);
    }
    wire_close(&wire);
    check_context(NULL);
}

int main(void)
{
    static const char *const names[] = {"same", "veth"};

    siw_begin();
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct wire_setup setup = {.place = place_named(names[i])};
        struct wire host;

        wire_open(&host, &setup);
        for (size_t j = 0; j < sizeof(rows) / sizeof(rows[0]); j++) {
            one_row(&host, &rows[j], WIRE_ACTIVE);
            one_row(&host, &rows[j], WIRE_PASSIVE);
        }
        wire_close(&host);
    }
    check_done();
    return 0;
}
