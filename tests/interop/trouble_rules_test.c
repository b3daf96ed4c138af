/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One side violates a rule. If it is the peer, the library sends a Terminate and raises the
 * affiliated event of events.md. If it is the library, siw's Terminate names the violation, in
 * siw's own order of bits. In both cases the connection is broken, posted requests are flushed, and
 * other connections continue.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "interop/siw.h"
#include "interop/wire.h"

#define SIZE ((size_t)4096)

struct bed {
    struct wire *host; /* stays whole */
    struct wire wire;  /* the connection that breaks */
    struct fx_buf ours;
    struct fx_buf not_ours; /* has no remote access */
    struct peer_mem theirs;
    struct peer_mem not_theirs;
};

/* Every request and receive of the library is flushed, except those in the table. */
struct rule {
    const char *name;
    void (*break_it)(struct bed *bed);
    it_event_type_t affiliated[2]; /* one of these */
    it_dto_status_t request; /* of the library's request; IT_DTO_SUCCESS: the peer broke the rule */
    it_dto_status_t receive; /* status of the first receive, if one is posted */
};

/* ---- The peer breaks it ---------------------------------------------------------------------- */

static void far_tagged(struct bed *bed, const char *what, size_t length, uint64_t address,
                       uint64_t key)
{
    const struct wire *wire = &bed->wire;

    peer_ask(wire->peer, NULL, "%s %u %u:0:%zu %s=0x%" PRIx64 " rkey=0x%" PRIx64 " id=40", what,
             wire->conn, bed->theirs.id, length, strcmp(what, "write") == 0 ? "to" : "from",
             address, key);
}

static void far_write_unknown(struct bed *bed)
{
    far_tagged(bed, "write", 100, fx_addr(&bed->ours, 0), bed->ours.key ^ 0x5a5a5a00u);
}

static void far_write_beyond(struct bed *bed)
{
    far_tagged(bed, "write", 100, fx_addr(&bed->ours, 0) + SIZE - 99, bed->ours.key);
}

static void far_write_before(struct bed *bed)
{
    far_tagged(bed, "write", 100, fx_addr(&bed->ours, 0) - 1, bed->ours.key);
}

static void far_write_no_right(struct bed *bed)
{
    far_tagged(bed, "write", 100, fx_addr(&bed->not_ours, 0), bed->not_ours.key);
}

static void far_read_unknown(struct bed *bed)
{
    far_tagged(bed, "read", 100, fx_addr(&bed->ours, 0), bed->ours.key ^ 0x5a5a5a00u);
}

static void far_read_beyond(struct bed *bed)
{
    far_tagged(bed, "read", 100, fx_addr(&bed->ours, 0) + SIZE - 99, bed->ours.key);
}

static void far_read_no_right(struct bed *bed)
{
    far_tagged(bed, "read", 100, fx_addr(&bed->not_ours, 0), bed->not_ours.key);
}

static void far_send_unexpected(struct bed *bed)
{
    peer_ask(bed->wire.peer, NULL, "send %u %u:0:10 id=40", bed->wire.conn, bed->theirs.id);
}

static void far_send_too_long(struct bed *bed)
{
    fx_recv(bed->wire.ep, &bed->ours, 0, 99, 50);
    peer_ask(bed->wire.peer, NULL, "send %u %u:0:100 id=40", bed->wire.conn, bed->theirs.id);
}

/* The message has several FPDUs, and the last one does not fit. */
static void far_send_too_long_at_last(struct bed *bed)
{
    fx_recv(bed->wire.ep, &bed->ours, 0, SIZE - 1, 50);
    peer_ask(bed->wire.peer, NULL, "send %u %u:0:%zu id=40", bed->wire.conn, bed->theirs.id, SIZE);
}

/* ---- We break it ---------------------------------------------------------------------------- */

static void near_tagged(struct bed *bed, bool write, size_t length, uint64_t address, uint32_t key)
{
    it_lmr_triplet_t segment = fx_seg(&bed->ours, 0, length);
    it_rdma_addr_t to = it_make_rdma_addr_absolute((void *)(uintptr_t)address);
    it_ep_handle_t ep = bed->wire.ep;

    if (write)
        CHECK_OK(it_post_rdma_write(ep, &segment, 1, 60, FX_SIGNAL, to, key));
    else
        CHECK_OK(it_post_rdma_read(ep, &segment, 1, 60, FX_SIGNAL, to, key));
}

static void near_write_unknown(struct bed *bed)
{
    near_tagged(bed, true, 100, bed->theirs.address, bed->theirs.rkey ^ 0x00770000u);
}

