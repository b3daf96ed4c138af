/* SPDX-License-Identifier: BSD-2-Clause */
/* Connection management in place of rdma_cm: the two ends are joined by a function call. */
#include "ual/ual_host.h"
#include "ual/ual_provider.h"
#include "ual/verbs/verbs.h"
#include "ual/verbs/verbs_cm_private.h"
#include "support/check.h"
#include "verbs/stub_device.h"

#include <errno.h>
#include <rdma/rdma_cma.h>
#include <stdatomic.h>
#include <string.h>

static _Atomic unsigned stub_failed;

void stub_start(void)
{
    memset(&stub, 0, sizeof(stub));
    atomic_store(&stub_failed, 0);
    (void)vp_register(VP_ENTRY(&ual_host, "")); /* false: an earlier test of this process did */
}

unsigned stub_failures(void)
{
    return atomic_load(&stub_failed);
}

static struct vrb_ep *stub_ep(it_ep_handle_t ep)
{
    return vrb_ep_of((struct ual_ep *)(void *)ep);
}

struct ibv_qp *stub_qp(it_ep_handle_t ep)
{
    return stub_ep(ep)->qp;
}

static void stub_establish(struct vrb_ep *ep, enum ual_ep_step first)
{
    vrb_host->ep_lock(ep->ual);
    CHECK(vrb_host->ep_step_locked(ep->ual, first));
    vrb_ep_open_locked(ep);
    CHECK(vrb_host->ep_step_locked(ep->ual, UAL_EP_ESTABLISHED));
    vrb_host->ep_unlock(ep->ual);
}

void stub_connect(it_ep_handle_t a, it_ep_handle_t b)
{
    stub_join(stub_qp(a), stub_qp(b));
    stub_establish(stub_ep(a), UAL_EP_CONNECT);
    stub_establish(stub_ep(b), UAL_EP_ACCEPT);
}

void stub_disconnected(it_ep_handle_t handle)
{
    struct vrb_ep *ep = stub_ep(handle);
    bool over;

    vrb_host->ep_lock(ep->ual);
    over = vrb_host->ep_step_locked(ep->ual, UAL_EP_CLOSED);
    vrb_host->ep_unlock(ep->ual);
    if (over)
        vrb_ep_break(ep);
}

/* ---------------------------------------------------------------- verbs_cm.h */

it_status_t vrb_cm_open(struct vrb_ia *ia)
{
    (void)ia;
    return IT_SUCCESS;
}

void vrb_cm_close(struct vrb_ia *ia)
{
    (void)ia;
}

void vrb_cm_ep_end(struct vrb_ep *ep)
{
    (void)ep;
}

void vrb_cm_ep_forget(struct vrb_ep *ep)
{
    (void)ep;
}

void vrb_cm_ep_failed(struct vrb_ep *ep)
{
    atomic_fetch_add(&stub_failed, 1);
    stub_disconnected(ep->handle);
}

void vrb_cm_device_gone(struct vrb_ia *ia)
{
    (void)ia;
}

void vrb_cm_ep_heard(struct vrb_ep *ep)
{
    (void)ep;
}

bool vrb_nudge_may_have_failed(struct vrb_ep *ep)
{
    (void)ep;
    return false;
}

it_status_t vrb_paths(struct ual_ia *ual, size_t spigot_id, const it_net_addr_t *to,
                      size_t capacity, it_path_t *paths, size_t *total)
{
    (void)ual, (void)spigot_id, (void)to, (void)capacity, (void)paths;
    *total = 0;
    return IT_SUCCESS;
}

void vrb_counters(struct ual_ia *ual, struct itx_counters *counters)
{
    (void)ual, (void)counters;
}

it_status_t vrb_listen_start(struct ual_listen *listen)
{
    (void)listen;
    return IT_ERR_OP_NOT_SUPPORTED;
}

void vrb_listen_stop(struct ual_listen *listen)
{
    (void)listen;
}

it_status_t vrb_connect(struct ual_ep *ual, const it_path_t *path,
                        const it_conn_attributes_t *attributes, const it_conn_qual_t *qual,
                        it_cn_est_flags_t flags, const void *private_data, size_t length)
{
    (void)ual, (void)path, (void)attributes, (void)qual, (void)flags, (void)private_data;
    (void)length;
    return IT_ERR_OP_NOT_SUPPORTED;
}

it_status_t vrb_accept(struct ual_ep *ual, struct ual_request *request, const void *private_data,
                       size_t length)
{
    (void)ual, (void)request, (void)private_data, (void)length;
    return IT_ERR_OP_NOT_SUPPORTED;
}

it_status_t vrb_reject(struct ual_request *request, const void *private_data, size_t length)
{
    (void)request, (void)private_data, (void)length;
    return IT_ERR_OP_NOT_SUPPORTED;
}

it_status_t vrb_handoff(struct ual_request *request, const it_conn_qual_t *qual, size_t spigot_id)
{
    (void)request, (void)qual, (void)spigot_id;
    return IT_ERR_OP_NOT_SUPPORTED;
}

it_status_t vrb_disconnect(struct ual_ep *ual)
{
    (void)ual;
    return IT_ERR_OP_NOT_SUPPORTED;
}

it_status_t vrb_convert(struct ual_ep *ual, const struct vp_convert *convert)
{
    (void)ual, (void)convert;
    return IT_ERR_OP_NOT_SUPPORTED;
}

it_status_t vrb_ud_service_create(struct ual_ud_service *ual)
{
    (void)ual;
    return IT_ERR_OP_NOT_SUPPORTED;
}

void vrb_ud_service_destroy(struct ual_ud_service *ual)
{
    (void)ual;
}

it_status_t vrb_ud_request(struct ual_ud_service *ual)
{
    (void)ual;
    return IT_ERR_OP_NOT_SUPPORTED;
}

it_status_t vrb_ud_reply(struct ual_request *request, const struct vp_ud_reply *reply)
{
    (void)request, (void)reply;
    return IT_ERR_OP_NOT_SUPPORTED;
}

bool vrb_path_is_ethernet(const struct vrb_ia *ia, size_t spigot_id)
{
    (void)ia, (void)spigot_id;
    return true;
}

it_status_t vrb_path_source(struct vrb_cm *cm, const it_path_t *path, it_ib_gid_t *gid)
{
    (void)cm, (void)path, (void)gid;
    return IT_ERR_INVALID_SOURCE_PATH;
}

/* ---------------------------------------------------------------- librdmacm, for addresses */

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
