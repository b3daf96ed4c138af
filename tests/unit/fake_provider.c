/* SPDX-License-Identifier: BSD-2-Clause */
#include "unit/fake_provider.h"
#include "ual/providers/ual_providers.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

struct fake fake;

static void fake_require(bool condition)
{
    if (!condition)
        abort(); /* Criterion reports the test as crashed */
}

static void fake_note(char letter)
{
    size_t used = strlen(fake.closing);

    if (used + 1 < sizeof(fake.closing))
        fake.closing[used] = letter;
}

/* ---------------------------------------------------------------- IA */

static size_t fake_interfaces(it_interface_t *interfaces, size_t capacity)
{
    if (capacity > 0) {
        memset(interfaces, 0, sizeof(*interfaces));
        interfaces->major_version = 2;
        interfaces->minor_version = 1;
        interfaces->transport_type = fake.attributes.transport_type;
        strcpy(interfaces->name, FAKE_NAME);
    }
    return 1;
}

static bool fake_has_interface(const char *name)
{
    return strcmp(name, FAKE_NAME) == 0;
}

static it_status_t fake_ia_open(struct ual_ia *ia)
{
    (void)ia;
    fake.calls.ia_open++;
    return fake.answer;
}

static void fake_ia_close(struct ual_ia *ia)
{
    (void)ia;
    fake.calls.ia_close++;
    fake_note('i');
}

static const struct vp_attributes *fake_ia_attributes(const struct ual_ia *ia)
{
    (void)ia;
    return &fake.attributes;
}

static it_status_t fake_ia_query(struct ual_ia *ia, it_ia_info_t **info)
{
    (void)ia;
    if (fake.answer != IT_SUCCESS)
        return fake.answer;
    *info = ual_ia_info_alloc(1, 2);
    if (!*info)
        return IT_ERR_RESOURCES;
    (*info)->spigot_info[0].spigot_id = FAKE_SPIGOT;
    (*info)->spigot_info[0].num_net_addr = 2;
    (*info)->spigot_info[0].net_addr[0].addr_type = IT_IPV4;
    (*info)->spigot_info[0].net_addr[1].addr_type = IT_IPV6;
    return IT_SUCCESS;
}

static bool fake_has_spigot(const struct ual_ia *ia, size_t spigot_id)
{
    (void)ia;
    return fake.spigots ? spigot_id < 32 && (fake.spigots >> spigot_id & 1u) != 0
                        : spigot_id == FAKE_SPIGOT;
}

static it_status_t fake_has_address(const struct ual_ia *ia, const it_net_addr_t *address)
{
    bool has = false;

    (void)ia;
    if (address->addr_type == IT_IPV4)
        has = ntohl(address->addr.ipv4.s_addr) == INADDR_LOOPBACK;
    else if (address->addr_type == IT_IPV6)
        has = IN6_IS_ADDR_LOOPBACK(&address->addr.ipv6);
    return has ? IT_SUCCESS : IT_ERR_INVALID_ADDRESS;
}

static it_status_t fake_paths(struct ual_ia *ia, size_t spigot_id, const it_net_addr_t *to,
                              size_t capacity, it_path_t *paths, size_t *total)
{
    (void)ia;
    (void)to;
    if (fake.answer != IT_SUCCESS)
        return fake.answer;
    *total = 2;
    for (size_t i = 0; i < capacity && i < 2; i++) {
        memset(&paths[i], 0, sizeof(paths[i]));
        paths[i].spigot_id = spigot_id;
        paths[i].timeout = i + 1;
    }
    return IT_SUCCESS;
}

static void fake_ep_counters(struct ual_ep *ep, struct itx_ep_counters *counters)
{
    (void)ep;
    counters->requests_posted = 33;
    counters->nudges = 44;
}

static void fake_counters(struct ual_ia *ia, struct itx_counters *counters)
{
    (void)ia;
    counters->bytes_sent = 11;
    counters->thread_wakeups = 22;
}

/* ---------------------------------------------------------------- PZ, LMR */

