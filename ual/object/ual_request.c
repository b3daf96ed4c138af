/* SPDX-License-Identifier: BSD-2-Clause */
#include "ual/object/ual_request.h"

#include "evd/deliver/evd_deliver.h"
#include "evd/evd_private_data.h"
#include "ual/object/ual_extension.h"
#include "ual/object/ual_provider.h"

#include <string.h>

#define UAL_REQUEST_BUCKETS 256u

static struct base_lock ual_request_lock;
/* Guarded by ual_request_lock: */
static struct base_list ual_request_table[UAL_REQUEST_BUCKETS];
static it_cn_est_identifier_t ual_request_last_id;

/* Ids are consecutive, so their low bits spread well. */
static struct base_list *ual_request_bucket(it_cn_est_identifier_t id)
{
    return &ual_request_table[id % UAL_REQUEST_BUCKETS];
}

void ual_requests_forget(void)
{
    base_lock_init(&ual_request_lock);
    memset(ual_request_table, 0, sizeof(ual_request_table));
}

static void ual_request_insert_locked(struct ual_request *request)
{
    base_lock_assert_held(&ual_request_lock);
    base_list_prepend(ual_request_bucket(request->id), &request->link);
}

static void ual_request_remove_locked(struct ual_request *request)
{
    base_lock_assert_held(&ual_request_lock);
    base_list_remove(ual_request_bucket(request->id), &request->link);
}

static struct ual_request *ual_request_find_locked(it_cn_est_identifier_t id)
{
    base_lock_assert_held(&ual_request_lock);
    BASE_LIST_EACH(struct ual_request, request, ual_request_bucket(id), link) {
        if (request->id == id)
            return request;
    }
    return NULL;
}

void ual_request_add(struct ual_request *request)
{
    base_lock_take(&ual_request_lock);
    request->id = ++ual_request_last_id;
    ual_request_insert_locked(request);
    base_lock_drop(&ual_request_lock);
}

void ual_request_put_back(struct ual_request *request, uint64_t id)
{
    base_lock_take(&ual_request_lock);
    request->id = id;
    ual_request_insert_locked(request);
    base_lock_drop(&ual_request_lock);
}

struct ual_request *ual_request_take(uint64_t id, const struct ual_ia *ia, bool datagram)
{
    struct ual_request *request;

    base_lock_take(&ual_request_lock);
    request = ual_request_find_locked(id);
    if (request && (request->datagram != datagram || (ia && request->ia != ia)))
        request = NULL;
    if (request)
        ual_request_remove_locked(request);
    base_lock_drop(&ual_request_lock);
    return request;
}

struct ual_ia *ual_request_ia(uint64_t id, bool datagram)
{
    struct ual_request *request;
    struct ual_ia *ia;

    base_lock_take(&ual_request_lock);
    request = ual_request_find_locked(id);
    ia = request && request->datagram == datagram ? request->ia : NULL;
    base_lock_drop(&ual_request_lock);
    return ia;
}

static it_status_t ual_request_read_addresses(uint64_t id, struct itx_ep_addresses *addresses)
{
    it_status_t status = IT_ERR_INVALID_CN_EST_ID;
    struct ual_request *request;

    base_lock_take(&ual_request_lock);
    request = ual_request_find_locked(id);
    if (request && !request->datagram) {
        status = IT_ERR_OP_NOT_SUPPORTED;
        if (VP_PROVIDER_HAS(request->ia->provider, request_addresses_locked)) {
            request->ia->provider->request_addresses_locked(request, addresses);
            status = IT_SUCCESS;
        }
    }
    base_lock_drop(&ual_request_lock);
    return status;
}

it_status_t itx_request_query_addresses(it_cn_est_identifier_t cn_est_id,
                                        struct itx_ep_addresses *addresses)
{
    struct itx_ep_addresses own = {.size = sizeof(own)};
    it_status_t status =
        ual_extension_check(__func__, "addresses", addresses, UAL_EP_ADDRESSES_MIN);

