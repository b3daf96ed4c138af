/* SPDX-License-Identifier: BSD-2-Clause */
/* Regions by key, and copies between segments. */
#include "loop.h"

#include <string.h>

struct loop_lmr {
    struct ual_lmr *ual;
    struct loop_lmr *next;
};

static struct loop_lmr *loop_lmrs;
static uint64_t loop_last_key;

it_status_t loop_lmr_create(struct ual_lmr *ual)
{
    struct loop_lmr *lmr = vp_area(loop_host, VP_LMR, ual);

    pthread_mutex_lock(&loop_lock);
    loop_host->lmr_set_key(ual, ++loop_last_key * 0x9e3779b97f4a7c15ull);
    lmr->ual = ual;
    lmr->next = loop_lmrs;
    loop_lmrs = lmr;
    pthread_mutex_unlock(&loop_lock);
    return IT_SUCCESS;
}

/* Octets are copied only while the lock is held. */
void loop_lmr_destroy(struct ual_lmr *ual)
{
    struct loop_lmr **link = &loop_lmrs;

    pthread_mutex_lock(&loop_lock);
    while ((*link)->ual != ual)
        link = &(*link)->next;
    *link = (*link)->next;
    pthread_mutex_unlock(&loop_lock);
}

static struct loop_lmr *loop_find(it_rmr_context_t key, struct vp_lmr_info *info)
{
    struct loop_lmr *lmr;

    for (lmr = loop_lmrs; lmr; lmr = lmr->next) {
        loop_host->lmr_info(lmr->ual, info);
        if (info->key == key)
            return lmr;
    }
    return NULL;
}

void loop_segments(struct loop_segment *to, const it_lmr_triplet_t *from, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct vp_lmr_info info;

        to[i].lmr = vp_lmr_of(from[i].lmr);
        loop_host->lmr_info(to[i].lmr, &info);
        to[i].key = info.key;
        to[i].addr = info.addr_mode == IT_ADDR_MODE_RELATIVE
                         ? (uint8_t *)info.addr + from[i].addr.rel
                         : from[i].addr.abs;
        to[i].length = from[i].length;
    }
}

static bool loop_is_inside(const struct vp_lmr_info *info, uint64_t offset, uint64_t length)
{
    return offset <= info->length && length <= info->length - offset;
}

bool loop_is_allowed(const struct loop_segment *segments, size_t count, it_mem_priv_t right,
                     const struct ual_pz *pz)
{
    for (size_t i = 0; i < count; i++) {
        struct vp_lmr_info info;

        if (segments[i].length == 0)
            continue;
        if (!loop_find(segments[i].key, &info) || info.pz != pz || !(info.privs & right) ||
            !loop_is_inside(&info, (uint64_t)(segments[i].addr - (uint8_t *)info.addr),
                            segments[i].length))
            return false;
    }
    return true;
}

uint8_t *loop_remote(struct loop_ep *ep, it_rmr_context_t key, it_rdma_addr_t to, uint64_t length,
                     it_mem_priv_t right)
{
    struct vp_lmr_info info;
    uint64_t base;

    if (!loop_find(key, &info) || info.pz != ep->pz || !(info.privs & right))
        return NULL;
    base = info.addr_mode == IT_ADDR_MODE_RELATIVE ? 0 : (uintptr_t)info.addr;
    if (!loop_is_inside(&info, to - base, length))
        return NULL;
    return (uint8_t *)info.addr + (to - base);
}

uint64_t loop_length(const struct loop_segment *segments, size_t count)
{
    uint64_t length = 0;

    for (size_t i = 0; i < count; i++)
        length += segments[i].length;
    return length;
}

void loop_gather(uint8_t *to, const struct loop_segment *from, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        memmove(to, from[i].addr, from[i].length);
        to += from[i].length;
    }
}

void loop_scatter(const struct loop_segment *to, size_t count, const uint8_t *from, uint64_t length)
{
    for (size_t i = 0; i < count && length > 0; i++) {
        uint64_t part = to[i].length < length ? to[i].length : length;

        memmove(to[i].addr, from, part);
        from += part;
        length -= part;
    }
}

void loop_copy(const struct loop_segment *to, size_t to_count, const struct loop_segment *from,
               size_t from_count)
{
    uint64_t done = 0; /* of to[0] */

    for (size_t i = 0; i < from_count; i++) {
        uint64_t offset = 0;

        while (offset < from[i].length && to_count > 0) {
            uint64_t part = from[i].length - offset;

            if (part > to->length - done)
                part = to->length - done;
            memmove(to->addr + done, from[i].addr + offset, part);
            offset += part;
            done += part;
            if (done == to->length) {
                to++;
                to_count--;
                done = 0;
            }
        }
    }
}
