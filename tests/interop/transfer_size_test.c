/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every kind of message in both directions, with sizes around those at which something changes:
 * none, padding, the boundaries of FPDUs on an Ethernet (siw and the library fill segments), and
 * those of the large FPDUs of a loopback path.
 */
#include <stdio.h>

#include "interop/siw.h"
#include "interop/transfer.h"

#define UNTAGGED_HEADER 18u
#define TAGGED_HEADER   14u
#define LARGEST         ((size_t)262144)

static void at_size(struct transfer *transfer, size_t size)
{
    const char *name = wire_name(&transfer->wire->setup);

    for (int kind = 0; kind < TRANSFER_KINDS; kind++) {
        char context[128];

        (void)snprintf(context, sizeof(context), "%s, %s, %zu octets", name,
                       transfer_name((enum transfer_kind)kind), size);
        check_context(context);
        transfer_run(transfer, (enum transfer_kind)kind, size);
        check_context(NULL);
    }
}

/* Messages of one to three full FPDUs of this payload, and of one octet less and more. */
static void around(struct transfer *transfer, size_t payload)
{
    for (size_t i = 1; i <= 3; i++) {
        at_size(transfer, i * payload - 1);
        at_size(transfer, i * payload);
        at_size(transfer, i * payload + 1);
    }
}

static void all_sizes(const struct wire *wire)
{
    static const size_t sizes[] = {0, 1, 2, 3, 4, 5, 63, 4096, 65535, 65536, 65537, LARGEST};
    uint32_t ours = wire_mpa(wire).max_ulpdu;
    struct transfer transfer;

    transfer_open(&transfer, wire, LARGEST);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        at_size(&transfer, sizes[i]);
    around(&transfer, ours - UNTAGGED_HEADER);
    around(&transfer, ours - TAGGED_HEADER);
    transfer_close(&transfer);
}

int main(void)
{
    static const char *const names[] = {"same", "veth"};

    siw_begin();
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        for (int role = WIRE_ACTIVE; role <= WIRE_PASSIVE; role++) {
            struct wire_setup setup = {.place = place_named(names[i]),
                                       .role = (enum wire_role)role,
                                       .peer_answer = "ird=4 ord=4"};
            struct wire wire;

            wire_connect(&wire, &setup);
            wire_ping_from_there(&wire, 8); /* siw as initiator must speak first */
            all_sizes(&wire);
            wire_part(&wire);
            wire_close(&wire);
        }
    }
    check_done();
    return 0;
}
