/* SPDX-License-Identifier: BSD-2-Clause */
/* Listening, connecting, accepting, rejecting, handing off, disconnecting, converting sockets. */
#include "status/status_tables.h"

#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/raw_peer.h"

#define FD_UNUSED       99999u
#define PRIVILEGED_PORT 7
#define NOBODY          65534u
#define TWO_WAY         IT_CONNECT_FLAG_TWO_WAY

static it_conn_qual_t any_port;
static it_conn_qual_t given_port; /* a free port */
static struct sockaddr_in loopback;
static struct sockaddr_in elsewhere; /* an address of no host (RFC 5737) */
static int given_port_kept = -1;
static it_conn_qual_t taken_port; /* of SLOT_LISTEN */
static it_conn_qual_t service;    /* of InfiniBand */
static it_conn_qual_t silent;     /* a port that listens and never answers */
static it_conn_qual_t nowhere;
static it_conn_qual_t privileged;
static it_conn_qual_t from_taken; /* its local port is that of SLOT_LISTEN */
static it_path_t path;
static it_cn_est_identifier_t request; /* an undecided request on SLOT_EVD_LISTEN */
static struct itx_ep_addresses addresses;
static unsigned char data[IT_MAX_PRIV_DATA + 1];
static struct raw_peer client;
static struct raw_peer second_client = {.fd = -1};
static struct raw_peer stream_peer;
static int stream = -1; /* a connected TCP socket */
static int others[4] = {-1, -1, -1, -1};

enum {
    OTHER_PIPE,
    OTHER_UNIX,
    OTHER_DATAGRAM,
    OTHER_LISTENER
};

/* ---- What the calls need -------------------------------------------------------------------- */

static void close_all(void)
{
    raw_close(&client);
    raw_close(&second_client);
    raw_close(&stream_peer);
    for (unsigned i = 0; i < 4; i++)
        if (others[i] >= 0)
            (void)close(others[i]);
    if (stream >= 0)
        (void)close(stream);
    stream = -1;
    (void)close(given_port_kept);
}

static void open_others(void)
{
    int pair[2];
    uint16_t port = 0;

    CHECK(pipe(pair) == 0);
    (void)close(pair[1]);
    others[OTHER_PIPE] = pair[0];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    (void)close(pair[1]);
    others[OTHER_UNIX] = pair[0];
    others[OTHER_DATAGRAM] = socket(AF_INET, SOCK_DGRAM, 0);
    others[OTHER_LISTENER] = raw_listen(&port);
}

static it_conn_qual_t port_of(uint16_t port)
{
    it_conn_qual_t qual;

    memset(&qual, 0, sizeof(qual));
    qual.type = IT_IANA_PORT;
    qual.conn_qual.port = port;
    return qual;
}

static void prepare(struct status_world *world)
{
    static bool opened;
    RAW_BYTES(frame);

    if (getuid() == 0)
        CHECK(seteuid(0) == 0);
    if (opened)
        close_all();
    opened = true;
    any_port = port_of(0);
    loopback.sin_family = elsewhere.sin_family = AF_INET;
    loopback.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    elsewhere.sin_addr.s_addr = htonl(0xc0000201);
    given_port = any_port;
    given_port_kept = raw_keep_port(&given_port.conn_qual.port);
    taken_port = port_of(world->port);
    silent = port_of(world->listener_port);
    nowhere = port_of(htons(1));
    privileged = port_of(htons(PRIVILEGED_PORT));
    service = any_port;
    service.type = IT_IB_SERVICEID;
    service.conn_qual.serviceid = 1;
    from_taken = silent;
    from_taken.type = IT_IANA_LR_PORT;
    from_taken.conn_qual.lr_port.remote = world->listener_port;
    from_taken.conn_qual.lr_port.local = world->port;
    path = fx_path(&world->node);
    addresses.size = sizeof(addresses);
    raw_connect(&client, world->port);
    raw_mpa1(&frame, false, RAW_MPA_C);
    CHECK(raw_send(&client, &frame));
    request = fx_request(&world->node, NULL);
    raw_socket_pair(&stream_peer, &stream);
    open_others();
}