    if (status != IT_SUCCESS)
        return status;
    status = ual_request_read_addresses(cn_est_id, &own);
    if (status != IT_SUCCESS)
        return base_refuse_number(status, __func__, cn_est_id);
    ual_extension_write(addresses, addresses->size, &own, sizeof(own));
    return IT_SUCCESS;
}

bool ual_request_withdraw(struct ual_request *request)
{
    bool found;

    base_lock_take(&ual_request_lock);
    found = ual_request_find_locked(request->id) == request;
    if (found)
        ual_request_remove_locked(request);
    base_lock_drop(&ual_request_lock);
    return found;
}

static void ual_request_tell_ud(const struct ual_request *request, it_event_t *event)
{
    it_ud_svc_request_event_t *news = &event->ud_svc_request;

    news->event_number = IT_CM_REQ_UD_SERVICE_REQUEST_EVENT;
    news->ud_svc_req_id = request->id;
    news->conn_qual = request->conn_qual;
    news->source_addr = request->source_addr;
    news->spigot_id = request->spigot_id;
    evd_private_data_put(event, news->private_data, &news->private_data_present,
                         request->private_data, request->private_length);
}

static void ual_request_tell(const struct ual_request *request, it_event_t *event)
{
    it_conn_request_event_t *news = &event->conn_req;

    memset(event, 0, sizeof(*event));
    if (request->datagram) {
        ual_request_tell_ud(request, event);
        return;
    }
    news->event_number = IT_CM_REQ_CONN_REQUEST_EVENT;
    news->cn_est_id = request->id;
    news->conn_qual = request->conn_qual;
    news->source_addr = request->source_addr;
    news->spigot_id = request->spigot_id;
    news->rdma_read_ird = request->peer_ird;
    news->rdma_read_ord = request->peer_ord;
    evd_private_data_put(event, news->private_data, &news->private_data_present,
                         request->private_data, request->private_length);
}

bool ual_request_announce(const struct ual_request *request)
{
    it_event_t event;

    ual_request_tell(request, &event);
    return evd_deliver(request->connect_evd, &event);
}

bool ual_request_announce_unless_full(const struct ual_request *request)
{
    it_event_t event;

    ual_request_tell(request, &event);
    return evd_push_unless_full(request->connect_evd, &event);
}

static void ual_request_take_all(const struct ual_ia *ia, struct base_list *taken)
{
    base_lock_take(&ual_request_lock);
    for (unsigned i = 0; i < UAL_REQUEST_BUCKETS; i++) {
        BASE_LIST_EACH_REMOVABLE(struct ual_request, request, &ual_request_table[i], link) {
            if (request->ia != ia)
                continue;
            base_list_remove(&ual_request_table[i], &request->link);
            base_list_prepend(taken, &request->link);
        }
    }
    base_lock_drop(&ual_request_lock);
}

static void ual_request_refuse(struct ual_request *request)
{
    static const struct vp_ud_reply refusal = {.status = IT_UD_SVC_REQ_REJECTED};
    const struct vp_provider *provider = request->ia->provider;
    it_cn_est_identifier_t id = request->id;
    it_status_t status = request->datagram ? provider->ud_reply(request, &refusal)
                                           : provider->reject(request, NULL, 0);

    if (status != IT_SUCCESS)
        ual_request_put_back(request, id); /* the provider's ia_close withdraws it */
}

void ual_request_refuse_id(uint64_t id, bool datagram)
{
    struct ual_request *request = ual_request_take(id, NULL, datagram);

    if (request)
        ual_request_refuse(request);
}

void ual_request_refuse_all(struct ual_ia *ia)
{
    struct base_list taken = {NULL, NULL};
    struct ual_request *request;

    ual_request_take_all(ia, &taken);
    while ((request = BASE_LIST_ITEM(base_list_take(&taken), struct ual_request, link)) != NULL)
        ual_request_refuse(request);
}
