/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The checks of all posting calls before the provider takes over: no lock, no heap. The calls go by
 * the object's table (base/base_entries.h), which may be the provider's own. The provider checks
 * state and room when it queues the request.
 */
#ifndef ITAPI_UAL_POST_UAL_POST_H
#define ITAPI_UAL_POST_UAL_POST_H

#include "ual/object/ual_provider.h"

#define UAL_LIKELY(condition) __builtin_expect((condition), true)

/*
 * Posts on EPs without a fast path of their provider: with all checks, also whether the handle is a
 * live one.
 */
extern const struct base_entries ual_ep_entries;
/* Posting on an S-RQ. */
extern const struct base_entries ual_srq_entries;

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

/* The limits of an EP may be changed by it_ep_modify at any time: the old or the new one counts. */
static inline size_t ual_post_limit(const size_t *limit)
{
    return __atomic_load_n(limit, __ATOMIC_RELAXED);
}

/*
 * `on` is the EP or S-RQ. Handles of another IA are as bad as dead ones. *length gets the sum,
 * UINT64_MAX if it wraps.
 */
static inline it_status_t ual_post_sum(const char *call, const struct base_object *on,
                                       const it_lmr_triplet_t *segments, size_t count,
                                       uint64_t *length)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < count; i++) {
        const struct ual_lmr *lmr = ual_lmr_from(segments[i].lmr);

        if (!lmr || lmr->object.ia != on->ia)
            return base_refuse(IT_ERR_INVALID_LMR, call, "local_segments[%zu].lmr %p", i,
                               (void *)segments[i].lmr);
        sum = segments[i].length > UINT64_MAX - sum ? UINT64_MAX : sum + segments[i].length;
    }
    *length = sum;
    return IT_SUCCESS;
}

/* Everything up to the segments themselves. call: the name of the call that posts. */
static inline it_status_t ual_post_check(const char *call, const struct base_object *on,
                                         const it_lmr_triplet_t *segments, size_t count,
                                         size_t max_count, it_dto_flags_t flags,
                                         unsigned legal_flags)
{
    if (!segments && count > 0)
        return base_refuse(IT_ERR_FAULT, call, "%zu local_segments at NULL", count);
    if (ual_ia_failed(ual_ia_of(on)))
        return IT_ERR_IA_CATASTROPHE;
    if ((unsigned)flags & ~legal_flags)
        return base_refuse(IT_ERR_INVALID_DTO_FLAGS, call, "dto_flags %#x, legal are %#x",
                           (unsigned)flags, legal_flags);
    if (count > max_count)
        return base_refuse(IT_ERR_INVALID_NUM_SEGMENTS, call, "num_segments %zu, at most %zu",
                           count, max_count);
    return IT_SUCCESS;
}

/* To what a peer must have a receive for, and what it only lets in or out, other limits apply. */
static inline uint64_t ual_post_length_limit(const struct ual_ep *ep, enum vp_opcode opcode)
{
    bool one_sided =
        opcode == VP_RDMA_WRITE || opcode == VP_RDMA_READ || opcode == VP_RDMA_READ_TO_RMR;

    return one_sided ? ual_ia_of(&ep->object)->max_message
                     : ual_post_limit(&ep->attr.max_dto_payload_size);
}

static inline it_status_t ual_post_too_long(const char *call, const struct ual_ep *ep,
                                            const struct vp_request *request)
{
    return base_refuse(IT_ERR_PAYLOAD_SIZE, call, "%llu octets in local_segments, at most %llu",
                       (unsigned long long)request->length,
                       (unsigned long long)ual_post_length_limit(ep, request->opcode));
}

/* A request whose opcode, flags, cookie, segments and remote address are filled in: its length. */
static inline it_status_t ual_post_prepare(const char *call, const struct ual_ep *ep,
                                           struct vp_request *request, size_t max_count,
                                           unsigned legal_flags)
{
    it_status_t status =
        ual_post_check(call, &ep->object, request->segments, request->segment_count, max_count,
                       request->flags, legal_flags);

    if (status != IT_SUCCESS)
        return status;
    status = ual_post_sum(call, &ep->object, request->segments, request->segment_count,
                          &request->length);
    if (status != IT_SUCCESS)
        return status;
    if (request->length > ual_post_length_limit(ep, request->opcode))
        return ual_post_too_long(call, ep, request);
    return IT_SUCCESS;
}

/* The line about a post that its provider has refused, by the state or without room. */
it_status_t ual_post_refuse(const char *call, const struct ual_ep *ep, it_status_t status)
    __attribute__((cold));

static inline it_status_t ual_post_hand_over(const char *call, struct ual_ep *ep,
                                             const struct vp_request *request)
{
    it_status_t status = ep->ops->post_request(ep, request);

    return UAL_LIKELY(status == IT_SUCCESS) ? status : ual_post_refuse(call, ep, status);
}

static inline it_status_t ual_post_request(const char *call, struct ual_ep *ep,
                                           struct vp_request *request, size_t max_count,
                                           unsigned legal_flags)
{
    it_status_t status = ual_post_prepare(call, ep, request, max_count, legal_flags);

    return status == IT_SUCCESS ? ual_post_hand_over(call, ep, request) : status;
}

#endif