/* ---- Calls ---------------------------------------------------------------------------------- */

STATUS_CALL(listen_create,
            it_listen_create(v[0].p, v[1].n, v[2].p, (it_listen_flags_t)v[3].n, v[4].p, v[5].p));
STATUS_CALL(listen_create_at, itx_listen_create_at(v[0].p, v[1].p, (it_listen_flags_t)v[2].n,
                                                   v[3].p, v[4].p, v[5].p));
STATUS_CALL(listen_query, it_listen_query(v[0].p, (it_listen_param_mask_t)v[1].n, v[2].p));
STATUS_CALL(listen_free, it_listen_free(v[0].p));
STATUS_CALL(ep_connect, it_ep_connect(v[0].p, v[1].p, v[2].p, v[3].p, (it_cn_est_flags_t)v[4].n,
                                      v[5].p, v[6].n));

/* Makes identifiers that name no request from one that does. */
static it_cn_est_identifier_t identifier(uint64_t distance)
{
    return request + distance;
}

STATUS_CALL(ep_accept, it_ep_accept(v[0].p, identifier(v[1].n), v[2].p, v[3].n));
STATUS_CALL(reject, it_reject(identifier(v[0].n), v[1].p, v[2].n));
STATUS_CALL(handoff, it_handoff(v[0].p, v[1].n, identifier(v[2].n)));
STATUS_CALL(request_addresses, itx_request_query_addresses(identifier(v[0].n), v[1].p));
STATUS_CALL(ep_disconnect, it_ep_disconnect(v[0].p, v[1].p, v[2].n));

static int descriptor(uint64_t which)
{
    if (which == 0)
        return stream;
    return which <= 4 ? others[which - 1] : (int)which;
}

STATUS_CALL(convert,
            it_socket_convert(descriptor(v[0].n), v[1].p, (it_sc_flags_t)v[2].n, v[3].p, v[4].n));
STATUS_CALL(convert_x,
            itx_socket_convert(descriptor(v[0].n), v[1].p, (it_sc_flags_t)v[2].n, v[3].p));
STATUS_CALL(socket_request, itx_socket_request(descriptor(v[0].n), v[1].p));

/* ---- Scenes --------------------------------------------------------------------------------- */

static void used_up(struct status_world *world, union status_value *values)
{
    (void)world;
    (void)values;
    CHECK_OK(it_reject(request, NULL, 0));
}

static void peer_is_gone(struct status_world *world, union status_value *values)
{
    (void)world;
    (void)values;
    raw_close_with_reset(&client);
}

/* Fills the EVD of the other listen point. */
static void target_is_full(struct status_world *world, union status_value *values)
{
    it_evd_handle_t evd = fx_evd(&world->node, IT_CM_REQ_EVENT_STREAM, 1, 0);
    it_conn_qual_t qual = port_of(0);
    it_listen_handle_t listener = NULL;
    it_cn_est_identifier_t other;
    RAW_BYTES(frame);

    CHECK_OK(it_listen_create(world->node.ia, world->node.spigot, evd, IT_LISTEN_NO_FLAG, &qual,
                              &listener));
    raw_connect(&second_client, world->port);
    raw_mpa1(&frame, false, RAW_MPA_C);
    CHECK(raw_send(&second_client, &frame));
    other = fx_request(&world->node, NULL);
    CHECK_OK(it_handoff(&qual, world->node.spigot, other));
    memcpy(values[0].p, &qual, sizeof(qual));
}

