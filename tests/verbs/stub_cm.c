/* SPDX-License-Identifier: BSD-2-Clause */
/* Replaces the connection management of rdma_cm: a function call connects the two ends. */
#include "ual/object/ual_provider.h"
#include "vp/verbs/device/verbs_ep.h"
#include "vp/verbs/cm/verbs_cm_private.h"
#include "vp/verbs/complete/verbs_complete.h"
#include "ual/providers/ual_providers.h"
#include "vp/verbs/qp/verbs_qp.h"
#include "support/check.h"
#include "verbs/stub_device.h"

#include <errno.h>
#include <rdma/rdma_cma.h>
#include <stdatomic.h>
#include <string.h>

static _Atomic unsigned stub_failed, stub_heard_count;

void stub_start(void)
{
    memset(&stub, 0, sizeof(stub));
    atomic_store(&stub_failed, 0);
    atomic_store(&stub_heard_count, 0);
    (void)vp_register(VP_ENTRY(
        &ual_host, "")); /* returns false if an earlier test of this process registered it */
}

unsigned stub_failures(void)
{
    return atomic_load(&stub_failed);
}

unsigned stub_heard(void)
{
    return atomic_load(&stub_heard_count);
}

static struct verbs_ep *stub_ep(it_ep_handle_t ep)
{
    return verbs_ep_of((struct ual_ep *)(void *)ep);
}

struct ibv_qp *stub_qp(it_ep_handle_t ep)
{
    return stub_ep(ep)->qp;
}

/* Takes a step that must be legal. */
static void stub_step(struct verbs_ep *ep, enum ual_ep_step step)
{
    verbs_host->ep_lock(ep->ual);
    CHECK(verbs_host->ep_step_locked(ep->ual, step));
    verbs_host->ep_unlock(ep->ual);
}

static void stub_establish(struct verbs_ep *ep)
{
    verbs_host->ep_lock(ep->ual);
    verbs_ep_open_locked(ep);
    CHECK(verbs_host->ep_step_locked(ep->ual, UAL_EP_ESTABLISHED));
    verbs_host->ep_unlock(ep->ual);
}

void stub_attempt(it_ep_handle_t a, it_ep_handle_t b)
{
    stub_join(stub_qp(a), stub_qp(b));
    stub_step(stub_ep(a), UAL_EP_CONNECT);
    stub_step(stub_ep(b), UAL_EP_ACCEPT);
}

void stub_established(it_ep_handle_t handle)
{
    static const struct ual_conn_news news = {.number = IT_CM_MSG_CONN_ESTABLISHED_EVENT};

    stub_establish(stub_ep(handle));
    verbs_ep_report_established(stub_ep(handle), &news);
}

void stub_arrived(it_ep_handle_t handle)
{
    stub_step(stub_ep(handle), UAL_EP_ARRIVAL);
}

void stub_attempt_failed(it_ep_handle_t handle)
{
    static const struct ual_conn_news news = {.number = IT_CM_MSG_CONN_NONPEER_REJECT_EVENT};
    struct verbs_ep *ep = stub_ep(handle);

    stub_step(ep, UAL_EP_ATTEMPT_FAILED);
    verbs_ep_break(ep);
    verbs_ep_report_end(ep, &news);
}

void stub_connect(it_ep_handle_t a, it_ep_handle_t b)
{
    stub_attempt(a, b);
    stub_establish(stub_ep(a));
    stub_establish(stub_ep(b));
    verbs_source_show_early(stub_ep(a));
    verbs_source_show_early(stub_ep(b));
}

void stub_disconnected(it_ep_handle_t handle)
{
    struct verbs_ep *ep = stub_ep(handle);
    bool over;

    verbs_host->ep_lock(ep->ual);
    over = verbs_host->ep_step_locked(ep->ual, UAL_EP_CLOSED);
    verbs_host->ep_unlock(ep->ual);
    if (over)
        verbs_ep_break(ep);
}

void stub_disconnect(it_ep_handle_t handle)
{
    static const struct ual_conn_news news = {.number = IT_CM_MSG_CONN_DISCONNECT_EVENT};

    stub_disconnected(handle);
    verbs_ep_report_end(stub_ep(handle), &news);
}

/* ---------------------------------------------------------------- verbs_cm.h */

it_status_t verbs_cm_open(struct verbs_ia *ia)
{
    (void)ia;
    return IT_SUCCESS;
}

void verbs_cm_close(struct verbs_ia *ia)
{
    (void)ia;
}

static void stub_nothing(void *argument)
{
    (void)argument;
}

/* Waits for the IA's thread like the real function: the thread may be about to report on the EP. */
void verbs_cm_ep_end(struct verbs_ep *ep)
{
    verbs_host->ia_call(ep->ia->ual, stub_nothing, NULL);
}

void verbs_cm_ep_forget(struct verbs_ep *ep)
{
    verbs_cm_ep_end(ep);
}

