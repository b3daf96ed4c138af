/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Paths with several MTUs, with and without segmentation offload, and with siw's own FPDUs that
 * span several segments: the library's size of FPDUs, and that all kinds of messages arrive.
 */
#include <stdio.h>

#include "interop/link.h"
#include "interop/siw.h"
#include "interop/transfer.h"

#define LARGEST ((size_t)300000)

static const struct path {
    int mtu;
    bool offload;
    int siw_gso;
} paths[] = {
    {1500, true, 0}, {1500, true, 1},  {1500, false, 0}, {1500, false, 1}, {9000, true, 0},
    {9000, true, 1}, {9000, false, 0}, {65535, true, 0}, {65535, true, 1}, {65535, false, 0},
};

/*
 * With small segments each FPDU fills one segment. On a path that is no Ethernet the FPDUs have the
 * largest size.
 */
static void check_ulpdu(const struct wire *wire, int mtu)
{
    uint32_t ulpdu = wire_mpa(wire).max_ulpdu;

    if (mtu > 16384) {
        CHECK(ulpdu > 16384);
    } else {
        CHECK(ulpdu <= (uint32_t)mtu - 40 - 2 - 4); /* IP, TCP, length, CRC */
        CHECK(ulpdu >= (uint32_t)mtu - 40 - 12 - 2 - 4 - 3 - 8);
    }
}

static void exercise(struct transfer *transfer)
{
    size_t full = wire_mpa(transfer->wire).max_ulpdu - 14;
    const size_t sizes[] = {1, full - 4, full, full + 1, 10 * full + 7, LARGEST};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        for (int kind = 0; kind < TRANSFER_KINDS; kind++) {
            if (sizes[i] <= LARGEST)
                transfer_run(transfer, (enum transfer_kind)kind, sizes[i]);
        }
    }
}

static void at(const struct path *path, enum wire_role role)
{
    struct wire_setup setup = {
        .place = place_named("veth"), .role = role, .peer_answer = "ird=4 ord=4"};
    struct transfer transfer;
    struct wire wire;
    char context[96];

    (void)snprintf(context, sizeof(context), "%s, MTU %d, offload %d, siw gso %d",
                   wire_name(&setup), path->mtu, path->offload, path->siw_gso);
    check_context(context);
    siw_set("try_gso", path->siw_gso);
    link_set_mtu(path->mtu);
    link_set_offload(path->offload);
    wire_connect(&wire, &setup);
    wire_ping_from_there(&wire, 8);
    check_ulpdu(&wire, path->mtu);
    transfer_open(&transfer, &wire, LARGEST);
    exercise(&transfer);
    transfer_close(&transfer);
    wire_part(&wire);
    wire_close(&wire);
    check_context(NULL);
}

int main(void)
{
    siw_begin();
    /* Each MTU is met in both roles. */
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
        at(&paths[i], i % 2 ? WIRE_PASSIVE : WIRE_ACTIVE);
    check_done();
    return 0;
}
