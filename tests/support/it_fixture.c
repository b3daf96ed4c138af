/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/it_fixture.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PAGE ((size_t)4096)

/* ---- Time ----------------------------------------------------------------------------------- */

uint64_t fx_now_us(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

struct fx_patience fx_patience_start(const char *what)
{
    struct fx_patience patience = {fx_now_us() + FX_PATIENCE_MS * 1000ull, what};

    return patience;
}

void fx_patience_check(const struct fx_patience *patience)
{
    struct timespec nap = {0, 100000};

    if (fx_now_us() > patience->end_us)
        CHECK_FAIL("not in time: %s", patience->what);
    (void)nanosleep(&nap, NULL);
}

/* ---- One IA --------------------------------------------------------------------------------- */

it_evd_handle_t fx_evd(const struct fx_node *node, it_event_type_t stream, size_t size,
                       size_t threshold)
{
    it_evd_handle_t evd = NULL;

    CHECK_OK(it_evd_create(node->ia, stream, (it_evd_flags_t)0, size, threshold, NULL, &evd, NULL));
    return evd;
}

it_net_addr_t fx_address_from(const char *text)
{
    it_net_addr_t address;

    memset(&address, 0, sizeof(address));
    if (inet_pton(AF_INET, text, &address.addr.ipv4) == 1)
        address.addr_type = IT_IPV4;
    else if (inet_pton(AF_INET6, text, &address.addr.ipv6) == 1)
        address.addr_type = IT_IPV6;
    else
        CHECK_FAIL("%s is not an address", text);
    return address;
}

it_net_addr_t fx_address(void)
{
    const char *text = getenv("ITAPI_TEST_ADDRESS");

    return fx_address_from(text != NULL ? text : "127.0.0.1");
}

static bool has_address(const it_spigot_info_t *spigot, const it_net_addr_t *address)
{
    size_t length =
        address->addr_type == IT_IPV4 ? sizeof(address->addr.ipv4) : sizeof(address->addr.ipv6);

    for (size_t i = 0; i < spigot->num_net_addr; i++) {
        const it_net_addr_t *own = &spigot->net_addr[i];

        if (own->addr_type == address->addr_type && memcmp(&own->addr, &address->addr, length) == 0)
            return true;
    }
    return false;
}

static bool reaches(it_ia_handle_t ia, size_t spigot, const it_net_addr_t *address)
{
    size_t room = 0;
    size_t total = 0;

    CHECK_OK(it_get_pathinfo(ia, spigot, address, &room, &total, NULL));
    return total != 0;
}

static size_t own_spigot(it_ia_handle_t ia)
{
    it_net_addr_t address = fx_address();
    it_ia_info_t *info = NULL;
    size_t spigot = 0;
    bool found = false;

    CHECK_OK(it_ia_query(ia, &info));
    for (size_t i = 0; i < info->num_spigots && !found; i++) {
        spigot = info->spigot_info[i].spigot_id;
        found = has_address(&info->spigot_info[i], &address);
    }
    for (size_t i = 0; i < info->num_spigots && !found; i++) {
        spigot = info->spigot_info[i].spigot_id;
        found = reaches(ia, spigot, &address);
    }
    it_ia_info_free(info);
    if (!found)
        CHECK_FAIL("no Spigot has the address of this test, or a path to it");
    return spigot;
}

const char *fx_interface(void)
{
    const char *name = getenv("ITAPI_TEST_INTERFACE");

    return name != NULL ? name : "uiwarp";
}

struct itx_counters fx_counters(const struct fx_node *node)
{
    struct itx_counters now = {.size = sizeof(now)};

    CHECK_OK(itx_ia_stats(node->ia, &now));
    return now;
}

void fx_node_open_sized(struct fx_node *node, size_t events)
{
    memset(node, 0, sizeof(*node));
    CHECK_OK(it_ia_create(fx_interface(), 2, 1, &node->ia));
    CHECK_OK(it_pz_create(node->ia, &node->pz));
    node->request_evd = fx_evd(node, IT_DTO_EVENT_STREAM, events, IT_THRESHOLD_DISABLE);
    node->recv_evd = fx_evd(node, IT_DTO_EVENT_STREAM, events, IT_THRESHOLD_DISABLE);
    node->conn_evd = fx_evd(node, IT_CM_MSG_EVENT_STREAM, 256, IT_THRESHOLD_DISABLE);
    node->listen_evd = fx_evd(node, IT_CM_REQ_EVENT_STREAM, 256, IT_THRESHOLD_DISABLE);
    node->aff_evd = fx_evd(node, IT_ASYNC_AFF_EVENT_STREAM, 256, IT_THRESHOLD_DISABLE);
    node->spigot = own_spigot(node->ia);
}

void fx_node_open(struct fx_node *node)
{
    fx_node_open_sized(node, 512);
}

/* ---- Memory --------------------------------------------------------------------------------- */

static struct fx_buf buf_of(void *data, it_pz_handle_t pz, size_t size, it_mem_priv_t privs,
                            it_addr_mode_t mode)
{
    struct fx_buf buf = {.data = data, .size = size, .mode = mode};

    CHECK(buf.data != NULL);
    CHECK_OK(it_lmr_create21(pz, buf.data, NULL, size, mode, privs, IT_LMR_FLAG_NONE, 0, &buf.lmr,
                             &buf.key));
    return buf;
}

struct fx_buf fx_buf_make_as(it_pz_handle_t pz, size_t size, it_mem_priv_t privs,
                             it_addr_mode_t mode)
{
    return buf_of(calloc(1, size), pz, size, privs, mode);
}

struct fx_buf fx_buf_make_paged(const struct fx_node *node, size_t size)
{
    void *data = aligned_alloc(PAGE, (size + PAGE - 1) / PAGE * PAGE);

    return buf_of(data, node->pz, size, FX_PRIVS_ALL, IT_ADDR_MODE_ABSOLUTE);
}

struct fx_buf fx_buf_make(const struct fx_node *node, size_t size)
{
    return fx_buf_make_as(node->pz, size, FX_PRIVS_ALL, IT_ADDR_MODE_ABSOLUTE);
}

void fx_buf_free(struct fx_buf *buf)
{
    if (buf->lmr != NULL)
        CHECK_OK(it_lmr_free(buf->lmr));
    free(buf->data);
    memset(buf, 0, sizeof(*buf));
}

/* Buffers that fx_node_close frees with their node. */
static struct {
    it_ia_handle_t ia; /* NULL: the entry is free */
    struct fx_buf buf;
} owned[32];

struct fx_buf fx_node_buf(const struct fx_node *node, size_t size)
{
    size_t i = 0;

    while (owned[i].ia != NULL)
        CHECK(++i < sizeof(owned) / sizeof(owned[0]));
    owned[i].ia = node->ia;
    owned[i].buf = fx_buf_make(node, size);
    return owned[i].buf;
}

static void free_bufs(const struct fx_node *node)
{
    for (size_t i = 0; i < sizeof(owned) / sizeof(owned[0]); i++) {
        if (owned[i].ia == node->ia) {
            fx_buf_free(&owned[i].buf);
            owned[i].ia = NULL;
        }
    }
}

void fx_node_close(struct fx_node *node)
{
    free_bufs(node);
    CHECK_OK(it_ia_free(node->ia));
    memset(node, 0, sizeof(*node));
}

it_lmr_triplet_t fx_seg(const struct fx_buf *buf, size_t offset, size_t length)
{
    it_lmr_triplet_t segment;

    memset(&segment, 0, sizeof(segment));
    segment.lmr = buf->lmr;
    segment.length = length;
    if (buf->mode == IT_ADDR_MODE_RELATIVE)
        segment.addr.rel = offset;
    else
        segment.addr.abs = (void *)((uintptr_t)buf->data + offset);
    return segment;
}

it_rdma_addr_t fx_addr(const struct fx_buf *buf, size_t offset)
{
    if (buf->mode == IT_ADDR_MODE_RELATIVE)
        return it_make_rdma_addr_relative(offset);
    return it_make_rdma_addr_absolute((void *)((uintptr_t)buf->data + offset));
}

static unsigned char pattern_at(size_t place, uint32_t seed)
{
    uint64_t mixed = ((uint64_t)place + 1) * 0x9e3779b97f4a7c15ull + seed * 0xc2b2ae3d27d4eb4full;

    return (unsigned char)(mixed >> 40);
}

void fx_fill(void *memory, size_t length, uint32_t seed)
{
    unsigned char *bytes = memory;

    for (size_t i = 0; i < length; i++)
        bytes[i] = pattern_at(i, seed);
}

bool fx_is_filled(const void *memory, size_t length, uint32_t seed)
{
    const unsigned char *bytes = memory;

    for (size_t i = 0; i < length; i++) {
        if (bytes[i] != pattern_at(i, seed))
            return false;
    }
    return true;
}

bool fx_is_byte(const void *memory, size_t length, unsigned char value)
{
    const unsigned char *bytes = memory;

    for (size_t i = 0; i < length; i++) {
        if (bytes[i] != value)
            return false;
    }
    return true;
}

void fx_check_same(const void *want, const void *got, size_t length)
{
    const unsigned char *a = want;
    const unsigned char *b = got;

    if (length == 0 || memcmp(a, b, length) == 0)
        return;
    for (size_t i = 0; i < length; i++) {
        if (a[i] != b[i])
            CHECK_FAIL("data differs at octet %zu of %zu: 0x%02x instead of 0x%02x", i, length,
                       b[i], a[i]);
    }
}

uint32_t fx_random(uint32_t *state)
{
    uint32_t x = *state != 0 ? *state : 1;

    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    *state = x;
    return x;
}

/* ---- Endpoints ------------------------------------------------------------------------------ */

it_ep_attributes_t fx_ep_attr(void)
{
    it_ep_attributes_t attr;

    memset(&attr, 0, sizeof(attr));
    attr.max_dto_payload_size = 64u << 20;
    attr.max_request_dtos = 64;
    attr.max_recv_dtos = 64;
    attr.max_send_segments = 8;
    attr.max_recv_segments = 8;
    attr.srv.rc.rdma_read_enable = IT_TRUE;
    attr.srv.rc.rdma_write_enable = IT_TRUE;
    attr.srv.rc.max_rdma_read_segments = 8;
    attr.srv.rc.max_rdma_write_segments = 8;
    attr.srv.rc.rdma_read_ird = 8;
    attr.srv.rc.rdma_read_ord = 8;
    attr.srv.rc.hard_hi_watermark = IT_HARD_HI_WATERMARK_DISABLE;
    return attr;
}

it_ep_handle_t fx_ep(const struct fx_node *node, const it_ep_attributes_t *attr)
{
    it_ep_attributes_t standard = fx_ep_attr();
    it_ep_handle_t ep = NULL;

    CHECK_OK(it_ep_rc_create(node->pz, node->request_evd, node->recv_evd, node->conn_evd,
                             IT_EP_REUSEADDR, attr != NULL ? attr : &standard, &ep));
    return ep;
}

it_srq_handle_t fx_srq(const struct fx_node *node, size_t segments, size_t depth)
{
    it_srq_handle_t srq = NULL;

    CHECK_OK(it_srq_create(node->pz, segments, depth, &srq));
    return srq;
}

it_ep_handle_t fx_srq_ep(const struct fx_node *node, it_srq_handle_t srq,
                         const it_ep_attributes_t *attr)
{
    it_ep_attributes_t own = attr != NULL ? *attr : fx_ep_attr();
    it_ep_handle_t ep = NULL;

    own.srv.rc.srq = srq;
    CHECK_OK(it_ep_rc_create(node->pz, node->request_evd, node->recv_evd, node->conn_evd,
                             (it_ep_rc_creation_flags_t)(IT_EP_REUSEADDR | IT_EP_SRQ), &own, &ep));
    return ep;
}

it_ep_state_rc_t fx_ep_state(it_ep_handle_t ep)
{
    it_ep_param_t param;

    memset(&param, 0, sizeof(param));
    CHECK_OK(it_ep_query(ep, IT_EP_PARAM_STATE, &param));
    return param.ep_state.rc;
}

void fx_ep_wait_state(it_ep_handle_t ep, it_ep_state_rc_t state)
{
    FX_WAIT_WHILE(fx_ep_state(ep) != state, itx_ep_state_string(state));
}

struct itx_mpa_params fx_mpa(it_ep_handle_t ep)
{
    struct itx_mpa_params params;

    memset(&params, 0, sizeof(params));
    params.size = sizeof(params);
    CHECK_OK(itx_ep_get_mpa_params(ep, &params));
    return params;
}

it_listen_handle_t fx_listen(const struct fx_node *node, uint16_t *port)
{
    it_listen_handle_t listener = NULL;
    it_conn_qual_t qual;

    memset(&qual, 0, sizeof(qual));
    qual.type = IT_IANA_PORT;
    CHECK_OK(it_listen_create(node->ia, node->spigot, node->listen_evd, IT_LISTEN_NO_FLAG, &qual,
                              &listener));
    *port = qual.type == IT_IANA_LR_PORT ? qual.conn_qual.lr_port.local : qual.conn_qual.port;
    CHECK(*port != 0);
    return listener;
}

it_path_t fx_path_to(const struct fx_node *node, const it_net_addr_t *address)
{
    it_path_t path;
    size_t count = 1;
    size_t total = 0;

    memset(&path, 0, sizeof(path));
    CHECK_OK(it_get_pathinfo(node->ia, node->spigot, address, &count, &total, &path));
    if (count != 1 || total < 1)
        CHECK_FAIL("no path");
    return path;
}

it_path_t fx_path(const struct fx_node *node)
{
    it_net_addr_t address = fx_address();

    return fx_path_to(node, &address);
}

void fx_connect(const struct fx_node *node, it_ep_handle_t ep, uint16_t port)
{
    it_path_t path = fx_path(node);
    it_conn_qual_t qual;

    memset(&qual, 0, sizeof(qual));
    qual.type = IT_IANA_PORT;
    qual.conn_qual.port = port;
    CHECK_OK(it_ep_connect(ep, &path, NULL, &qual, IT_CONNECT_FLAG_TWO_WAY, NULL, 0));
}

it_cn_est_identifier_t fx_request(const struct fx_node *node, it_event_t *event)
{
    it_event_t local = fx_next(node->listen_evd);

    CHECK_EQ(IT_CM_REQ_CONN_REQUEST_EVENT, local.event_number);
    CHECK(local.conn_req.cn_est_id != 0);
    if (event != NULL)
        *event = local;
    return local.conn_req.cn_est_id;
}

void fx_join(const struct fx_node *a, it_ep_handle_t a_ep, const struct fx_node *b,
             it_ep_handle_t b_ep)
{
    uint16_t port = 0;
    it_listen_handle_t listener = fx_listen(b, &port);
    it_event_t first;

    fx_connect(a, a_ep, port);
    CHECK_OK(it_ep_accept(b_ep, fx_request(b, NULL), NULL, 0));
    if (a->conn_evd != b->conn_evd) {
        fx_conn(a->conn_evd, a_ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
        fx_conn(b->conn_evd, b_ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    } else {
        first = fx_next(a->conn_evd);
        CHECK_EQ(IT_CM_MSG_CONN_ESTABLISHED_EVENT, first.event_number);
        CHECK(first.conn.ep == a_ep || first.conn.ep == b_ep);
        fx_conn(a->conn_evd, first.conn.ep == a_ep ? b_ep : a_ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    }
    CHECK_OK(it_listen_free(listener));
}

void fx_pair_open_as(struct fx_pair *pair, const struct fx_pair_setup *setup)
{
    size_t events = setup->events != 0 ? setup->events : 512;

    fx_node_open_sized(&pair->a, events);
    fx_node_open_sized(&pair->b, events);
    pair->a_ep = fx_ep(&pair->a, setup->a_attr);
    pair->b_ep = fx_ep(&pair->b, setup->b_attr);
    if (setup->a_mpa != NULL)
        CHECK_OK(itx_ep_set_mpa_params(pair->a_ep, setup->a_mpa));
    if (setup->b_mpa != NULL)
        CHECK_OK(itx_ep_set_mpa_params(pair->b_ep, setup->b_mpa));
    fx_join(&pair->a, pair->a_ep, &pair->b, pair->b_ep);
}

void fx_pair_open(struct fx_pair *pair)
{
    struct fx_pair_setup setup;

    memset(&setup, 0, sizeof(setup));
    fx_pair_open_as(pair, &setup);
}

void fx_pair_close(struct fx_pair *pair)
{
    free_bufs(&pair->a);
    free_bufs(&pair->b);
    CHECK_OK(it_ep_free(pair->a_ep));
    CHECK_OK(it_ep_free(pair->b_ep));
    fx_node_close(&pair->a);
    fx_node_close(&pair->b);
}

static void ping_one_way(const struct fx_node *from, it_ep_handle_t from_ep,
                         const struct fx_node *to, it_ep_handle_t to_ep, uint32_t seed)
{
    struct fx_buf out = fx_buf_make(from, 32);
    struct fx_buf in = fx_buf_make(to, 32);

    fx_fill(out.data, out.size, seed);
    fx_recv(to_ep, &in, 0, in.size, seed);
    fx_send(from_ep, &out, 0, out.size, seed, FX_SIGNAL);
    fx_done_len(to->recv_evd, to_ep, IT_DTO_RC_RECV_CMPL_EVENT, seed, out.size);
    fx_done(from->request_evd, from_ep, IT_DTO_SEND_CMPL_EVENT, seed, IT_DTO_SUCCESS);
    fx_check_same(out.data, in.data, out.size);
    fx_buf_free(&out);
    fx_buf_free(&in);
}

void fx_pair_ping(struct fx_pair *pair)
{
    ping_one_way(&pair->a, pair->a_ep, &pair->b, pair->b_ep, 0x10101);
    ping_one_way(&pair->b, pair->b_ep, &pair->a, pair->a_ep, 0x20202);
}

void fx_pair_rejoin(struct fx_pair *pair)
{
    CHECK_OK(it_ep_reset(pair->a_ep));
    CHECK_OK(it_ep_reset(pair->b_ep));
    fx_join(&pair->a, pair->a_ep, &pair->b, pair->b_ep);
}

/* ---- Posting -------------------------------------------------------------------------------- */

void fx_recv(it_ep_handle_t ep, const struct fx_buf *buf, size_t offset, size_t length,
             it_dto_cookie_t cookie)
{
    it_lmr_triplet_t segment = fx_seg(buf, offset, length);

    CHECK_OK(it_post_recv(ep, &segment, 1, cookie, FX_SIGNAL));
}

void fx_srq_recv(it_srq_handle_t srq, const struct fx_buf *buf, size_t offset, size_t length,
                 it_dto_cookie_t cookie)
{
    it_lmr_triplet_t segment = fx_seg(buf, offset, length);

    CHECK_OK(it_post_recv(srq, &segment, 1, cookie, FX_SIGNAL));
}

void fx_send(it_ep_handle_t ep, const struct fx_buf *buf, size_t offset, size_t length,
             it_dto_cookie_t cookie, it_dto_flags_t flags)
{
    it_lmr_triplet_t segment = fx_seg(buf, offset, length);

    CHECK_OK(it_post_send(ep, &segment, 1, cookie, flags));
}

void fx_write(it_ep_handle_t ep, const struct fx_buf *from, size_t offset, size_t length,
              const struct fx_buf *to, size_t to_offset, it_dto_cookie_t cookie,
              it_dto_flags_t flags)
{
    it_lmr_triplet_t segment = fx_seg(from, offset, length);

    CHECK_OK(it_post_rdma_write(ep, &segment, 1, cookie, flags, fx_addr(to, to_offset), to->key));
}

void fx_read(it_ep_handle_t ep, const struct fx_buf *to, size_t offset, size_t length,
             const struct fx_buf *from, size_t from_offset, it_dto_cookie_t cookie,
             it_dto_flags_t flags)
{
    it_lmr_triplet_t segment = fx_seg(to, offset, length);

    CHECK_OK(
        it_post_rdma_read(ep, &segment, 1, cookie, flags, fx_addr(from, from_offset), from->key));
}

/* ---- Events --------------------------------------------------------------------------------- */

it_event_t fx_next_at(const char *file, int line, it_evd_handle_t evd)
{
    uint64_t end_us = fx_now_us() + FX_PATIENCE_MS * 1000ull;
    it_event_t event;
    it_status_t status;

    memset(&event, 0, sizeof(event));
    do {
        status = it_evd_dequeue(evd, &event);
        if (status == IT_SUCCESS)
            return event;
        CHECK_STATUS(IT_ERR_QUEUE_EMPTY, status);
        status = it_evd_wait(evd, 2000, &event, NULL);
        if (status == IT_SUCCESS)
            return event;
        if (status != IT_ERR_INTERRUPT)
            CHECK_STATUS(IT_ERR_TIMEOUT_EXPIRED, status);
    } while (fx_now_us() < end_us);
    check_fail(file, line, "no event in time");
}

it_event_t fx_wait(it_evd_handle_t evd)
{
    it_event_t event;

    memset(&event, 0, sizeof(event));
    CHECK_OK(it_evd_wait(evd, FX_PATIENCE_MS * 1000ull, &event, NULL));
    return event;
}

static void check_is(const char *file, int line, const it_event_t *event, it_event_type_t number)
{
    if (event->event_number != number)
        check_fail(file, line, "event %s instead of %s (dto_status %s, cookie 0x%" PRIx64 ")",
                   itx_event_string(event->event_number), itx_event_string(number),
                   (event->event_number & IT_EVENT_STREAM_MASK) == IT_DTO_EVENT_STREAM
                       ? itx_dto_status_string(event->dto_cmpl.dto_status)
                       : "-",
                   (event->event_number & IT_EVENT_STREAM_MASK) == IT_DTO_EVENT_STREAM
                       ? event->dto_cmpl.cookie
                       : 0);
}

void fx_drain(it_evd_handle_t evd)
{
    it_event_t event;

    while (it_evd_dequeue(evd, &event) == IT_SUCCESS)
        continue;
}

void fx_empty_at(const char *file, int line, it_evd_handle_t evd)
{
    it_event_t event;
    it_status_t status = it_evd_dequeue(evd, &event);

    if (status == IT_SUCCESS)
        check_fail(file, line, "unexpected event %s", itx_event_string(event.event_number));
    if (!check_status(file, line, "it_evd_dequeue", IT_ERR_QUEUE_EMPTY, status))
        check_exit();
}

uint32_t fx_done_at(const char *file, int line, it_evd_handle_t evd, it_ep_handle_t ep,
                    it_event_type_t number, it_dto_cookie_t cookie, it_dto_status_t status)
{
    it_event_t event = fx_next_at(file, line, evd);

    check_is(file, line, &event, number);
    if (event.dto_cmpl.cookie != cookie)
        check_fail(file, line, "%s of cookie 0x%" PRIx64 " (%s) instead of 0x%" PRIx64,
                   itx_event_string(number), event.dto_cmpl.cookie,
                   itx_dto_status_string(event.dto_cmpl.dto_status), cookie);
    if (event.dto_cmpl.dto_status != status)
        check_fail(file, line, "%s, cookie 0x%" PRIx64 ": %s instead of %s",
                   itx_event_string(number), cookie,
                   itx_dto_status_string(event.dto_cmpl.dto_status), itx_dto_status_string(status));
    if (event.dto_cmpl.ep != ep || event.dto_cmpl.evd != evd)
        check_fail(file, line, "%s, cookie 0x%" PRIx64 ": wrong ep or evd in the event",
                   itx_event_string(number), cookie);
    if (status != IT_DTO_SUCCESS && event.dto_cmpl.transferred_length != 0)
        check_fail(file, line, "failed completion with transferred_length %u",
                   event.dto_cmpl.transferred_length);
    if (event.dto_cmpl.unlinked_mr_handle != NULL)
        check_fail(file, line, "unlinked_mr_handle is not null");
    return event.dto_cmpl.transferred_length;
}

void fx_done_len_at(const char *file, int line, it_evd_handle_t evd, it_ep_handle_t ep,
                    it_event_type_t number, it_dto_cookie_t cookie, uint64_t length)
{
    uint32_t got = fx_done_at(file, line, evd, ep, number, cookie, IT_DTO_SUCCESS);

    if (!check_number(file, line, "transferred_length", length, got))
        check_exit();
}

it_event_t fx_conn_at(const char *file, int line, it_evd_handle_t evd, it_ep_handle_t ep,
                      it_event_type_t number)
{
    it_event_t event = fx_next_at(file, line, evd);

    check_is(file, line, &event, number);
    if (event.conn.ep != ep || event.conn.evd != evd)
        check_fail(file, line, "%s: wrong ep or evd in the event", itx_event_string(number));
    return event;
}

/* ---- Threads -------------------------------------------------------------------------------- */

int fx_thread_id(void)
{
    return (int)syscall(SYS_gettid);
}

static char thread_state(int id)
{
    char path[64];
    char state = '?';
    FILE *file;

    (void)snprintf(path, sizeof(path), "/proc/self/task/%d/stat", id);
    file = fopen(path, "r");
    if (file != NULL) {
        if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
            state = '?';
        (void)fclose(file);
    }
    return state;
}

void fx_thread_sleeps(int id)
{
    struct fx_patience patience = fx_patience_start("sleep of a thread");
    unsigned asleep = 0;

    while (asleep < 5) {
        asleep = thread_state(id) == 'S' ? asleep + 1 : 0;
        fx_patience_check(&patience);
    }
}

/* ---- Descriptors ---------------------------------------------------------------------------- */

size_t fx_fd_count_of(int process)
{
    char path[32];
    DIR *folder;
    size_t count = 0;

    (void)snprintf(path, sizeof(path), "/proc/%d/fd", process);
    folder = opendir(path);
    CHECK(folder != NULL);
    while (readdir(folder) != NULL)
        count++;
    (void)closedir(folder);
    return count - 2; /* "." and ".." */
}

size_t fx_fd_count(void)
{
    return fx_fd_count_of((int)getpid()) - 1; /* less the descriptor of the folder */
}

void fx_fd_settle(size_t count)
{
    FX_WAIT_WHILE(fx_fd_count() > count, "closing of descriptors");
}