bool verbs_cm_keeps_qp(struct verbs_ep *ep, struct ibv_qp *qp)
{
    (void)ep, (void)qp;
    return false;
}

void verbs_cm_ep_failed(struct verbs_ep *ep)
{
    atomic_fetch_add(&stub_failed, 1);
    stub_disconnected(ep->handle);
}

void verbs_cm_device_gone(struct verbs_ia *ia)
{
    (void)ia;
}

void verbs_cm_ep_heard(struct verbs_ep *ep)
{
    (void)ep;
    atomic_fetch_add(&stub_heard_count, 1);
}

bool verbs_nudge_may_have_failed(struct verbs_ep *ep)
{
    (void)ep;
    return false;
}

it_status_t verbs_paths(struct ual_ia *ual, size_t spigot_id, const it_net_addr_t *to,
                        size_t capacity, it_path_t *paths, size_t *total)
{
    (void)ual, (void)spigot_id, (void)to, (void)capacity, (void)paths;
    *total = 0;
    return IT_SUCCESS;
}

void verbs_counters(struct ual_ia *ual, struct itx_counters *counters)
{
    (void)ual, (void)counters;
}

it_status_t verbs_listen_start(struct ual_listen *listen)
{
    (void)listen;
    return IT_ERR_OP_NOT_SUPPORTED;
}

void verbs_listen_stop(struct ual_listen *listen)
{
    (void)listen;
}

it_status_t verbs_connect(struct ual_ep *ual, const it_path_t *path,
                          const it_conn_attributes_t *attributes, const it_conn_qual_t *qual,
                          it_cn_est_flags_t flags, const void *private_data, size_t length)
{
    (void)ual, (void)path, (void)attributes, (void)qual, (void)flags, (void)private_data;
    (void)length;
    return IT_ERR_OP_NOT_SUPPORTED;
}

it_status_t verbs_accept(struct ual_ep *ual, struct ual_request *request, const void *private_data,
                         size_t length)
{
    (void)ual, (void)request, (void)private_data, (void)length;
    return IT_ERR_OP_NOT_SUPPORTED;
}

it_status_t verbs_reject(struct ual_request *request, const void *private_data, size_t length)
{
    (void)request, (void)private_data, (void)length;
    return IT_ERR_OP_NOT_SUPPORTED;
}

void verbs_request_addresses_locked(struct ual_request *request, struct itx_ep_addresses *addresses)
{
    (void)request;
    (void)addresses;
}

it_status_t verbs_handoff(struct ual_request *request, const it_conn_qual_t *qual, size_t spigot_id)
{
    (void)request, (void)qual, (void)spigot_id;
    return IT_ERR_OP_NOT_SUPPORTED;
}

bool verbs_ep_addresses_locked(struct ual_ep *ual, struct itx_ep_addresses *addresses)
{
    (void)ual, (void)addresses;
    return false;
}

it_status_t verbs_disconnect(struct ual_ep *ual)
{
    (void)ual;
    return IT_ERR_OP_NOT_SUPPORTED;
}

it_status_t verbs_convert(struct ual_ep *ual, const struct vp_convert *convert)
{
    (void)ual, (void)convert;
    return IT_ERR_OP_NOT_SUPPORTED;
}

it_status_t verbs_ud_service_create(struct ual_ud_service *ual)
{
    (void)ual;
    return IT_ERR_OP_NOT_SUPPORTED;
}

void verbs_ud_service_destroy(struct ual_ud_service *ual)
{
    (void)ual;
}

it_status_t verbs_ud_request(struct ual_ud_service *ual)
{
    (void)ual;
    return IT_ERR_OP_NOT_SUPPORTED;
}

it_status_t verbs_ud_reply(struct ual_request *request, const struct vp_ud_reply *reply)
{
    (void)request, (void)reply;
    return IT_ERR_OP_NOT_SUPPORTED;
}

bool verbs_path_is_ethernet(const struct verbs_ia *ia, size_t spigot_id)
{
    (void)ia, (void)spigot_id;
    return true;
}

it_status_t verbs_path_source(struct verbs_cm *cm, const it_path_t *path, it_ib_gid_t *gid)
{
    (void)cm, (void)path, (void)gid;
    return IT_ERR_INVALID_SOURCE_PATH;
}

/* ---------------------------------------------------------------- librdmacm, for addresses */

int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
    (void)id, (void)param;
    CHECK(!"nothing is accepted here");
    return -1;
}

int rdma_reject(struct rdma_cm_id *id, const void *private_data, uint8_t length)
{
    (void)id, (void)private_data, (void)length;
    CHECK(!"nothing is rejected here");
    return -1;
}

int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context,
                   enum rdma_port_space space)
{
    (void)channel, (void)id, (void)context, (void)space;
    errno = ENODEV;
    return -1;
}

int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *address)
{
    (void)id, (void)address;
    errno = ENODEV;
    return -1;
}

int rdma_destroy_id(struct rdma_cm_id *id)
{
    (void)id;
    return 0;
}
