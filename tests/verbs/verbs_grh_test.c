/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where a datagram comes from: each kind of header, in front of the data of each kind of receive,
 * and completions that have none.
 */
#include "support/check.h"
#include "support/it_fixture.h"

#include "vp/verbs/complete/verbs_complete.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <string.h>

#define PIECES  4u
#define PAYLOAD 24u
#define SENDER  77u

static struct verbs_ep ep;
static struct verbs_ud ud;
static struct verbs_slot slots[2];
static struct verbs_ud_piece pieces[2 * PIECES];
static struct evd_datagram datagrams[2];
static unsigned char memory[UD_HEADER + PAYLOAD];

static void start(void)
{
    memset(&ep, 0, sizeof(ep));
    memset(memory, 0xee, sizeof(memory)); /* what the device does not write */
    ud = (struct verbs_ud){
        .port = 1, .piece_count = PIECES, .pieces = pieces, .datagrams = datagrams};
    ep.ud = &ud;
    ep.rq.ep = &ep;
    ep.rq.slots = slots;
}

TestSuite(verbs_grh, .init = start);

/* Posts a receive into the second slot, of segments of these lengths, which end with a 0. */
static void post(const size_t *lengths)
{
    it_lmr_triplet_t segments[PIECES + 2];
    size_t count = 0, at = 0;

    for (; lengths[count] > 0; at += lengths[count++]) {
        segments[count].addr.abs = memory + at;
        segments[count].length = lengths[count];
    }
    verbs_ud_note(&ep.rq, &slots[1], segments, count);
}

static void post_whole(void)
{
    static const size_t lengths[] = {sizeof(memory), 0};

    post(lengths);
}

/* A header of IPv6, which a GRH is, too: traffic class 0x5a, flow label 0x12345. */
static void write_grh(const char *from, const char *to)
{
    static const unsigned char first[] = {0x65, 0xa1, 0x23, 0x45};

    memcpy(memory, first, sizeof(first));
    CHECK_EQ(1, inet_pton(AF_INET6, from, memory + 8));
    CHECK_EQ(1, inet_pton(AF_INET6, to, memory + 24));
}

/* Behind 20 octets that mean nothing. The checksum is right, or it is not. */
static void write_ipv4(bool right)
{
    static const unsigned char header[20] = {0x45, 0x5a, 0,   60, 0, 0, 0,   0, 64, 17,
                                             0,    0,    192, 0,  2, 1, 192, 0, 2,  2};
    uint32_t sum = 0;

    memcpy(memory + 20, header, sizeof(header));
    for (size_t i = 0; i < sizeof(header); i += 2)
        sum += (uint32_t)header[i] << 8 | header[i + 1];
    sum = ~((sum & 0xffff) + (sum >> 16)) + (right ? 0 : 1);
    memory[30] = (unsigned char)(sum >> 8);
    memory[31] = (unsigned char)sum;
}

static struct evd_dto complete(unsigned flags)
{
    struct ibv_wc wc = {
        .byte_len = sizeof(memory), .wc_flags = flags, .src_qp = SENDER, .slid = 5, .sl = 3};
    struct evd_dto dto = {.length = 0};

    verbs_ud_tell(&ep, &slots[1], &wc, &dto);
    CHECK_EQ(PAYLOAD, dto.length);
    CHECK(dto.datagram == &datagrams[1]);
    CHECK_EQ(SENDER, dto.datagram->ep_id);
    CHECK_EQ(1, dto.datagram->path.spigot_id);
    CHECK_EQ(5, dto.datagram->path.remote.ib.remote_port_lid);
    CHECK_EQ(3, dto.datagram->path.remote.ib.sl);
    return dto;
}

static void expect_from(const struct evd_dto *dto, const char *from, const char *to)
{
    const it_ib_net_endpoint_t *ib = &dto->datagram->path.remote.ib;
    char text[2][INET6_ADDRSTRLEN];

    CHECK_EQ(IT_UD_IB_GRH_PRESENT, dto->datagram->flags);
    CHECK_EQ(0, ib->subnet_local);
    CHECK_EQ(0x5a, ib->traffic_class);
    CHECK(inet_ntop(AF_INET6, &ib->remote_port_gid, text[0], sizeof(text[0])));
    CHECK(inet_ntop(AF_INET6, &ib->local_port_gid, text[1], sizeof(text[1])));
    cr_assert_str_eq(text[0], from);
    cr_assert_str_eq(text[1], to);
}

Test(verbs_grh, a_header_of_infiniband)
{
    struct evd_dto dto;

    post_whole();
    write_grh("fe80::1", "2001:db8::2");
    dto = complete(IBV_WC_GRH);
    expect_from(&dto, "fe80::1", "2001:db8::2");
    CHECK_EQ(0x12345, dto.datagram->path.remote.ib.flow_label);
}