static it_status_t fake_pz_create(struct ual_pz *pz)
{
    (void)pz;
    fake.calls.pz_create++;
    return fake.answer;
}

static void fake_pz_destroy(struct ual_pz *pz)
{
    (void)pz;
    fake.calls.pz_destroy++;
    fake_note('p');
}

static it_status_t fake_lmr_create(struct ual_lmr *lmr)
{
    fake.calls.lmr_create++;
    lmr->key = FAKE_KEY;
    atomic_store(&lmr->linked, true);
    return fake.answer;
}

static it_status_t fake_lmr_modify(struct ual_lmr *lmr, struct ual_pz *pz, it_mem_priv_t privs)
{
    (void)pz;
    (void)privs;
    fake.calls.lmr_modify++;
    if (fake.answer == IT_SUCCESS)
        lmr->key++;
    return fake.answer;
}

static void fake_lmr_destroy(struct ual_lmr *lmr)
{
    (void)lmr;
    fake.calls.lmr_destroy++;
    fake_note('m');
}

/* ---------------------------------------------------------------- RMR */

static it_status_t fake_rmr_create(struct ual_rmr *rmr)
{
    fake.calls.rmr_create++;
    if (rmr->type == IT_RMR_TYPE_DEFAULT)
        rmr->type = IT_RMR_TYPE_WIDE;
    return fake.answer;
}

static void fake_rmr_destroy(struct ual_rmr *rmr)
{
    (void)rmr;
    fake.calls.rmr_destroy++;
    fake_note('r');
}

static void fake_rmr_query(struct ual_rmr *rmr, struct vp_rmr_state *state)
{
    (void)rmr;
    *state = fake.rmr;
}

/* ---------------------------------------------------------------- posting */

static it_status_t fake_post_request(struct ual_ep *ep, const struct vp_request *request)
{
    (void)ep;
    fake.calls.post_request++;
    fake.request = *request;
    if (request->link)
        fake.link = *request->link;
    return fake.answer;
}

static it_status_t fake_post_recv(struct ual_ep *ep, const it_lmr_triplet_t *segments, size_t count,
                                  it_dto_cookie_t cookie, it_dto_flags_t flags)
{
    (void)ep;
    fake.calls.post_recv++;
    fake.request = (struct vp_request){
        .segments = segments, .segment_count = count, .cookie = cookie, .flags = flags};
    return fake.answer;
}

/* ---------------------------------------------------------------- S-RQ */

static it_status_t fake_post_srq_recv(struct ual_srq *srq, const it_lmr_triplet_t *segments,
                                      size_t count, it_dto_cookie_t cookie, it_dto_flags_t flags)
{
    (void)srq;
    fake.calls.post_srq_recv++;
    fake.request = (struct vp_request){
        .segments = segments, .segment_count = count, .cookie = cookie, .flags = flags};
    return fake.answer;
}

static const struct vp_srq_ops fake_srq_ops = {
    .post_recv = fake_post_srq_recv,
};

static it_status_t fake_srq_create(struct ual_srq *srq)
{
    fake.calls.srq_create++;
    srq->ops = &fake_srq_ops;
    srq->max_recv_dtos++; /* the provider may round up */
    return fake.answer;
}

static void fake_srq_destroy(struct ual_srq *srq)
{
    (void)srq;
    fake.calls.srq_destroy++;
    fake_note('s');
}

static it_status_t fake_srq_modify(struct ual_srq *srq, it_srq_param_mask_t mask,
                                   const it_srq_param_t *params)
{
    fake.calls.srq_modify++;
    if (fake.answer != IT_SUCCESS)
        return fake.answer;
    base_lock_take(&srq->lock);
    if (mask & IT_SRQ_PARAM_MAX_RECV_DTO)
        srq->max_recv_dtos = params->max_recv_dtos;
    if (mask & IT_SRQ_PARAM_LOW_WATERMARK)
        srq->low_watermark = params->low_watermark;
    base_lock_drop(&srq->lock);
    return IT_SUCCESS;
}

/* ---------------------------------------------------------------- EP */

