/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What all posting calls check before the provider takes over: no lock, no heap, no indirect call.
 * The state and the room in the queue are looked at by the provider, together with queueing.
 */
#ifndef ITAPI_UAL_UAL_POST_H
#define ITAPI_UAL_UAL_POST_H

#include "ual/ual_provider.h"

/* Flags by operation. */
#define UAL_POST_RECV_FLAGS                                                                        \
    ((unsigned)IT_COMPLETION_FLAG | (unsigned)IT_NOTIFY_FLAG | (unsigned)IT_COALESCE_WR_FLAG)
#define UAL_POST_RDMA_FLAGS (UAL_POST_RECV_FLAGS | (unsigned)IT_BARRIER_FENCE_FLAG)
#define UAL_POST_SEND_FLAGS (UAL_POST_RDMA_FLAGS | (unsigned)IT_SOLICITED_WAIT_FLAG)

/* With IT_UNLINK_LOCAL_SINK there is one sink: which one it means must be clear. */
static inline unsigned ual_post_read_flags(const struct ual_ep *ep, size_t segment_count)
{
    const struct ual_ia *ia = ual_ia_of(&ep->object);
    bool may_unlink = segment_count == 1 && ia->provider->ia_attributes(ia)->read_extensions;

    return UAL_POST_RDMA_FLAGS | (may_unlink ? (unsigned)IT_UNLINK_LOCAL_SINK : 0u);
}

/* The limits of an EP may be changed by it_ep_modify meanwhile: the old or the new one counts. */
static inline size_t ual_post_limit(const size_t *limit)
{
    return __atomic_load_n(limit, __ATOMIC_RELAXED);
}

/*
 * `on` is the EP or S-RQ. Handles of another IA are as bad as dead ones. *length gets the sum,
 * UINT64_MAX if it wraps.
 */
static inline it_status_t ual_post_sum(const struct base_object *on,
                                       const it_lmr_triplet_t *segments, size_t count,
                                       uint64_t *length)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < count; i++) {
        const struct ual_lmr *lmr = ual_lmr_from(segments[i].lmr);

        if (!lmr || lmr->object.ia != on->ia)
            return IT_ERR_INVALID_LMR;
        sum = segments[i].length > UINT64_MAX - sum ? UINT64_MAX : sum + segments[i].length;
    }
    *length = sum;
    return IT_SUCCESS;
}

/* Everything up to the segments themselves. */
static inline it_status_t ual_post_check(const struct base_object *on,
                                         const it_lmr_triplet_t *segments, size_t count,
                                         size_t max_count, it_dto_flags_t flags,
                                         unsigned legal_flags)
{
    if (!segments && count > 0)
        return IT_ERR_FAULT;
    if (ual_ia_failed(ual_ia_of(on)))
        return IT_ERR_IA_CATASTROPHE;
    if ((unsigned)flags & ~legal_flags)
        return IT_ERR_INVALID_DTO_FLAGS;
    if (count > max_count)
        return IT_ERR_INVALID_NUM_SEGMENTS;
    return IT_SUCCESS;
}

#define UAL_LIKELY(condition) __builtin_expect((condition), true)
/* Between two tests: together they would be more instructions. */
#define UAL_APART() __asm__ volatile("")

/*
 * The LMR of a post of one segment that passes: EP and LMR are live, and of the same PZ. NULL: everything
 * is to be looked at more closely, also whether the EP, which may be one, is one.
 */
static inline const struct ual_lmr *ual_post_pass(const struct ual_ep *ep,
                                                  const it_lmr_triplet_t *segments, size_t count)
{
    uintptr_t pass = atomic_load_explicit(&ep->object.admits, memory_order_acquire);
    const struct ual_lmr *lmr;

    if (!UAL_LIKELY(pass != 0))
        return NULL;
    UAL_APART();
    if (!UAL_LIKELY(count == 1))
        return NULL;
    UAL_APART();
    if (!UAL_LIKELY(segments != NULL))
        return NULL;
    lmr = (const struct ual_lmr *)(const void *)segments->lmr;
    if (!UAL_LIKELY(base_object_may_be(lmr)))
        return NULL;
    if (!UAL_LIKELY(atomic_load_explicit(&lmr->object.pass, memory_order_relaxed) == pass))
        return NULL;
    return lmr;
}

/*
 * The same of a request that vp_ep_ops has a shorter way for: IT_COMPLETION_FLAG, with or without
 * IT_NOTIFY_FLAG.
 */
static inline const struct ual_lmr *ual_post_usual(const struct ual_ep *ep,
                                                   const it_lmr_triplet_t *segments, size_t count,
                                                   it_dto_flags_t flags)
{
    const struct ual_lmr *lmr = ual_post_pass(ep, segments, count);
    unsigned others = ((unsigned)flags - (unsigned)IT_COMPLETION_FLAG) & ~(unsigned)IT_NOTIFY_FLAG;

    if (!lmr || !UAL_LIKELY(others == 0))
        return NULL;
    return UAL_LIKELY(segments->length <= ual_post_limit(&ep->attr.max_dto_payload_size)) ? lmr
                                                                                          : NULL;
}

/* A request whose opcode, flags, cookie, segments and remote address are filled in: its length. */
static inline it_status_t ual_post_prepare(const struct ual_ep *ep, struct vp_request *request,
                                           size_t max_count, unsigned legal_flags)
{
    it_status_t status = ual_post_check(&ep->object, request->segments, request->segment_count,
                                        max_count, request->flags, legal_flags);

    if (status != IT_SUCCESS)
        return status;
    status = ual_post_sum(&ep->object, request->segments, request->segment_count, &request->length);
    if (status != IT_SUCCESS)
        return status;
    if (request->length > ual_post_limit(&ep->attr.max_dto_payload_size))
        return IT_ERR_PAYLOAD_SIZE;
    return IT_SUCCESS;
}

static inline it_status_t ual_post_request(struct ual_ep *ep, struct vp_request *request,
                                           size_t max_count, unsigned legal_flags)
{
    it_status_t status = ual_post_prepare(ep, request, max_count, legal_flags);

    return status == IT_SUCCESS ? ep->ops->post_request(ep, request) : status;
}

#endif
