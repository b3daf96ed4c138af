/* SPDX-License-Identifier: BSD-2-Clause */
#include "faults/faults_side.h"

#include <stdlib.h>
#include <string.h>

static struct leg **known;
static unsigned known_count;

void sides_legs(struct leg **legs, unsigned count)
{
    known = legs;
    known_count = count;
}

static void callback(it_evd_handle_t evd, void *argument)
{
    struct side *side = argument;
    it_event_t event;

    while (it_evd_dequeue(evd, &event) == IT_SUCCESS) {
        (void)pthread_mutex_lock(&side->lock);
        side->taken[side->taken_count++ % 256] = event;
        (void)pthread_mutex_unlock(&side->lock);
    }
}

static bool evds_open(struct side *side)
{
    it_ia_handle_t ia = side->ia;
    int fd;

    return JUDGE(it_evd_create, (ia, IT_DTO_EVENT_STREAM, IT_EVD_CREATE_FD, 512,
                                 IT_THRESHOLD_DISABLE, NULL, &side->request_evd, &fd)) &&
           JUDGE(it_evd_create, (ia, IT_DTO_EVENT_STREAM, 0, 512, IT_THRESHOLD_DISABLE, NULL,
                                 &side->recv_evd, NULL)) &&
           JUDGE(it_evd_create,
                 (ia, IT_AEVD_NOTIFICATION_EVENT_STREAM, 0, 0, 0, NULL, &side->aevd, NULL)) &&
           JUDGE(it_evd_create, (ia, IT_CM_MSG_EVENT_STREAM, 0, 64, IT_THRESHOLD_DISABLE,
                                 side->aevd, &side->conn_evd, NULL)) &&
           JUDGE(it_evd_create, (ia, IT_CM_REQ_EVENT_STREAM, 0, 64, IT_THRESHOLD_DISABLE,
                                 side->aevd, &side->listen_evd, NULL)) &&
           JUDGE(it_evd_create, (ia, IT_ASYNC_AFF_EVENT_STREAM, 0, 64, IT_THRESHOLD_DISABLE, NULL,
                                 &side->aff_evd, NULL));
}

static bool spigot_open(struct side *side)
{
    it_ia_info_t *info = NULL;

    if (!JUDGE(it_ia_query, (side->ia, &info)))
        return false;
    side->spigot = info->spigot_info[0].spigot_id;
    for (size_t i = 0; i < info->num_spigots; i++) {
        const it_spigot_info_t *spigot = &info->spigot_info[i];

        for (size_t n = 0; n < spigot->num_net_addr; n++) {
            if (spigot->net_addr[n].addr_type == IT_IPV4 &&
                spigot->net_addr[n].addr.ipv4.s_addr == htonl(INADDR_LOOPBACK))
                side->spigot = spigot->spigot_id;
        }
    }
    it_ia_info_free(info);
    return true;
}

static bool side_fill(struct side *side, bool with_callback)
{
    return JUDGE(it_ia_create, ("uiwarp", 2, 1, &side->ia)) && spigot_open(side) &&
           JUDGE(it_pz_create, (side->ia, &side->pz)) && evds_open(side) &&
           JUDGE(it_lmr_create21, (side->pz, side->data, NULL, SIDE_OCTETS, IT_ADDR_MODE_ABSOLUTE,
                                   IT_PRIV_ALL, IT_LMR_FLAG_NONE, 0, &side->lmr, &side->key)) &&
           (!with_callback || JUDGE(it_evd_callback_attach, (side->recv_evd, callback, side)));
}

bool side_open(struct side *side, bool with_callback)
{
    memset(side, 0, sizeof(*side));
    (void)pthread_mutex_init(&side->lock, NULL);
    side->data = calloc(1, SIDE_OCTETS);
    if (side_fill(side, with_callback))
        return true;
    side_close(side);
    return false;
}