static const struct vp_ep_ops fake_ep_ops = {
    .post_request = fake_post_request,
    .post_recv = fake_post_recv,
};

static it_status_t fake_ep_create(struct ual_ep *ep)
{
    fake.calls.ep_create++;
    ep->ops = &fake_ep_ops;
    ep->attr.max_request_dtos++; /* the provider may round up */
    return fake.answer;
}

static void fake_ep_destroy(struct ual_ep *ep)
{
    (void)ep;
    fake.calls.ep_destroy++;
    fake_note('e');
}

static void fake_ep_halt(struct ual_ep *ep)
{
    (void)ep;
    fake.halted++;
}

static void fake_ep_proceed(struct ual_ep *ep, it_ep_param_mask_t changed)
{
    (void)ep;
    fake.halted--;
    fake.changed = changed;
}

static it_status_t fake_ep_modify(struct ual_ep *ep, it_ep_param_mask_t mask,
                                  it_ep_attributes_t *attr)
{
    base_lock_assert_held(&ep->lock);
    fake.calls.ep_modify++;
    if (fake.lowers_ord && (mask & IT_EP_PARAM_MAX_ORD))
        attr->srv.rc.rdma_read_ord--;
    return fake.answer;
}

static it_status_t fake_ep_reset(struct ual_ep *ep)
{
    fake.calls.ep_reset++;
    if (fake.answer == IT_SUCCESS) {
        base_lock_take(&ep->lock);
        (void)ual_ep_step_locked(ep, UAL_EP_RESET, NULL); /* the test checks the state */
        base_lock_drop(&ep->lock);
    }
    return fake.answer;
}

static struct itx_mpa_params fake_mpa;

static it_status_t fake_ep_set_mpa(struct ual_ep *ep, const struct itx_mpa_params *params)
{
    (void)ep;
    fake_mpa = *params;
    return fake.answer;
}

static it_status_t fake_ep_get_mpa(struct ual_ep *ep, struct itx_mpa_params *params)
{
    (void)ep;
    *params = fake_mpa;
    return fake.answer;
}

static it_status_t fake_ep_query_mpa(struct ual_ep *ep, struct itx_mpa_info *info)
{
    (void)ep;
    info->revision = 2;
    info->max_ulpdu = 1460;
    return fake.answer;
}

/* ---------------------------------------------------------------- connections */

static it_status_t fake_listen_start(struct ual_listen *listen)
{
    fake.calls.listen_start++;
    if (!(listen->flags & IT_LISTEN_CONN_QUAL_INPUT))
        listen->conn_qual.conn_qual.port = htons(4711);
    return fake.answer;
}

static void fake_listen_stop(struct ual_listen *listen)
{
    (void)listen;
    fake.calls.listen_stop++;
    fake_note('l');
}

static it_status_t fake_connect(struct ual_ep *ep, const it_path_t *path,
                                const it_conn_attributes_t *attributes, const it_conn_qual_t *qual,
                                it_cn_est_flags_t flags, const void *private_data, size_t length)
{
    (void)ep;
    (void)path;
    (void)attributes;
    (void)qual;
    (void)flags;
    (void)private_data;
    fake.calls.connect++;
    fake.private_length = length;
    return fake.answer;
}

static it_status_t fake_accept(struct ual_ep *ep, struct ual_request *request,
                               const void *private_data, size_t length)
{
    (void)ep;
    (void)request;
    (void)private_data;
    fake.calls.accept++;
    fake.private_length = length;
    return fake.answer;
}

static it_status_t fake_reject(struct ual_request *request, const void *private_data, size_t length)
{
    (void)request;
    (void)private_data;
    fake.calls.reject++;
    fake.private_length = length;
    return fake.answer;
}

/* A provider may give the new identifier before it knows that the event does not fit. */
static it_status_t fake_handoff(struct ual_request *request, const it_conn_qual_t *qual,
                                size_t spigot_id)
{
    (void)qual;
    (void)spigot_id;
    fake.calls.handoff++;
    ual_request_add(request);
    if (fake.answer != IT_SUCCESS)
        (void)ual_request_withdraw(request); /* the request was not announced to anybody */
    return fake.answer;
}