/* Puts the pair of addresses into time-wait: this side has closed first. */
static void in_timewait(struct status_world *world, union status_value *values)
{
    struct fx_patience patience = fx_patience_start("time-wait");
    it_ep_attributes_t attr = status_attributes();
    it_ep_handle_t ep = NULL; /* without IT_EP_REUSEADDR */
    it_ep_handle_t server = fx_ep(&world->node, NULL);
    it_conn_qual_t qual = from_taken;
    it_status_t status;

    CHECK_OK(it_ep_rc_create(world->node.pz, world->node.request_evd, world->node.recv_evd,
                             world->node.conn_evd, IT_EP_NO_FLAG, &attr, &ep));
    values[0].p = ep;
    qual.conn_qual.lr_port.remote = world->port;
    do { /* another process may take the port first */
        fx_patience_check(&patience);
        (void)close(raw_keep_port(&qual.conn_qual.lr_port.local));
        status = it_ep_connect(ep, &path, NULL, &qual, TWO_WAY, NULL, 0);
    } while (status == IT_ERR_CONN_QUAL_BUSY);
    CHECK_OK(status);
    CHECK_OK(it_ep_accept(server, fx_request(&world->node, NULL), NULL, 0));
    fx_conn(world->node.conn_evd, server, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    fx_conn(world->node.conn_evd, ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    CHECK_OK(it_ep_disconnect(ep, NULL, 0));
    fx_ep_wait_state(server, IT_EP_STATE_NONOPERATIONAL);
    CHECK_OK(it_ep_reset(ep));
    do { /* still being closed, then in time-wait */
        fx_patience_check(&patience);
        status = it_ep_connect(ep, &path, NULL, &qual, TWO_WAY, NULL, 0);
    } while (status == IT_ERR_CONN_QUAL_BUSY);
    memcpy(values[3].p, &qual, sizeof(qual));
}

/* Lasts until the next world. */
static void unprivileged(struct status_world *world, union status_value *values)
{
    FILE *setting = fopen("/proc/sys/net/ipv4/ip_unprivileged_port_start", "re");
    int first = 1024;

    (void)world;
    (void)values;
    if (setting != NULL) {
        if (fscanf(setting, "%d", &first) != 1)
            first = 1024;
        (void)fclose(setting);
    }
    if (first <= PRIVILEGED_PORT)
        status_cannot_be_shown();
    else if (geteuid() == 0)
        CHECK(seteuid(NOBODY) == 0);
}

static void is_connecting(struct status_world *world, union status_value *values)
{
    fx_connect(&world->node, values[0].p, world->listener_port);
}

#define LISTEN                                                                                     \
    {                                                                                              \
        .kind = PARAM_HANDLE, .bad = IT_ERR_INVALID_LISTEN, .object = OBJECT_LISTEN,               \
        .slot = SLOT_LISTEN                                                                        \
    }

static const struct itx_convert_params params = {.size = sizeof(params)};

static const struct status_call calls[] = {
    {STATUS_NAMED(it_listen_create, listen_create), .pooled = true,
     .params = {STATUS_IA,
                STATUS_NUMBER(1),
                {.kind = PARAM_HANDLE,
                 .bad = IT_ERR_INVALID_CONN_EVD,
                 .object = OBJECT_EVD,
                 .slot = SLOT_EVD_LISTEN,
                 .foreign = IT_ERR_INVALID_CONN_EVD},
                STATUS_BITS(IT_ERR_INVALID_FLAGS, 0,
                            IT_LISTEN_CONN_QUAL_INPUT | IT_LISTEN_SUPPRESS_IRD_ORD |
                                ITX_LISTEN_SOCKETS),
                STATUS_GIVEN(any_port),
                STATUS_RESULT},
     .rows = ROWS(
         ROW("the only Spigot", IT_SUCCESS, SET(1, 0)),
         ROW("an unknown one", IT_ERR_INVALID_SPIGOT, SET(1, 2)),
         ROW("one far away", IT_ERR_INVALID_SPIGOT, SET(1, SIZE_MAX)),
         ROW("completions", IT_ERR_INVALID_CONN_EVD, USE(2, SLOT_EVD_REQUEST)),
         ROW("connections", IT_ERR_INVALID_CONN_EVD, USE(2, SLOT_EVD_CONN)),
         ROW("an aggregate", IT_ERR_AEVD_NOT_ALLOWED, USE(2, SLOT_AEVD)),
         ROW("no port", IT_ERR_INVALID_CONN_QUAL, SET(3, IT_LISTEN_CONN_QUAL_INPUT)),
         ROW("a port for sockets alone", IT_ERR_INVALID_FLAGS,
             SET(3, IT_LISTEN_CONN_QUAL_INPUT | ITX_LISTEN_SOCKETS), POINT(4, given_port)),
         ROW("sockets alone", IT_SUCCESS, SET(3, ITX_LISTEN_SOCKETS)),
         ROW("a service", IT_ERR_INVALID_CONN_QUAL, SET(3, IT_LISTEN_CONN_QUAL_INPUT),
             POINT(4, service)),
         ROW("an unknown type", IT_ERR_INVALID_CONN_QUAL, SET(3, IT_LISTEN_CONN_QUAL_INPUT),
             MEMBER(4, it_conn_qual_t, type, 0x40)),
         ROW("a port that is taken", IT_ERR_CONN_QUAL_BUSY, SET(3, IT_LISTEN_CONN_QUAL_INPUT),
             POINT(4, taken_port)),
         SCENE("a privileged port", IT_ERR_NO_PERMISSION, unprivileged,
               SET(3, IT_LISTEN_CONN_QUAL_INPUT), POINT(4, privileged)),
         ROW("a free port", IT_SUCCESS, SET(3, IT_LISTEN_CONN_QUAL_INPUT), POINT(4, given_port)))},
    {STATUS_NAMED(itx_listen_create_at, listen_create_at), .pooled = true,
     .params = {STATUS_IA,
                {.kind = PARAM_HANDLE,
                 .bad = IT_ERR_INVALID_CONN_EVD,
                 .object = OBJECT_EVD,
                 .slot = SLOT_EVD_LISTEN,
                 .foreign = IT_ERR_INVALID_CONN_EVD},
                STATUS_BITS(IT_ERR_INVALID_FLAGS, 0,
                            IT_LISTEN_CONN_QUAL_INPUT | IT_LISTEN_SUPPRESS_IRD_ORD),
                STATUS_GIVEN(loopback),
                STATUS_GIVEN(any_port),
                STATUS_RESULT},
     .rows = ROWS(ROW("of no IP", IT_ERR_INVALID_NETADDR,
                      MEMBER(3, struct sockaddr_in, sin_family, AF_UNIX)),
                  ROW("of another host", IT_ERR_INVALID_NETADDR, POINT(3, elsewhere)),
                  ROW("an aggregate", IT_ERR_AEVD_NOT_ALLOWED, USE(1, SLOT_AEVD)),
                  ROW("no port", IT_ERR_INVALID_CONN_QUAL, SET(2, IT_LISTEN_CONN_QUAL_INPUT)),
                  ROW("a port that is taken", IT_ERR_CONN_QUAL_BUSY,
                      SET(2, IT_LISTEN_CONN_QUAL_INPUT), POINT(4, taken_port)),
                  SCENE("a privileged port", IT_ERR_NO_PERMISSION, unprivileged,
                        SET(2, IT_LISTEN_CONN_QUAL_INPUT), POINT(4, privileged)))},
    {STATUS_NAMED(it_listen_query, listen_query),
     .params = {LISTEN, STATUS_BITS(IT_ERR_INVALID_MASK, IT_LISTEN_PARAM_ALL, 0x1f), STATUS_RESULT},
     .rows = ROWS(ROW("nothing", IT_SUCCESS, SET(1, 0)))},
    {STATUS_NAMED(it_listen_free, listen_free), .params = {LISTEN}},
    {STATUS_NAMED(it_ep_connect, ep_connect),
     .params = {STATUS_EP(SLOT_EP), STATUS_GIVEN(path), STATUS_OPTIONAL, STATUS_GIVEN(silent),
                STATUS_BITS(IT_ERR_INVALID_CN_EST_FLAGS, TWO_WAY,
                            IT_CONNECT_FLAG_TWO_WAY | IT_CONNECT_FLAG_THREE_WAY |
                                IT_CONNECT_SUPPRESS_IRD_ORD),
                STATUS_GIVEN_AS_IS(data), STATUS_NUMBER(0)},
     .rows =
         ROWS(ROW("a connection", IT_ERR_INVALID_EP_STATE, USE(0, SLOT_EP_CONNECTED)),
              ROW("a dead one", IT_ERR_INVALID_EP_STATE, USE(0, SLOT_EP_ENDED)),
              SCENE("it connects", IT_ERR_INVALID_EP_STATE, is_connecting),
              ROW("no way", IT_ERR_INVALID_CN_EST_FLAGS, SET(4, 0)),
              ROW("three ways", IT_ERR_INVALID_CN_EST_FLAGS, SET(4, IT_CONNECT_FLAG_THREE_WAY)),
              ROW("two and three", IT_ERR_INVALID_CN_EST_FLAGS, SET(4, 3)),
              ROW("no port", IT_ERR_INVALID_CONN_QUAL, POINT(3, any_port)),
              ROW("a service", IT_ERR_INVALID_CONN_QUAL, POINT(3, service)),
              ROW("no type", IT_ERR_INVALID_CONN_QUAL, MEMBER(3, it_conn_qual_t, type, 0)),
              ROW("the only Spigot", IT_SUCCESS, MEMBER(1, it_path_t, spigot_id, 0)),
              ROW("an unknown one", IT_ERR_INVALID_SPIGOT, MEMBER(1, it_path_t, spigot_id, 2)),
              ROW("one far away", IT_ERR_INVALID_SPIGOT, MEMBER(1, it_path_t, spigot_id, SIZE_MAX)),
              ROW("from elsewhere", IT_ERR_INVALID_SOURCE_PATH,
                  MEMBER(1, it_path_t, remote.iwarp.laddr.ipv4.s_addr, 0x4d0200c0)),
              ROW("to nobody", IT_ERR_INVALID_ADDRESS,
                  MEMBER(1, it_path_t, remote.iwarp.raddr.ipv4.s_addr, INADDR_ANY)),
              ROW("to everybody", IT_ERR_INVALID_ADDRESS,
                  MEMBER(1, it_path_t, remote.iwarp.raddr.ipv4.s_addr, INADDR_BROADCAST)),
              ROW("to a group", IT_ERR_INVALID_ADDRESS,
                  MEMBER(1, it_path_t, remote.iwarp.raddr.ipv4.s_addr, 0x010000e0)),
              ROW("an unknown IP", IT_ERR_INVALID_SOURCE_PATH,
                  MEMBER(1, it_path_t, remote.iwarp.ip_vers, 9)),
              ROW("a local port that is taken", IT_ERR_CONN_QUAL_BUSY, POINT(3, from_taken)),
              SCENE("a pair in time-wait", IT_ERR_EP_TIMEWAIT, in_timewait),
              ROW("data from nowhere", IT_ERR_FAULT, SET(5, 0), SET(6, 1)),
              ROW("too much data", IT_ERR_INVALID_PDATA_LENGTH, SET(6, sizeof(data))),
              ROW("far too much", IT_ERR_INVALID_PDATA_LENGTH, SET(6, SIZE_MAX)),
              ROW("all data there may be", IT_SUCCESS, SET(6, IT_MAX_PRIV_DATA)),
              ROW("no data from somewhere", IT_SUCCESS, SET(5, 1)))},
    {STATUS_NAMED(it_ep_accept, ep_accept),
     .params = {STATUS_EP(SLOT_EP), STATUS_NUMBER(0), STATUS_GIVEN_AS_IS(data), STATUS_NUMBER(0)},
     .rows = ROWS(ROW("an unknown id", IT_ERR_INVALID_CN_EST_ID, SET(1, 1)),
                  ROW("id 0", IT_ERR_INVALID_CN_EST_ID, SET(1, UINT64_MAX)),
                  SCENE("a used one", IT_ERR_INVALID_CN_EST_ID, used_up),
                  SCENE("an expired one", IT_ERR_INVALID_CN_EST_ID, peer_is_gone),
                  ROW("a connection", IT_ERR_INVALID_EP_STATE, USE(0, SLOT_EP_CONNECTED)),
                  ROW("a dead one", IT_ERR_INVALID_EP_STATE, USE(0, SLOT_EP_ENDED)),
                  SCENE("it connects", IT_ERR_INVALID_EP_STATE, is_connecting),
                  ROW("data from nowhere", IT_ERR_FAULT, SET(2, 0), SET(3, 1)),
                  ROW("too much data", IT_ERR_INVALID_PDATA_LENGTH, SET(3, sizeof(data))),
                  ROW("all data there may be", IT_SUCCESS, SET(3, IT_MAX_PRIV_DATA)))},
    {STATUS_NAMED(it_reject, reject),
     .params = {STATUS_NUMBER(0), STATUS_GIVEN_AS_IS(data), STATUS_NUMBER(0)},
     .rows = ROWS(ROW("an unknown id", IT_ERR_INVALID_CN_EST_ID, SET(0, 1)),
                  SCENE("a used one", IT_ERR_INVALID_CN_EST_ID, used_up),
                  SCENE("an expired one", IT_ERR_INVALID_CN_EST_ID, peer_is_gone),
                  ROW("data from nowhere", IT_ERR_FAULT, SET(1, 0), SET(2, 1)),
                  ROW("too much data", IT_ERR_INVALID_PDATA_LENGTH, SET(2, sizeof(data))),
                  ROW("all data there may be", IT_SUCCESS, SET(2, IT_MAX_PRIV_DATA)))},
    {STATUS_NAMED(it_handoff, handoff),
     .params = {STATUS_GIVEN(taken_port), STATUS_NUMBER(1), STATUS_NUMBER(0)},
     .rows = ROWS(ROW("an unknown id", IT_ERR_INVALID_CN_EST_ID, SET(2, 1)),
                  SCENE("a used one", IT_ERR_INVALID_CN_EST_ID, used_up),
                  SCENE("an expired one", IT_ERR_INVALID_CN_EST_ID, peer_is_gone),
                  ROW("the only Spigot", IT_SUCCESS, SET(1, 0)),
                  ROW("an unknown one", IT_ERR_INVALID_SPIGOT, SET(1, 2)),
                  ROW("to nobody", IT_ERR_INVALID_CONN_QUAL, POINT(0, nowhere)),
                  ROW("to a service", IT_ERR_INVALID_CONN_QUAL, POINT(0, service)),
                  SCENE("its EVD is full", IT_ERR_RESOURCES, target_is_full))},
    {STATUS_NAMED(itx_request_query_addresses, request_addresses),
     .params = {STATUS_NUMBER(0), STATUS_GIVEN(addresses)},
     .rows =
         ROWS(ROW("an unknown id", IT_ERR_INVALID_CN_EST_ID, SET(0, 1)),
              ROW("id 0", IT_ERR_INVALID_CN_EST_ID, SET(0, UINT64_MAX)),
              SCENE("a used one", IT_ERR_INVALID_CN_EST_ID, used_up),
              ROW("no size", IT_ERR_INVALID_LENGTH, MEMBER(1, struct itx_ep_addresses, size, 0)))},
    {STATUS_NAMED(it_ep_disconnect, ep_disconnect),
     .params = {STATUS_EP(SLOT_EP_CONNECTED), STATUS_GIVEN_AS_IS(data), STATUS_NUMBER(0)},
     .rows = ROWS(ROW("an idle one", IT_ERR_INVALID_EP_STATE, USE(0, SLOT_EP)),
                  ROW("a dead one", IT_ERR_INVALID_EP_STATE, USE(0, SLOT_EP_ENDED)),
                  ROW("data from nowhere", IT_ERR_FAULT, SET(1, 0), SET(2, 1)),
                  ROW("data", IT_ERR_INVALID_PDATA_LENGTH, SET(2, 1)),
                  SCENE("it connects", IT_SUCCESS, is_connecting, USE(0, SLOT_EP)))},
    {STATUS_NAMED(it_socket_convert, convert),
     .params = {STATUS_NUMBER(0), STATUS_EP(SLOT_EP),
                STATUS_BITS(IT_ERR_INVALID_FLAGS, 0,
                            IT_SC_NO_REQ_REP | ITX_SC_INITIATOR | ITX_SC_RESPONDER),
                STATUS_GIVEN_AS_IS(data), STATUS_NUMBER(0)},
     .rows =
         ROWS(ROW("a connection", IT_ERR_INVALID_EP_STATE, USE(1, SLOT_EP_CONNECTED)),
              ROW("a dead one", IT_ERR_INVALID_EP_STATE, USE(1, SLOT_EP_ENDED)),
              ROW("both roles", IT_ERR_INVALID_FLAGS, SET(2, ITX_SC_INITIATOR | ITX_SC_RESPONDER)),
              ROW("no descriptor", IT_ERR_INVALID_CONVERSION, SET(0, -1)),
              ROW("an unused one", IT_ERR_INVALID_CONVERSION, SET(0, FD_UNUSED)),
              ROW("a pipe", IT_ERR_INVALID_CONVERSION, SET(0, 1 + OTHER_PIPE)),
              ROW("a local socket", IT_ERR_INVALID_CONVERSION, SET(0, 1 + OTHER_UNIX)),
              ROW("a datagram socket", IT_ERR_INVALID_CONVERSION, SET(0, 1 + OTHER_DATAGRAM)),
              ROW("a listener", IT_ERR_INVALID_CONVERSION, SET(0, 1 + OTHER_LISTENER)),
              ROW("too long a message", IT_ERR_INVALID_LENGTH, SET(4, SIZE_MAX)),
              ROW("one from nowhere", IT_ERR_FAULT, SET(3, 0), SET(4, 1)),
              ROW("a message", IT_SUCCESS, SET(4, 10)),
              ROW("without Request and Reply", IT_SUCCESS, SET(2, IT_SC_NO_REQ_REP)))},
    {STATUS_NAMED(itx_socket_request, socket_request), .params = {STATUS_NUMBER(0), LISTEN},
     .rows = ROWS(ROW("no descriptor", IT_ERR_INVALID_CONVERSION, SET(0, -1)),
                  ROW("an unused one", IT_ERR_INVALID_CONVERSION, SET(0, FD_UNUSED)),
                  ROW("a pipe", IT_ERR_INVALID_CONVERSION, SET(0, 1 + OTHER_PIPE)),
                  ROW("a local socket", IT_ERR_INVALID_CONVERSION, SET(0, 1 + OTHER_UNIX)))},
    {STATUS_NAMED(itx_socket_convert, convert_x),
     .params = {STATUS_NUMBER(0),
                STATUS_EP(SLOT_EP),
                STATUS_BITS(IT_ERR_INVALID_FLAGS, 0,
                            IT_SC_NO_REQ_REP | ITX_SC_INITIATOR | ITX_SC_RESPONDER),
                {.kind = PARAM_POINTER, .optional = true, .at = &params, .size = sizeof(params)}},
     .rows =
         ROWS(ROW("a connection", IT_ERR_INVALID_EP_STATE, USE(1, SLOT_EP_CONNECTED)),
              ROW("both roles", IT_ERR_INVALID_FLAGS, SET(2, ITX_SC_INITIATOR | ITX_SC_RESPONDER)),
              ROW("a pipe", IT_ERR_INVALID_CONVERSION, SET(0, 1 + OTHER_PIPE)),
              ROW("no size", IT_ERR_INVALID_LENGTH, MEMBER(3, struct itx_convert_params, size, 0)),
              ROW("a message from nowhere", IT_ERR_FAULT,
                  MEMBER(3, struct itx_convert_params, msg_len, 1)),
              ROW("early octets from nowhere", IT_ERR_FAULT,
                  MEMBER(3, struct itx_convert_params, early_len, 1)),
              ROW("data from nowhere", IT_ERR_FAULT,
                  MEMBER(3, struct itx_convert_params, private_data_length, 1)),
              ROW("too much data", IT_ERR_INVALID_PDATA_LENGTH,
                  MEMBER(3, struct itx_convert_params, private_data, 1),
                  MEMBER(3, struct itx_convert_params, private_data_length, 10000)),
              ROW("no parameters", IT_SUCCESS, SET(3, 0)))},
    {.name = NULL},
};

const struct status_table status_connect = {calls, prepare};
