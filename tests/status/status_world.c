/* SPDX-License-Identifier: BSD-2-Clause */
#include "status/status_world.h"

#include <string.h>
#include <unistd.h>

#include "support/it_window.h"
#include "support/raw_peer.h"

it_ep_attributes_t status_attributes(void)
{
    it_ep_attributes_t attr = fx_ep_attr();

    attr.max_request_dtos = STATUS_DEPTH;
    attr.max_recv_dtos = STATUS_DEPTH;
    attr.max_send_segments = STATUS_SEGMENT;
    attr.max_recv_segments = STATUS_SEGMENT;
    attr.max_dto_payload_size = STATUS_MEMORY;
    attr.srv.rc.max_rdma_read_segments = STATUS_SEGMENT;
    attr.srv.rc.max_rdma_write_segments = STATUS_SEGMENT;
    attr.srv.rc.atomics_enable = IT_TRUE;
    return attr;
}

/* ---- Making --------------------------------------------------------------------------------- */

static void make_evds(struct status_world *world)
{
    const struct fx_node *node = &world->node;
    it_evd_handle_t evd = NULL;
    int fd = -1;

    world->slot[SLOT_EVD] = fx_evd(node, IT_SOFTWARE_EVENT_STREAM, 4, 1);
    world->slot[SLOT_EVD_REQUEST] = node->request_evd;
    world->slot[SLOT_EVD_RECV] = node->recv_evd;
    world->slot[SLOT_EVD_CONN] = node->conn_evd;
    world->slot[SLOT_EVD_LISTEN] = node->listen_evd;
    world->slot[SLOT_EVD_AFFILIATED] = node->aff_evd;
    CHECK_OK(it_evd_create(node->ia, IT_AEVD_NOTIFICATION_EVENT_STREAM, (it_evd_flags_t)0, 0, 0,
                           NULL, &evd, NULL));
    world->slot[SLOT_AEVD] = evd;
    CHECK_OK(it_evd_create(node->ia, IT_SOFTWARE_EVENT_STREAM, (it_evd_flags_t)0, 4, 1,
                           world->slot[SLOT_AEVD], &evd, NULL));
    world->slot[SLOT_EVD_MEMBER] = evd;
    CHECK_OK(
        it_evd_create(node->ia, IT_SOFTWARE_EVENT_STREAM, IT_EVD_CREATE_FD, 4, 1, NULL, &evd, &fd));
    world->slot[SLOT_EVD_FD] = evd;
}