static it_status_t fake_disconnect(struct ual_ep *ep)
{
    (void)ep;
    fake.calls.disconnect++;
    return fake.answer;
}

static it_status_t fake_convert(struct ual_ep *ep, const struct vp_convert *convert)
{
    (void)ep;
    fake.calls.convert++;
    fake.convert = *convert;
    return fake.answer;
}

/* ---------------------------------------------------------------- datagrams */

static it_status_t fake_address_create(struct ual_address *address, const it_path_t *path,
                                       it_ah_flags_t flags)
{
    (void)address, (void)path, (void)flags;
    fake.calls.address_create++;
    return fake.answer;
}

static it_status_t fake_address_modify(struct ual_address *address, const it_path_t *path)
{
    (void)address, (void)path;
    fake.calls.address_modify++;
    return fake.answer;
}

static void fake_address_destroy(struct ual_address *address)
{
    (void)address;
    fake.calls.address_destroy++;
    fake_note('a');
}

static it_status_t fake_ud_service_create(struct ual_ud_service *service)
{
    (void)service;
    fake.calls.ud_service_create++;
    return fake.answer;
}

static void fake_ud_service_destroy(struct ual_ud_service *service)
{
    (void)service;
    fake.calls.ud_service_destroy++;
    fake_note('u');
}

static it_status_t fake_ud_request(struct ual_ud_service *service)
{
    (void)service;
    fake.calls.ud_request++;
    return fake.answer;
}

static it_status_t fake_ud_reply(struct ual_request *request, const struct vp_ud_reply *reply)
{
    (void)request;
    fake.calls.ud_reply++;
    fake.reply = *reply;
    fake.private_length = reply->private_length;
    return fake.answer;
}

const struct vp_provider fake_provider = {
    .abi = VP_ABI,
    .size = sizeof(struct vp_provider),
    .name = "fake",
    .ia_area = 8,
    .pz_area = 8,
    .lmr_area = 8,
    .srq_area = 8,
    .rmr_area = 8,
    .ep_area = 8,
    .listen_area = 8,
    .address_area = 8,
    .ud_service_area = 8,
    .interfaces = fake_interfaces,
    .has_interface = fake_has_interface,
    .ia_open = fake_ia_open,
    .ia_close = fake_ia_close,
    .ia_attributes = fake_ia_attributes,
    .ia_query = fake_ia_query,
    .has_spigot = fake_has_spigot,
    .has_address = fake_has_address,
    .paths = fake_paths,
    .counters = fake_counters,
    .ep_counters = fake_ep_counters,
    .pz_create = fake_pz_create,
    .pz_destroy = fake_pz_destroy,
    .lmr_create = fake_lmr_create,
    .lmr_destroy = fake_lmr_destroy,
    .srq_create = fake_srq_create,
    .srq_destroy = fake_srq_destroy,
    .srq_modify = fake_srq_modify,
    .lmr_modify = fake_lmr_modify,
    .rmr_create = fake_rmr_create,
    .rmr_destroy = fake_rmr_destroy,
    .rmr_query = fake_rmr_query,
    .ep_create = fake_ep_create,
    .ep_destroy = fake_ep_destroy,
    .ep_halt = fake_ep_halt,
    .ep_proceed = fake_ep_proceed,
    .ep_modify_locked = fake_ep_modify,
    .ep_reset = fake_ep_reset,
    .ep_set_mpa = fake_ep_set_mpa,
    .ep_get_mpa = fake_ep_get_mpa,
    .ep_query_mpa = fake_ep_query_mpa,
    .listen_start = fake_listen_start,
    .listen_stop = fake_listen_stop,
    .connect = fake_connect,
    .accept = fake_accept,
    .reject = fake_reject,
    .handoff = fake_handoff,
    .disconnect = fake_disconnect,
    .convert = fake_convert,
    .address_create = fake_address_create,
    .address_modify = fake_address_modify,
    .address_destroy = fake_address_destroy,
    .ud_service_create = fake_ud_service_create,
    .ud_service_destroy = fake_ud_service_destroy,
    .ud_request = fake_ud_request,
    .ud_reply = fake_ud_reply,
};

