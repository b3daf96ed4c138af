/* SPDX-License-Identifier: BSD-2-Clause */
#include "ual/ual_request.h"

#include "ual/ual_provider.h"

#include <string.h>

#define UAL_REQUEST_BUCKETS 256u

static struct base_lock ual_request_lock;
/* By ual_request_lock: */
static struct ual_request *ual_request_table[UAL_REQUEST_BUCKETS];
static it_cn_est_identifier_t ual_request_last_id;

/* Ids are given in a row: their low bits spread well. */
static struct ual_request **ual_request_bucket(it_cn_est_identifier_t id)
{
    return &ual_request_table[id % UAL_REQUEST_BUCKETS];
}

static void ual_request_insert_locked(struct ual_request *request)
{
    struct ual_request **bucket = ual_request_bucket(request->id);

    base_lock_assert_held(&ual_request_lock);
    request->next = *bucket;
    *bucket = request;
}

/* The link that points to the request of that id, or to NULL. */
static struct ual_request **ual_request_find_locked(it_cn_est_identifier_t id)
{
    struct ual_request **link = ual_request_bucket(id);

    base_lock_assert_held(&ual_request_lock);
    while (*link && (*link)->id != id)
        link = &(*link)->next;
    return link;
}

void ual_request_add(struct ual_request *request)
{
    base_lock_take(&ual_request_lock);
    request->id = ++ual_request_last_id;
    ual_request_insert_locked(request);
    base_lock_drop(&ual_request_lock);
}

void ual_request_put_back(struct ual_request *request)
{
    base_lock_take(&ual_request_lock);
    ual_request_insert_locked(request);
    base_lock_drop(&ual_request_lock);
}

struct ual_request *ual_request_take(it_cn_est_identifier_t id, const struct ual_ia *ia)
{
    struct ual_request **link, *request;

    base_lock_take(&ual_request_lock);
    link = ual_request_find_locked(id);
    request = *link;
    if (request && ia && request->ia != ia)
        request = NULL;
    if (request)
        *link = request->next;
    base_lock_drop(&ual_request_lock);
    return request;
}

struct ual_ia *ual_request_ia(it_cn_est_identifier_t id)
{
    struct ual_request *request;
    struct ual_ia *ia;

    base_lock_take(&ual_request_lock);
    request = *ual_request_find_locked(id);
    ia = request ? request->ia : NULL;
    base_lock_drop(&ual_request_lock);
    return ia;
}

bool ual_request_withdraw(struct ual_request *request)
{
    struct ual_request **link;
    bool found;

    base_lock_take(&ual_request_lock);
    link = ual_request_find_locked(request->id);
    found = *link == request;
    if (found)
        *link = request->next;
    base_lock_drop(&ual_request_lock);
    return found;
}

static void ual_request_tell(const struct ual_request *request, it_event_t *event)
{
    it_conn_request_event_t *news = &event->conn_req;
    size_t length = request->private_length;

    memset(event, 0, sizeof(*event));
    news->event_number = IT_CM_REQ_CONN_REQUEST_EVENT;
    news->cn_est_id = request->id;
    news->conn_qual = request->conn_qual;
    news->source_addr = request->source_addr;
    news->spigot_id = request->spigot_id;
    news->rdma_read_ird = request->peer_ird;
    news->rdma_read_ord = request->peer_ord;
    if (length > IT_MAX_PRIV_DATA)
        length = IT_MAX_PRIV_DATA;
    if (length > 0) {
        memcpy(news->private_data, request->private_data, length);
        news->private_data_present = IT_TRUE;
    }
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

/* Unlinks the requests of one IA; returns them chained by .next. */
static struct ual_request *ual_request_take_all(const struct ual_ia *ia)
{
    struct ual_request *taken = NULL;

    base_lock_take(&ual_request_lock);
    for (unsigned i = 0; i < UAL_REQUEST_BUCKETS; i++) {
        struct ual_request **link = &ual_request_table[i];

        while (*link) {
            struct ual_request *request = *link;

            if (request->ia != ia) {
                link = &request->next;
                continue;
            }
            *link = request->next;
            request->next = taken;
            taken = request;
        }
    }
    base_lock_drop(&ual_request_lock);
    return taken;
}

void ual_request_refuse_all(struct ual_ia *ia)
{
    struct ual_request *request = ual_request_take_all(ia);

    while (request) {
        struct ual_request *next = request->next; /* a refused one may be gone at once */

        if (ia->provider->reject(request, NULL, 0) != IT_SUCCESS)
            ual_request_put_back(request); /* the provider's ia_close withdraws it */
        request = next;
    }
}