/* Only the completion says so: what is in the memory does not count. */
Test(verbs_grh, none_on_infiniband)
{
    static const it_ib_gid_t none;
    const it_ib_net_endpoint_t *ib = &datagrams[1].path.remote.ib;
    struct evd_dto dto;

    post_whole();
    write_grh("fe80::1", "2001:db8::2");
    (void)complete(IBV_WC_GRH); /* of which nothing may be left */
    dto = complete(0);
    CHECK_EQ(0, dto.datagram->flags);
    CHECK_EQ(1, ib->subnet_local);
    CHECK_EQ(0, ib->flow_label);
    CHECK_EQ(0, ib->traffic_class);
    CHECK_EQ(0, ib->hop_limit);
    CHECK_EQ(0, memcmp(&ib->remote_port_gid, &none, sizeof(none)));
}

/* On Ethernet each datagram has one, whatever the completion says. */
Test(verbs_grh, ipv6_on_ethernet)
{
    struct evd_dto dto;

    ud.on_ethernet = true;
    post_whole();
    write_grh("2001:db8::1", "2001:db8::2");
    dto = complete(0);
    expect_from(&dto, "2001:db8::1", "2001:db8::2");
}

Test(verbs_grh, ipv4_on_ethernet)
{
    struct evd_dto dto;

    ud.on_ethernet = true;
    post_whole();
    write_ipv4(true);
    dto = complete(IBV_WC_GRH);
    expect_from(&dto, "::ffff:192.0.2.1", "::ffff:192.0.2.2");
    CHECK_EQ(0, dto.datagram->path.remote.ib.flow_label);
}

/* The octets before an IPv4 header may look like the beginning of a GRH: the checksum decides. */
Test(verbs_grh, ipv4_behind_what_looks_like_a_header)
{
    struct evd_dto dto;

    ud.on_ethernet = true;
    post_whole();
    write_grh("::", "::");
    write_ipv4(true);
    dto = complete(IBV_WC_GRH);
    expect_from(&dto, "::ffff:192.0.2.1", "::ffff:192.0.2.2");
    write_ipv4(false);
    dto = complete(IBV_WC_GRH);
    CHECK_EQ(0x12345, dto.datagram->path.remote.ib.flow_label);
}

/* An IPv4 header with options does not fit, so octets of addresses can only look like one. */
Test(verbs_grh, addresses_that_look_like_ipv4)
{
    struct evd_dto dto;

    ud.on_ethernet = true;
    post_whole();
    write_grh("::", "::");
    write_ipv4(true);
    memory[20]++; /* the checksum stays right */
    memory[30]--;
    dto = complete(IBV_WC_GRH);
    CHECK_EQ(0x12345, dto.datagram->path.remote.ib.flow_label);
}

/* InfiniBand knows no IPv4 header. */
Test(verbs_grh, what_looks_like_ipv4_on_infiniband)
{
    struct evd_dto dto;

    post_whole();
    write_grh("::", "::");
    write_ipv4(true);
    dto = complete(IBV_WC_GRH);
    CHECK_EQ(0x12345, dto.datagram->path.remote.ib.flow_label);
}

/* The header lies in several segments; those behind the last that can have a part do not count. */
Test(verbs_grh, in_pieces)
{
    static const size_t rows[][PIECES + 2] = {
        {UD_HEADER, PAYLOAD, 0}, {1, 2, 3, UD_HEADER + PAYLOAD - 6, 0},
        {20, 20, PAYLOAD, 0},    {10, 10, 10, 10, PAYLOAD, 0},
        {39, PAYLOAD + 1, 0},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct evd_dto dto;

        post(rows[i]);
        write_grh("fe80::1", "2001:db8::2");
        dto = complete(IBV_WC_GRH);
        expect_from(&dto, "fe80::1", "2001:db8::2");
    }
}

/* Less memory than a header takes: nothing is read from elsewhere, also not from an older post. */
Test(verbs_grh, in_a_receive_that_is_too_short)
{
    static const size_t older[] = {10, 10, 10, 10, PAYLOAD, 0};
    static const size_t lengths[] = {10, 10, 19, 0};
    struct evd_dto dto;

    post(older);
    post(lengths);
    write_grh("fe80::1", "2001:db8::2");
    dto = complete(IBV_WC_GRH);
    CHECK_EQ(0, dto.datagram->flags);
}

Test(verbs_grh, of_completions_without_data)
{
    struct ibv_wc failed = {.status = IBV_WC_WR_FLUSH_ERR, .byte_len = 100};
    struct ibv_wc short_one = {.byte_len = UD_HEADER - 1};
    struct evd_dto dto = {.length = 9, .datagram = &datagrams[1]};

    post_whole();
    verbs_ud_tell(&ep, &slots[1], &failed, &dto);
    CHECK(dto.datagram == NULL);
    CHECK_EQ(9, dto.length);
    verbs_ud_tell(&ep, &slots[1], &short_one, &dto);
    CHECK(dto.datagram == &datagrams[1]);
    CHECK_EQ(0, dto.length);
}