void side_close(struct side *side)
{
    if (side->ia)
        MUST(it_ia_free, (side->ia));
    free(side->data);
    (void)pthread_mutex_destroy(&side->lock);
    memset(side, 0, sizeof(*side));
}

it_lmr_triplet_t side_segment(const struct side *side, size_t offset, size_t length)
{
    return (it_lmr_triplet_t){.lmr = side->lmr, .addr.abs = side->data + offset, .length = length};
}

it_rdma_addr_t side_address(const struct side *side, size_t offset)
{
    return it_make_rdma_addr_absolute(side->data + offset);
}

/* ---- Events ---------------------------------------------------------------------------------- */

/* Returns NULL if the endpoint was freed. */
static struct leg *leg_of(it_ep_handle_t ep)
{
    for (unsigned i = 0; i < known_count; i++) {
        if (known[i]->ep == ep)
            return known[i];
    }
    return NULL;
}

static void take_event(struct side *side, const it_event_t *event)
{
    struct leg *leg;

    switch (event->event_number & IT_EVENT_STREAM_MASK) {
    case IT_DTO_EVENT_STREAM:
        judge_completion(leg_of(event->dto_cmpl.ep), &event->dto_cmpl);
        break;
    case IT_CM_MSG_EVENT_STREAM:
        leg = leg_of(event->conn.ep);
        if (leg)
            judge_connection(leg, event->event_number);
        break;
    case IT_CM_REQ_EVENT_STREAM:
        if (side->request) /* the peer has tried again with revision 1, with the new request */
            (void)it_reject(side->request, NULL, 0);
        side->request = event->conn_req.cn_est_id;
        break;
    case IT_ASYNC_AFF_EVENT_STREAM:
        leg = leg_of(event->aff_async.cause.ep);
        if (leg && (++leg->affiliated > 1 || leg->strict))
            find_say("%s: %s", leg->name, itx_event_string(event->event_number));
        break;
    default:
        find_say("%s", itx_event_string(event->event_number));
    }
}

static bool look_at(struct side *side, it_evd_handle_t evd)
{
    it_event_t event;
    it_status_t status = it_evd_dequeue(evd, &event);

    if (status == IT_SUCCESS)
        take_event(side, &event);
    else if (status != IT_ERR_QUEUE_EMPTY)
        find_say("it_evd_dequeue: %s", itx_status_string(status));
    return status == IT_SUCCESS;
}

static bool look_at_taken(struct side *side)
{
    it_event_t events[256];
    unsigned count;

    (void)pthread_mutex_lock(&side->lock);
    count = side->taken_count;
    memcpy(events, side->taken, count * sizeof(events[0]));
    side->taken_count = 0;
    (void)pthread_mutex_unlock(&side->lock);
    for (unsigned i = 0; i < count; i++)
        take_event(side, &events[i]);
    return count != 0;
}

static bool look_at_side(struct side *side)
{
    it_evd_handle_t evds[] = {side->request_evd, side->recv_evd, side->aevd, side->aff_evd};
    bool found = look_at_taken(side);

    for (unsigned i = 0; i < 4; i++) {
        while (look_at(side, evds[i]))
            found = true;
    }
    return found;
}

/* Waits on the EVDs in turn, one for each call. */
static void sleep_on(struct side *side, unsigned turn)
{
    it_event_t event;
    it_status_t status = it_evd_wait(turn % 2 ? side->request_evd : side->aevd, 1000, &event, NULL);

    if (status == IT_SUCCESS)
        take_event(side, &event);
    else if (status != IT_ERR_TIMEOUT_EXPIRED && status != IT_ERR_INTERRUPT)
        find_say("it_evd_wait: %s", itx_status_string(status));
}

void sides_look(struct side *sides, unsigned count)
{
    static unsigned turn;
    bool found = false;

    for (unsigned i = 0; i < count; i++)
        found |= look_at_side(&sides[i]);
    turn++;
    if (!found)
        sleep_on(&sides[turn / 2 % count], turn);
}
