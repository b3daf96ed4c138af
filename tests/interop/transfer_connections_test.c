/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * 64 connections between one IA and one peer program at once. Either side has made half of them.
 * All carry data at the same time, and each gets its own.
 */

#include "interop/siw.h"
#include "interop/transfer.h"

#define WIRES 64u
#define SIZE  ((size_t)20000)

struct bed {
    struct wire wires[WIRES];
    struct transfer transfers[WIRES];
};

static void open_all(struct bed *bed)
{
    for (unsigned i = 0; i < WIRES; i++) {
        struct wire_setup setup = {.place = place_named("veth"),
                                   .role = i % 2 ? WIRE_PASSIVE : WIRE_ACTIVE,
                                   .beside = i > 0 ? &bed->wires[0] : NULL,
                                   .peer_setup = "sq=4 rq=4",
                                   .peer_answer = "ird=4 ord=4"};

        wire_connect(&bed->wires[i], &setup);
        wire_ping_from_there(&bed->wires[i], 8);
        transfer_open(&bed->transfers[i], &bed->wires[i], SIZE);
        bed->transfers[i].next_seed = 1000 * i;
    }
}

static unsigned index_of(const struct bed *bed, it_ep_handle_t ep)
{
    for (unsigned i = 0; i < WIRES; i++) {
        if (bed->wires[i].ep == ep)
            return i;
    }
    CHECK_FAIL("a completion of no endpoint of these");
}

/* Takes one completion of each connection, in any order. */
static void collect(const struct bed *bed, it_evd_handle_t evd, it_event_type_t number)
{
    bool seen[WIRES] = {false};

    for (unsigned n = 0; n < WIRES; n++) {
        it_event_t event = fx_next(evd);
        unsigned i = index_of(bed, event.dto_cmpl.ep);

        CHECK_EQ(number, event.event_number);
        CHECK_EQ(IT_DTO_SUCCESS, event.dto_cmpl.dto_status);
        CHECK_EQ(TRANSFER_ID, event.dto_cmpl.cookie);
        CHECK_EQ(SIZE, event.dto_cmpl.transferred_length);
        CHECK(!seen[i]);
        seen[i] = true;
    }
}

static void collect_ours(const struct bed *bed, enum transfer_kind kind)
{
    const struct fx_node *node = bed->wires[0].node;

    if (kind == TRANSFER_SEND_OUT)
        collect(bed, node->request_evd, IT_DTO_SEND_CMPL_EVENT);
    else if (kind == TRANSFER_SEND_IN)
        collect(bed, node->recv_evd, IT_DTO_RC_RECV_CMPL_EVENT);
    else if (kind == TRANSFER_READ_IN)
        collect(bed, node->request_evd, IT_DTO_RDMA_READ_CMPL_EVENT);
}

/* All messages are posted before the first is checked. */
static void all_at_once(struct bed *bed, enum transfer_kind kind)
{
    check_context(transfer_name(kind));
    for (unsigned i = 0; i < WIRES; i++)
        transfer_prepare(&bed->transfers[i], kind, SIZE);
    for (unsigned i = 0; i < WIRES; i++)
        transfer_post(&bed->transfers[i], kind, SIZE);
    collect_ours(bed, kind);
    for (unsigned i = 0; i < WIRES; i++) {
        if (kind != TRANSFER_READ_IN)
            wire_far_done(&bed->wires[i], TRANSFER_ID, "SUCCESS");
        transfer_check(&bed->transfers[i], kind, SIZE);
    }
    check_context(NULL);
}

/* The end of one connection does not affect the others. */
static void close_all(struct bed *bed)
{
    for (unsigned i = WIRES; i-- > 0;) {
        if (i > 0)
            transfer_run(&bed->transfers[i - 1], TRANSFER_SEND_OUT, SIZE);
        transfer_close(&bed->transfers[i]);
        if (i % 4 < 2)
            wire_part(&bed->wires[i]);
        else
            wire_part_from_there(&bed->wires[i]);
        wire_close(&bed->wires[i]);
    }
}

int main(void)
{
    static struct bed bed;

    siw_begin();
    open_all(&bed);
    all_at_once(&bed, TRANSFER_SEND_OUT);
    all_at_once(&bed, TRANSFER_SEND_IN);
    all_at_once(&bed, TRANSFER_READ_OUT);
    all_at_once(&bed, TRANSFER_READ_IN);
    close_all(&bed);
    check_done();
    return 0;
}
