/* SPDX-License-Identifier: BSD-2-Clause */
#include "hostile/hostile_kit.h"

#include <string.h>
#include <unistd.h>

const struct hk_startup hk_plain = {1, RAW_MPA_C, 0};

const char *hk_role_name(enum hk_role role)
{
    static const char *const names[] = {"listener", "connect", "convert as responder",
                                        "convert as initiator"};

    return names[role];
}

bool hk_victim_initiates(enum hk_role role)
{
    return role == HK_CONNECT || role == HK_CONVERT_INITIATOR;
}

/* ---- The IA under attack -------------------------------------------------------------------- */

void hk_open(struct hk *kit)
{
    memset(kit, 0, sizeof(*kit));
    fx_pair_open(&kit->good);
    kit->node = kit->good.a;
    kit->listener = fx_listen(&kit->node, &kit->port);
    hk_healthy(kit);
    kit->fds = fx_fd_count();
}

void hk_close(struct hk *kit)
{
    hk_healthy(kit);
    hk_quiet(kit);
    fx_fd_settle(kit->fds);
    fx_pair_close(&kit->good);
}

void hk_healthy(struct hk *kit)
{
    fx_pair_ping(&kit->good);
}

void hk_quiet(struct hk *kit)
{
    fx_empty(kit->node.conn_evd);
    fx_empty(kit->node.listen_evd);
    fx_empty(kit->node.aff_evd);
    fx_empty(kit->node.recv_evd);
    fx_empty(kit->node.request_evd);
}

/* ---- Victims -------------------------------------------------------------------------------- */

static void start_connect(struct hk *kit, struct hk_victim *victim)
{
    uint16_t port = 0;
    int listener = raw_listen(&port);

    fx_connect(&kit->node, victim->ep, port);
    raw_accept(&victim->peer, listener);
    (void)close(listener);
}

static void start_convert(struct hk_victim *victim)
{
    char message[HK_LAST_MESSAGE_LEN];
    int fd = -1;

    raw_socket_pair(&victim->peer, &fd);
    if (victim->role == HK_CONVERT_RESPONDER) {
        CHECK_OK(it_socket_convert(fd, victim->ep, IT_SC_DEFAULT,
                                   (const unsigned char *)HK_LAST_MESSAGE, HK_LAST_MESSAGE_LEN));
        CHECK_EQ(RAW_OK, raw_receive(&victim->peer, message, sizeof(message), NULL));
        CHECK(memcmp(message, HK_LAST_MESSAGE, sizeof(message)) == 0);
    } else {
        CHECK_OK(it_socket_convert(fd, victim->ep, IT_SC_DEFAULT, NULL, 0));
    }
    (void)close(fd);
}

void hk_victim_start(struct hk *kit, struct hk_victim *victim, it_ep_handle_t ep, enum hk_role role)
{
    memset(victim, 0, sizeof(*victim));
    victim->kit = kit;
    victim->ep = ep;
    victim->role = role;
    victim->peer.fd = -1;
    if (role == HK_LISTEN)
        raw_connect(&victim->peer, kit->port);
    else if (role == HK_CONNECT)
        start_connect(kit, victim);
    else
        start_convert(victim);
}

static void add_startup(struct raw_bytes *out, bool reply, const struct hk_startup *startup)
{
    if (startup->revision == 2)
        raw_mpa2(out, reply, startup->flags, startup->word);
    else
        raw_mpa1(out, reply, startup->flags);
}

static void receive_theirs(struct hk_victim *victim, bool reply)
{
    enum raw_result result = raw_receive_mpa(&victim->peer, &victim->theirs);

    if (result != RAW_OK)
        CHECK_FAIL("startup frame: %s %s", raw_result_name(result), victim->peer.error);
    CHECK_EQ(reply, victim->theirs.reply);
}

/* Sets the parameters so that the Reply of this startup answers the library's Request. */
static void match_settings(it_ep_handle_t ep, enum hk_role role, const struct hk_startup *startup)
{
    struct itx_mpa_params params = fx_mpa(ep);

    if (!hk_victim_initiates(role))
        return;
    params.revision = startup->revision;
    params.peer_to_peer = (startup->word & RAW_ENH_A) != 0 ? IT_TRUE : IT_FALSE;
    if ((startup->flags & RAW_MPA_C) == 0)
        params.crc = IT_FALSE;
    CHECK_OK(itx_ep_set_mpa_params(ep, &params));
}

