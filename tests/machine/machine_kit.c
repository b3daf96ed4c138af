/* SPDX-License-Identifier: BSD-2-Clause */
#include "machine/machine_kit.h"

#include "ual/object/ual_ep_state.h"

#include <string.h>
#include <unistd.h>

static const it_ep_state_rc_t values[MACHINE_STATES] = {
    IT_EP_STATE_UNCONNECTED,
    IT_EP_STATE_ACTIVE1_CONNECTION_PENDING,
    IT_EP_STATE_ACTIVE2_CONNECTION_PENDING,
    IT_EP_STATE_PASSIVE_CONNECTION_PENDING,
    IT_EP_STATE_PASSIVE_WAIT_RDMA_TRANS_REQ,
    IT_EP_STATE_CONNECTED,
    IT_EP_STATE_NONOPERATIONAL,
};

char machine_state(it_ep_handle_t ep)
{
    it_ep_state_rc_t state = fx_ep_state(ep);

    for (unsigned i = 0; i < MACHINE_STATES; i++) {
        if (values[i] == state)
            return MACHINE_LETTERS[i];
    }
    return '?';
}

void machine_is_silent(const struct machine *machine)
{
    fx_empty(machine->node.conn_evd);
    fx_empty(machine->node.listen_evd);
    fx_empty(machine->node.request_evd);
    fx_empty(machine->node.recv_evd);
    fx_empty(machine->node.aff_evd);
}

/* ---- Attempts ------------------------------------------------------------------------------- */

void machine_connect(struct machine *machine, uint64_t timeout_us)
{
    struct itx_mpa_params mpa = fx_mpa(machine->ep);
    it_path_t path = fx_path(&machine->node);
    it_conn_qual_t qual = {.type = IT_IANA_PORT};
    int listener = raw_listen(&qual.conn_qual.port);

    mpa.revision = 1; /* there is no second attempt */
    CHECK_OK(itx_ep_set_mpa_params(machine->ep, &mpa));
    path.timeout = timeout_us;
    CHECK_OK(it_ep_connect(machine->ep, &path, NULL, &qual, IT_CONNECT_FLAG_TWO_WAY, NULL, 0));
    raw_accept(&machine->peer, listener);
    (void)close(listener);
}

void machine_convert(struct machine *machine, it_sc_flags_t flags, uint64_t timeout_us)
{
    struct itx_convert_params params = {.size = sizeof(params), .timeout_us = timeout_us};
    struct itx_mpa_params mpa = fx_mpa(machine->ep);
    int fd = -1;

    mpa.revision = 1;
    CHECK_OK(itx_ep_set_mpa_params(machine->ep, &mpa));
    raw_socket_pair(&machine->peer, &fd);
    CHECK_OK(itx_socket_convert(fd, machine->ep, flags, &params));
    (void)close(fd);
}

void machine_say(struct machine *machine, bool reply, unsigned flags, const char *private_data)
{
    RAW_BYTES(frame);

    raw_mpa(&frame, reply, flags, 1, private_data, strlen(private_data));
    CHECK(raw_send(&machine->peer, &frame));
}

void machine_hear(struct machine *machine, bool reply)
{
    static struct raw_mpa_frame frame;

    CHECK_EQ(RAW_OK, raw_receive_mpa(&machine->peer, &frame));
    CHECK_EQ(reply, frame.reply);
}

/* ---- States --------------------------------------------------------------------------------- */

/* Sets the state without the state machine's table. */
static void put(it_ep_handle_t handle, it_ep_state_rc_t state)
{
    struct ual_ep *ep = ual_ep_from(handle);

    base_lock_take(&ep->lock);
    atomic_store_explicit(&ep->state, (int)state, memory_order_release);
    base_lock_drop(&ep->lock);
}

static void meet_raw_peer(struct machine *machine)
{
    machine_connect(machine, 0);
    machine_hear(machine, false);
    machine_say(machine, true, RAW_MPA_C, "");
    machine->peer.crc = true;
    fx_conn(machine->node.conn_evd, machine->ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
}

static void meet(struct machine *machine)
{
    fx_node_open(&machine->other);
    machine->other_ep = fx_ep(&machine->other, NULL);
    fx_join(&machine->node, machine->ep, &machine->other, machine->other_ep);
}

void machine_bring(struct machine *machine, char letter, bool raw)
{
    switch (letter) {
    case '1':
        machine_connect(machine, 0);
        break;
    case '2':
        put(machine->ep, IT_EP_STATE_ACTIVE2_CONNECTION_PENDING);
        break;
    case 'P':
        put(machine->ep, IT_EP_STATE_PASSIVE_CONNECTION_PENDING);
        break;
    case 'W':
        machine_convert(machine, ITX_SC_RESPONDER, 0);
        break;
    case 'C':
    case 'N':
        if (raw)
            meet_raw_peer(machine);
        else
            meet(machine);
        break;
    default:
        break;
    }
    if (letter == 'N') {
        CHECK_OK(it_ep_disconnect(machine->ep, NULL, 0));
        fx_conn(machine->node.conn_evd, machine->ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    }
    CHECK_EQ(letter, machine_state(machine->ep));
    machine_is_silent(machine);
}

void machine_open(struct machine *machine, char letter, bool raw)
{
    memset(machine, 0, sizeof(*machine));
    machine->peer.fd = -1;
    machine->client.fd = -1;
    machine->spare = -1;
    machine->idle = -1;
    machine->spare_peer.fd = -1;
    fx_node_open(&machine->node);
    machine->ep = fx_ep(&machine->node, NULL);
    machine_bring(machine, letter, raw);
}

void machine_equip(struct machine *machine)
{
    RAW_BYTES(request);
    it_listen_handle_t second = NULL;
    uint16_t port = 0;

    (void)fx_listen(&machine->node, &port);
    machine->elsewhere.type = IT_IANA_PORT;
    CHECK_OK(it_listen_create(machine->node.ia, machine->node.spigot, machine->node.listen_evd,
                              IT_LISTEN_NO_FLAG, &machine->elsewhere, &second));
    raw_connect(&machine->client, port);
    raw_mpa1(&request, false, RAW_MPA_C);
    CHECK(raw_send(&machine->client, &request));
    machine->id = fx_request(&machine->node, NULL);
    raw_socket_pair(&machine->spare_peer, &machine->spare);
    machine->idle = raw_listen(&machine->idle_port);
}

void machine_close(struct machine *machine)
{
    fx_node_close(&machine->node);
    if (machine->other.ia)
        fx_node_close(&machine->other);
    raw_close(&machine->peer);
    raw_close(&machine->client);
    raw_close(&machine->spare_peer);
    if (machine->spare >= 0)
        (void)close(machine->spare);
    if (machine->idle >= 0)
        (void)close(machine->idle);
}