static void near_write_beyond(struct bed *bed)
{
    near_tagged(bed, true, 100, bed->theirs.address + SIZE - 99, bed->theirs.rkey);
}

static void near_write_no_right(struct bed *bed)
{
    near_tagged(bed, true, 100, bed->not_theirs.address, bed->not_theirs.rkey);
}

static void near_read_unknown(struct bed *bed)
{
    near_tagged(bed, false, 100, bed->theirs.address, bed->theirs.rkey ^ 0x00770000u);
}

static void near_read_beyond(struct bed *bed)
{
    near_tagged(bed, false, 100, bed->theirs.address + SIZE - 99, bed->theirs.rkey);
}

static void near_send_unexpected(struct bed *bed)
{
    fx_send(bed->wire.ep, &bed->ours, 0, 10, 60, FX_SIGNAL);
}

static void near_send_too_long(struct bed *bed)
{
    peer_ask(bed->wire.peer, NULL, "recv %u %u:0:99 id=41", bed->wire.conn, bed->theirs.id);
    fx_send(bed->wire.ep, &bed->ours, 0, 100, 60, FX_SIGNAL);
}

#define WRITE_ACCESS IT_ASYNC_AFF_EP_RDMAW_ACCESS_VIOLATION
#define READ_ACCESS  IT_ASYNC_AFF_EP_RDMAR_ACCESS_VIOLATION
#define RECV_ACCESS  IT_ASYNC_AFF_EP_L_RECV_ACCESS_VIOLATION
#define TRANSPORT    IT_ASYNC_AFF_EP_L_TRANSPORT_ERROR
#define FAR_ACCESS   IT_ASYNC_AFF_EP_R_ACCESS_VIOLATION
#define FAR_ERROR    IT_ASYNC_AFF_EP_R_ERROR
#define FAR_LENGTH   IT_ASYNC_AFF_EP_R_RECV_LENGTH_ERROR
#define PEERS_FAULT  IT_DTO_SUCCESS
#define FLUSHED      IT_DTO_ERR_FLUSHED

/*
 * A Write or Send of the library is complete when it has left, so it is either complete or flushed.
 * A Read fails with the status of the Terminate. siw reports a Send that is too long with 1/2/02,
 * like one without a receive.
 */
static const struct rule rules[] = {
    {"peer writes, unknown STag", far_write_unknown, {WRITE_ACCESS, 0}, PEERS_FAULT, 0},
    {"peer writes beyond the end", far_write_beyond, {WRITE_ACCESS, 0}, PEERS_FAULT, 0},
    {"peer writes before the start", far_write_before, {WRITE_ACCESS, 0}, PEERS_FAULT, 0},
    {"peer writes without the right", far_write_no_right, {WRITE_ACCESS, 0}, PEERS_FAULT, 0},
    {"peer reads, unknown STag", far_read_unknown, {READ_ACCESS, 0}, PEERS_FAULT, 0},
    {"peer reads beyond the end", far_read_beyond, {READ_ACCESS, 0}, PEERS_FAULT, 0},
    {"peer reads without the right", far_read_no_right, {READ_ACCESS, 0}, PEERS_FAULT, 0},
    {"peer sends, no receive", far_send_unexpected, {TRANSPORT, 0}, PEERS_FAULT, 0},
    {"peer sends too much",
     far_send_too_long,
     {TRANSPORT, RECV_ACCESS},
     PEERS_FAULT,
     IT_DTO_ERR_LOCAL_LENGTH},
    {"peer sends too much at last",
     far_send_too_long_at_last,
     {TRANSPORT, RECV_ACCESS},
     PEERS_FAULT,
     IT_DTO_ERR_LOCAL_LENGTH},
    {"we write, unknown STag", near_write_unknown, {FAR_ACCESS, 0}, FLUSHED, 0},
    {"we write beyond the end", near_write_beyond, {FAR_ACCESS, 0}, FLUSHED, 0},
    {"we write without the right", near_write_no_right, {FAR_ACCESS, 0}, FLUSHED, 0},
    {"we read, unknown STag", near_read_unknown, {FAR_ACCESS, 0}, IT_DTO_ERR_REMOTE_ACCESS, 0},
    {"we read beyond the end", near_read_beyond, {FAR_ACCESS, 0}, IT_DTO_ERR_REMOTE_ACCESS, 0},
    {"we send, no receive", near_send_unexpected, {FAR_ERROR, 0}, FLUSHED, 0},
    {"we send too much", near_send_too_long, {FAR_ERROR, FAR_LENGTH}, FLUSHED, 0},
};