void hk_victim_of(struct hk *kit, struct hk_victim *victim, it_ep_handle_t ep, enum hk_role role,
                  const struct hk_startup *startup)
{
    RAW_BYTES(frame);

    match_settings(ep, role, startup);
    hk_victim_start(kit, victim, ep, role);
    add_startup(&frame, hk_victim_initiates(role), startup);
    if (hk_victim_initiates(role)) {
        receive_theirs(victim, false);
        CHECK(raw_send(&victim->peer, &frame));
    } else {
        CHECK(raw_send(&victim->peer, &frame));
        if (role == HK_LISTEN)
            CHECK_OK(it_ep_accept(ep, fx_request(&kit->node, NULL), NULL, 0));
        receive_theirs(victim, true);
        CHECK((victim->theirs.flags & RAW_MPA_R) == 0);
    }
    victim->peer.crc = ((startup->flags | victim->theirs.flags) & RAW_MPA_C) != 0;
    victim->peer.markers = (startup->flags & RAW_MPA_M) != 0;
    if (!hk_victim_initiates(role) && (startup->word & RAW_ENH_A) != 0)
        hk_wake(victim);
    fx_conn(kit->node.conn_evd, ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
}

void hk_victim(struct hk *kit, struct hk_victim *victim, enum hk_role role,
               const struct hk_startup *startup)
{
    hk_victim_of(kit, victim, fx_ep(&kit->node, NULL), role, startup);
}

void hk_victim_close(struct hk_victim *victim)
{
    raw_close(&victim->peer);
    CHECK_OK(it_ep_free(victim->ep));
    victim->ep = NULL;
}

void hk_wake(struct hk_victim *victim)
{
    RAW_BYTES(ulpdu);

    raw_tagged(&ulpdu, RAW_WRITE, 1, 0, NULL, 0, true);
    CHECK(raw_send_ulpdu(&victim->peer, &ulpdu));
}

/* ---- What comes of it ----------------------------------------------------------------------- */

unsigned hk_code(const struct raw_segment *terminate)
{
    CHECK(terminate->len >= 4);
    return (unsigned)terminate->payload[0] << 8 | terminate->payload[1];
}

/* Returns whether a Terminate with this code must carry headers (sheet C.2). */
static bool wants_header(unsigned code)
{
    unsigned layer = code >> 12;
    unsigned type = code >> 8 & 0xfu;

    if (layer == 1 && type != 0)
        return code != 0x1104 && code != 0x1206;
    return layer == 0 && type == 1;
}

static void check_copies(const struct raw_segment *terminate, const struct raw_bytes *offender,
                         unsigned code)
{
    const unsigned char *p = terminate->payload;
    size_t header = (offender->data[0] & 0x80u) != 0 ? 14 : 18;
    bool read_request = (offender->data[1] & 0x0fu) == RAW_READ_REQUEST;
    bool rdma = code >> 8 == 0x01 && read_request;

    EXPECT_EQ(rdma ? 0xe0 : 0xc0, p[2]);
    EXPECT_EQ(6 + header + (rdma ? 28u : 0u), terminate->len);
    if (terminate->len < 6 + header)
        return;
    EXPECT_EQ(offender->len, raw_be16(p + 4));
    EXPECT(memcmp(p + 6, offender->data, header) == 0);
    if (rdma && terminate->len >= 6 + header + 28)
        EXPECT(memcmp(p + 6 + header, offender->data + header, 28) == 0);
}

static void check_terminate(const struct raw_segment *terminate, const struct raw_bytes *offender)
{
    unsigned code = hk_code(terminate);

    EXPECT_EQ(2, terminate->qn);
    EXPECT_EQ(1, terminate->msn);
    EXPECT_EQ(0, terminate->mo);
    EXPECT_EQ(true, terminate->last);
    EXPECT_EQ(0, terminate->stag);
    EXPECT_EQ(0, terminate->payload[2] & 0x1fu);
    EXPECT_EQ(0, terminate->payload[3]);
    if (wants_header(code) && offender != NULL)
        check_copies(terminate, offender, code);
    else if (!wants_header(code) && (code >> 12 == 2 || code >> 8 == 0 || code == 0x1104))
        EXPECT_EQ(0, terminate->payload[2]);
}

unsigned hk_terminated(struct hk_victim *victim, const struct raw_bytes *offender)
{
    static struct raw_segment segment;
    enum raw_result result;

    do
        result = raw_receive_fpdu(&victim->peer, &segment);
    while (result == RAW_OK && segment.op != RAW_TERMINATE);
    if (result != RAW_OK) {
        check_note(__FILE__, __LINE__, "no Terminate: %s %s", raw_result_name(result),
                   victim->peer.error);
        return 0;
    }
    check_terminate(&segment, offender);
    result = raw_drain(&victim->peer);
    if (result != RAW_EOF)
        check_note(__FILE__, __LINE__, "after the Terminate: %s", raw_result_name(result));
    return hk_code(&segment);
}

void hk_ended(struct hk_victim *victim, it_event_type_t number)
{
    it_event_t event = fx_next(victim->kit->node.conn_evd);

    if (event.event_number != number)
        check_note(__FILE__, __LINE__, "%s instead of %s", itx_event_string(event.event_number),
                   itx_event_string(number));
    EXPECT(event.conn.ep == victim->ep);
    EXPECT_EQ(IT_EP_STATE_NONOPERATIONAL, fx_ep_state(victim->ep));
}

void hk_affiliated(struct hk_victim *victim, it_event_type_t one, it_event_type_t other)
{
    it_event_t event = fx_next(victim->kit->node.aff_evd);

    if (event.event_number != one && event.event_number != other)
        check_note(__FILE__, __LINE__, "%s instead of %s or %s",
                   itx_event_string(event.event_number), itx_event_string(one),
                   itx_event_string(other));
    EXPECT(event.aff_async.cause.ep == victim->ep);
}

void hk_part(struct hk_victim *victim)
{
    raw_finish(&victim->peer);
    hk_ended(victim, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    hk_victim_close(victim);
}
