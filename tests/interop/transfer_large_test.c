/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages of 16 MiB, of every kind and in both directions. */
#include "interop/siw.h"
#include "interop/transfer.h"

#define LARGE ((size_t)16 << 20)

static void large(const char *place, enum wire_role role)
{
    struct wire_setup setup = {
        .place = place_named(place), .role = role, .peer_answer = "ird=4 ord=4"};
    struct transfer transfer;
    struct wire wire;

    wire_connect(&wire, &setup);
    wire_ping_from_there(&wire, 8); /* siw as initiator must speak first */
    transfer_open(&transfer, &wire, LARGE);
    for (int kind = 0; kind < TRANSFER_KINDS; kind++) {
        check_context(transfer_name((enum transfer_kind)kind));
        transfer_run(&transfer, (enum transfer_kind)kind, LARGE);
        check_context(NULL);
    }
    transfer_close(&transfer);
    wire_part(&wire);
    wire_close(&wire);
}

int main(void)
{
    siw_begin();
    large("same", WIRE_ACTIVE);
    large("veth", WIRE_ACTIVE);
    large("veth", WIRE_PASSIVE);
    check_done();
    return 0;
}
