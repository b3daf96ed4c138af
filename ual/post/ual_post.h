/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The checks of all posting calls before the provider takes over. They take no lock and no memory.
 * The calls go through the object's table (base/base_entries.h), which may be the provider's own.
 * The provider checks state and room when it queues the request.
 */
#ifndef ITAPI_UAL_POST_UAL_POST_H
#define ITAPI_UAL_POST_UAL_POST_H

#include "ual/object/ual_provider.h"

#define UAL_LIKELY(condition) __builtin_expect((condition), true)

/*
 * Posting on EPs without a shortcut of their provider: all checks, including whether the handle is
 * live.
 */
extern const struct base_entries ual_ep_entries;
/* Posting on an S-RQ. */
extern const struct base_entries ual_srq_entries;

/* Legal flags by operation. */
#define UAL_POST_RECV_FLAGS                                                                        \
    ((unsigned)IT_COMPLETION_FLAG | (unsigned)IT_NOTIFY_FLAG | (unsigned)IT_COALESCE_WR_FLAG)
#define UAL_POST_RDMA_FLAGS (UAL_POST_RECV_FLAGS | (unsigned)IT_BARRIER_FENCE_FLAG)
#define UAL_POST_SEND_FLAGS (UAL_POST_RDMA_FLAGS | (unsigned)IT_SOLICITED_WAIT_FLAG)

/* IT_UNLINK_LOCAL_SINK is legal only with one segment: the region to unlink is unambiguous. */
static inline unsigned ual_post_read_flags(const struct ual_ep *ep, size_t segment_count)
{
    const struct ual_ia *ia = ual_ia_of(&ep->object);
    bool may_unlink = segment_count == 1 && ia->provider->ia_attributes(ia)->read_extensions;

    return UAL_POST_RDMA_FLAGS | (may_unlink ? (unsigned)IT_UNLINK_LOCAL_SINK : 0u);
}

/* it_ep_modify may change the limits of an EP at any time: a post sees the old or the new one. */
static inline size_t ual_post_limit(const size_t *limit)
{
    return __atomic_load_n(limit, __ATOMIC_RELAXED);
}

/*
 * Checks the segments and sums their lengths in *length; UINT64_MAX if the sum wraps. on is the EP
 * or S-RQ. A handle of another IA is as invalid as a dead one.
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

/* Checks all arguments except the segments' contents. call: the name of the call that posts. */
static inline it_status_t ual_post_check(const char *call, const struct base_object *on,
                                         const void *segments, size_t count, size_t max_count,
                                         it_dto_flags_t flags, unsigned legal_flags)
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

/*
 * Returns the limit on the length of one request. A message that consumes a receive at the peer has
 * the EP's limit, a one-sided operation that of the IA.
 */
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

/*
 * Checks a request whose opcode, flags, cookie, segments and remote address are filled in, and sets
 * its length.
 */
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

/* Logs a post that the provider has refused because of the state or for lack of room. */
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