/* ---- What must follow ----------------------------------------------------------------------- */

static void check_affiliated(const struct bed *bed, const struct rule *rule)
{
    it_event_t event = fx_next(bed->host->node->aff_evd);

    if (event.event_number != rule->affiliated[0] && event.event_number != rule->affiliated[1])
        CHECK_FAIL("%s instead of %s", itx_event_string(event.event_number),
                   itx_event_string(rule->affiliated[0]));
    CHECK(event.aff_async.cause.ep == bed->wire.ep);
    fx_empty(bed->host->node->aff_evd);
}

static void check_request(const struct bed *bed, const struct rule *rule)
{
    it_event_t event;

    if (rule->request == PEERS_FAULT)
        return;
    event = fx_next(bed->host->node->request_evd);
    CHECK(event.dto_cmpl.ep == bed->wire.ep);
    CHECK_EQ(60, event.dto_cmpl.cookie);
    if (rule->request != FLUSHED || event.dto_cmpl.dto_status != IT_DTO_SUCCESS)
        CHECK_EQ(rule->request, event.dto_cmpl.dto_status);
}

static void check_receive(const struct bed *bed, const struct rule *rule)
{
    if (rule->receive != IT_DTO_SUCCESS)
        fx_done(bed->host->node->recv_evd, bed->wire.ep, IT_DTO_RC_RECV_CMPL_EVENT, 50,
                rule->receive);
}

static void open_bed(struct bed *bed, struct wire *host)
{
    const struct fx_node *node = host->node;

    memset(bed, 0, sizeof(*bed));
    bed->host = host;
    bed->ours = fx_buf_make(node, SIZE);
    bed->not_ours = fx_buf_make_as(node->pz, SIZE, IT_PRIV_LOCAL, IT_ADDR_MODE_ABSOLUTE);
    bed->theirs = peer_mem_make(host->peer, SIZE, "lwr");
    bed->not_theirs = peer_mem_make(host->peer, SIZE, "lr");
}

static void close_bed(struct bed *bed)
{
    fx_buf_free(&bed->ours);
    fx_buf_free(&bed->not_ours);
    peer_ask(bed->host->peer, NULL, "free %u", bed->theirs.id);
    peer_ask(bed->host->peer, NULL, "free %u", bed->not_theirs.id);
}

static void break_rule(struct bed *bed, const struct rule *rule, enum wire_role role)
{
    struct wire_setup setup = {.place = bed->host->setup.place,
                               .role = role,
                               .beside = bed->host,
                               .peer_answer = "ird=4 ord=4"};
    struct wire *wire = &bed->wire;
    char context[128];

    (void)snprintf(context, sizeof(context), "%s, %s", rule->name, wire_name(&setup));
    check_context(context);
    wire_connect(wire, &setup);
    wire_ping_from_there(wire, 8);
    memset(bed->ours.data, 0, SIZE);
    memset(bed->not_ours.data, 0, SIZE);
    peer_ask(wire->peer, NULL, "fill %u 0 %zu 1", bed->theirs.id, SIZE);
    rule->break_it(bed);
    fx_conn(wire->node->conn_evd, wire->ep, IT_CM_MSG_CONN_BROKEN_EVENT);
    CHECK_EQ(IT_EP_STATE_NONOPERATIONAL, fx_ep_state(wire->ep));
    check_affiliated(bed, rule);
    check_request(bed, rule);
    check_receive(bed, rule);
    peer_ask(wire->peer, NULL, "wait %u disconnected " PEER_WAIT, wire->conn);
    if (rule->receive == IT_DTO_SUCCESS) { /* no octet of the forbidden transfer */
        CHECK(fx_is_byte(bed->ours.data, SIZE, 0));
        CHECK(fx_is_byte(bed->not_ours.data, SIZE, 0));
    }
    wire_close(wire);
    wire_ping_from_here(bed->host, 100);
    wire_ping_from_there(bed->host, 100);
    check_context(NULL);
}

int main(void)
{
    struct wire_setup setup = {.place = place_named("veth"), .role = WIRE_ACTIVE};
    struct wire host;
    struct bed bed;

    siw_begin();
    wire_connect(&host, &setup);
    open_bed(&bed, &host);
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        break_rule(&bed, &rules[i], WIRE_ACTIVE);
        break_rule(&bed, &rules[i], WIRE_PASSIVE);
    }
    close_bed(&bed);
    wire_part(&host);
    wire_close(&host);
    check_done();
    return 0;
}