void fake_setup(void)
{
    fake.attributes = (struct vp_attributes){
        .transport_type = IT_IWARP_TCP_TRANSPORT,
        .socket_conversion = IT_TRUE,
        .queues_resizable = IT_TRUE,
        .ird_modifiable = IT_TRUE,
        .enables_modifiable = IT_TRUE,
        .max_request_dtos = 64,
        .max_recv_dtos = 65,
        .max_srq_dtos = 100,
        .max_send_segments = 4,
        .max_recv_segments = 5,
        .max_read_segments = 6,
        .max_write_segments = 7,
        .max_message = 1 << 20,
        .max_lmr_length = UINT64_C(1) << 40,
        .max_ird = 8,
        .max_ord = 9,
        .max_evd_queue = 1024,
        .connect_pdata = 16,
        .accept_pdata = 17,
        .reject_pdata = 18,
        .disconnect_pdata = 0,
        .active_quals = (it_conn_qual_type_t)(IT_IANA_PORT | IT_IANA_LR_PORT),
        .passive_quals = (it_conn_qual_type_t)(IT_IANA_PORT | IT_IANA_LR_PORT),
    };
    fake_require(vp_register(&fake_provider));
}

/* ---------------------------------------------------------------- world */

static it_evd_handle_t fake_evd(it_ia_handle_t ia, it_event_type_t stream)
{
    it_evd_handle_t evd;

    fake_require(it_evd_create(ia, stream, (it_evd_flags_t)0, 16, 0, NULL, &evd, NULL) ==
                 IT_SUCCESS);
    return evd;
}

void fake_world_open(struct fake_world *world)
{
    memset(world, 0, sizeof(*world));
    fake_require(it_ia_create(FAKE_NAME, 2, 1, &world->ia) == IT_SUCCESS);
    fake_require(it_pz_create(world->ia, &world->pz) == IT_SUCCESS);
    world->dto_evd = fake_evd(world->ia, IT_DTO_EVENT_STREAM);
    world->conn_evd = fake_evd(world->ia, IT_CM_MSG_EVENT_STREAM);
    world->req_evd = fake_evd(world->ia, IT_CM_REQ_EVENT_STREAM);
    world->aevd = fake_evd(world->ia, IT_AEVD_NOTIFICATION_EVENT_STREAM);
    fake_require(it_lmr_create10(world->pz, world->memory, sizeof(world->memory), IT_PRIV_LOCAL,
                                 IT_LMR_FLAG_NONE, 0, &world->lmr, NULL) == IT_SUCCESS);
    world->attr = (it_ep_attributes_t){
        .max_dto_payload_size = 1000,
        .max_request_dtos = 10,
        .max_recv_dtos = 11,
        .max_send_segments = 1,
        .max_recv_segments = 2,
        .srv.rc =
            {
                .rdma_read_enable = IT_TRUE,
                .max_rdma_read_segments = 3,
                .max_rdma_write_segments = 4,
                .rdma_read_ird = 5,
                .rdma_read_ord = 6,
            },
    };
    fake_require(it_ep_rc_create(world->pz, world->dto_evd, world->dto_evd, world->conn_evd,
                                 IT_EP_NO_FLAG, &world->attr, &world->ep) == IT_SUCCESS);
}

void fake_world_close(struct fake_world *world)
{
    fake_require(it_ia_free(world->ia) == IT_SUCCESS);
}

void fake_ep_force(it_ep_handle_t ep, it_ep_state_rc_t state)
{
    atomic_store(&((struct ual_ep *)(void *)ep)->state, (int)state);
}

void fake_request_arrives(struct ual_request *request, const struct fake_world *world)
{
    memset(request, 0, sizeof(*request));
    request->ia = (struct ual_ia *)(void *)world->ia;
    request->connect_evd = evd_from_handle(world->req_evd);
    request->spigot_id = FAKE_SPIGOT;
    ual_request_add(request);
}