static void make_eps(struct status_world *world)
{
    it_ep_attributes_t attr = status_attributes();
    it_ep_handle_t ended_peer = fx_ep(&world->other, NULL);
    it_ep_handle_t srq_ep;

    world->slot[SLOT_EP] = fx_ep(&world->node, &attr);
    world->slot[SLOT_EP_CONNECTED] = fx_ep(&world->node, &attr);
    world->slot[SLOT_EP_ENDED] = fx_ep(&world->node, &attr);
    world->peer = fx_ep(&world->other, &attr);
    fx_join(&world->node, world->slot[SLOT_EP_CONNECTED], &world->other, world->peer);
    fx_join(&world->node, world->slot[SLOT_EP_ENDED], &world->other, ended_peer);
    CHECK_OK(it_ep_disconnect(world->slot[SLOT_EP_ENDED], NULL, 0));
    fx_conn(world->node.conn_evd, world->slot[SLOT_EP_ENDED], IT_CM_MSG_CONN_DISCONNECT_EVENT);
    fx_conn(world->other.conn_evd, ended_peer, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    world->slot[SLOT_SRQ] = fx_srq(&world->node, STATUS_SEGMENT, STATUS_DEPTH);
    world->slot[SLOT_SRQ_SPARE] = fx_srq(&world->node, STATUS_SEGMENT, STATUS_DEPTH);
    srq_ep = fx_srq_ep(&world->node, world->slot[SLOT_SRQ], &attr);
    world->slot[SLOT_EP_SRQ] = srq_ep;
}

static void make_memory(struct status_world *world)
{
    it_ep_handle_t ep = world->slot[SLOT_EP_CONNECTED];
    struct fx_part part;

    world->memory = fx_buf_make(&world->node, STATUS_MEMORY);
    world->linked = fx_buf_make(&world->node, STATUS_MEMORY);
    world->zone_memory = fx_buf_make_as(world->slot[SLOT_PZ_ZONE], STATUS_MEMORY, FX_PRIVS_ALL,
                                        IT_ADDR_MODE_ABSOLUTE);
    world->foreign_memory = fx_buf_make(&world->other, STATUS_MEMORY);
    part = fx_whole(&world->linked);
    world->slot[SLOT_LMR] = world->memory.lmr;
    world->slot[SLOT_LMR_LINKED] = world->linked.lmr;
    world->slot[SLOT_LMR_ZONE] = world->zone_memory.lmr;
    world->slot[SLOT_RMR] = fx_rmr(world->node.pz, IT_RMR_TYPE_WIDE);
    world->slot[SLOT_RMR_ZONE] = fx_rmr(world->slot[SLOT_PZ_ZONE], IT_RMR_TYPE_WIDE);
    world->slot[SLOT_RMR_LINKED] = fx_rmr(world->node.pz, IT_RMR_TYPE_WIDE);
    world->slot[SLOT_RMR_NARROW] = fx_rmr(world->node.pz, IT_RMR_TYPE_NARROW);
    (void)fx_linked(world->node.request_evd, ep, world->slot[SLOT_RMR_LINKED], &part);
    (void)fx_linked(world->node.request_evd, ep, world->slot[SLOT_RMR_NARROW], &part);
}

static void make_foreign(struct status_world *world)
{
    uint16_t port = 0;

    world->foreign[OBJECT_IA] = world->other.ia;
    world->foreign[OBJECT_PZ] = world->other.pz;
    world->foreign[OBJECT_EVD] = world->other.request_evd;
    world->foreign[OBJECT_EP] = world->peer;
    world->foreign[OBJECT_LISTEN] = fx_listen(&world->other, &port);
    world->foreign[OBJECT_LMR] = world->foreign_memory.lmr;
    world->foreign[OBJECT_RMR] = fx_rmr(world->other.pz, IT_RMR_TYPE_WIDE);
    world->foreign[OBJECT_SRQ] = fx_srq(&world->other, 1, 1);
}

static void make_live(struct status_world *world)
{
    world->live[OBJECT_IA] = world->node.ia;
    world->live[OBJECT_PZ] = world->node.pz;
    world->live[OBJECT_EVD] = world->slot[SLOT_EVD];
    world->live[OBJECT_EP] = world->slot[SLOT_EP];
    world->live[OBJECT_LISTEN] = world->slot[SLOT_LISTEN];
    world->live[OBJECT_LMR] = world->slot[SLOT_LMR];
    world->live[OBJECT_RMR] = world->slot[SLOT_RMR];
    world->live[OBJECT_SRQ] = world->slot[SLOT_SRQ];
}

/* Made last: the memory of a freed object is used for the next one of its kind. */
static void make_stale(struct status_world *world)
{
    it_ia_handle_t ia = NULL;
    it_pz_handle_t pz = NULL;
    struct fx_buf buf = fx_buf_make(&world->node, 8);
    uint16_t port = 0;

    CHECK_OK(it_ia_create(fx_interface(), 2, 1, &ia));
    CHECK_OK(it_pz_create(world->node.ia, &pz));
    world->stale[OBJECT_IA] = ia;
    world->stale[OBJECT_PZ] = pz;
    world->stale[OBJECT_EVD] = fx_evd(&world->node, IT_SOFTWARE_EVENT_STREAM, 1, 1);
    world->stale[OBJECT_EP] = fx_ep(&world->node, NULL);
    world->stale[OBJECT_LISTEN] = fx_listen(&world->node, &port);
    world->stale[OBJECT_LMR] = buf.lmr;
    world->stale[OBJECT_RMR] = fx_rmr(pz, IT_RMR_TYPE_WIDE);
    world->stale[OBJECT_SRQ] = fx_srq(&world->node, 1, 1);
    CHECK_OK(it_srq_free(world->stale[OBJECT_SRQ]));
    CHECK_OK(it_rmr_free(world->stale[OBJECT_RMR]));
    CHECK_OK(it_listen_free(world->stale[OBJECT_LISTEN]));
    CHECK_OK(it_ep_free(world->stale[OBJECT_EP]));
    CHECK_OK(it_evd_free(world->stale[OBJECT_EVD]));
    CHECK_OK(it_pz_free(pz));
    CHECK_OK(it_ia_free(ia));
    fx_buf_free(&buf);
}

void status_world_open(struct status_world *world)
{
    it_ia_handle_t ia = NULL;
    it_pz_handle_t pz = NULL;
    it_srq_handle_t srq = NULL;

    memset(world, 0, sizeof(*world));
    CHECK_OK(it_ia_create(fx_interface(), 2, 1, &ia));
    world->slot[SLOT_IA_SPARE] = ia;
    fx_node_open(&world->node);
    fx_node_open(&world->other);
    world->slot[SLOT_IA] = world->node.ia;
    world->slot[SLOT_PZ] = world->node.pz;
    CHECK_OK(it_pz_create(world->node.ia, &pz));
    world->slot[SLOT_PZ_ZONE] = pz;
    CHECK_OK(it_pz_create(world->node.ia, &pz));
    world->slot[SLOT_PZ_SPARE] = pz;
    make_evds(world);
    make_eps(world);
    make_memory(world);
    CHECK_OK(it_srq_create(world->slot[SLOT_PZ_ZONE], STATUS_SEGMENT, STATUS_DEPTH, &srq));
    world->slot[SLOT_SRQ_ZONE] = srq;
    world->slot[SLOT_LISTEN] = fx_listen(&world->node, &world->port);
    world->listener = raw_listen(&world->listener_port);
    make_foreign(world);
    make_live(world);
    make_stale(world);
}

/* ---- Looking and closing -------------------------------------------------------------------- */

void status_world_check(const struct status_world *world)
{
    for (int i = SLOT_NONE + 1; i < SLOTS; i++) {
        it_handle_type_enum_t type = IT_HANDLE_TYPE_IA;

        if (world->slot[i] != NULL)
            EXPECT_OK(it_get_handle_type(world->slot[i], &type));
    }
    EXPECT_EQ(IT_EP_STATE_UNCONNECTED, fx_ep_state(world->slot[SLOT_EP]));
    EXPECT_EQ(IT_EP_STATE_UNCONNECTED, fx_ep_state(world->slot[SLOT_EP_SRQ]));
    EXPECT_EQ(IT_EP_STATE_CONNECTED, fx_ep_state(world->slot[SLOT_EP_CONNECTED]));
    EXPECT_EQ(IT_EP_STATE_NONOPERATIONAL, fx_ep_state(world->slot[SLOT_EP_ENDED]));
    EXPECT(fx_is_linked(world->slot[SLOT_RMR_LINKED]));
    EXPECT(fx_is_linked(world->slot[SLOT_RMR_NARROW]));
    EXPECT(!fx_is_linked(world->slot[SLOT_RMR]));
    for (int i = SLOT_EVD; i <= SLOT_EVD_FD; i++)
        fx_empty(world->slot[i]);
    fx_empty(world->other.conn_evd);
    fx_empty(world->other.recv_evd);
}

/* The regions were freed with their IA. */
static void forget(struct fx_buf *buf)
{
    buf->lmr = NULL;
    fx_buf_free(buf);
}

void status_world_close(struct status_world *world)
{
    (void)close(world->listener);
    (void)it_ia_free(world->slot[SLOT_IA_SPARE]); /* unless a call has freed it */
    fx_node_close(&world->node);
    fx_node_close(&world->other);
    forget(&world->memory);
    forget(&world->linked);
    forget(&world->zone_memory);
    forget(&world->foreign_memory);
}
