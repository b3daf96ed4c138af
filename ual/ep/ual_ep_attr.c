/* SPDX-License-Identifier: BSD-2-Clause */
#include "ual/ep/ual_ep.h"

#include "ual/post/ual_post.h"

/* A member of it_ep_attributes_t, of 4 or 8 octets, and the limit that its IA sets. */
struct ual_ep_member {
    unsigned bit; /* of it_ep_param_mask_t */
    const char *name;
    size_t offset, size;
    size_t limit, limit_size; /* in vp_attributes; size 0: no limit */
    it_status_t status;       /* returned above the limit */
};

#define UAL_SIZE_OF(type, member) sizeof(((type *)0)->member)
#define UAL_PLAIN(bit, name, member)                                                               \
    bit, name, offsetof(it_ep_attributes_t, member), UAL_SIZE_OF(it_ep_attributes_t, member)
#define UAL_LIMIT(limit, status)                                                                   \
    offsetof(struct vp_attributes, limit), UAL_SIZE_OF(struct vp_attributes, limit), status
#define UAL_NO_LIMIT           0, 0, IT_SUCCESS
#define UAL_QUEUE(bit, member) UAL_PLAIN(bit, "attr->" #member, member)
#define UAL_RC(bit, member)    UAL_PLAIN(bit, "rc->" #member, srv.rc.member)

/* In the order of the checks. */
static const struct ual_ep_member ual_ep_members[] = {
    {UAL_QUEUE(IT_EP_PARAM_MAX_PAYLOAD, max_dto_payload_size),
     UAL_LIMIT(max_message, IT_ERR_PAYLOAD_SIZE)},
    {UAL_QUEUE(IT_EP_PARAM_MAX_REQ_DTO, max_request_dtos),
     UAL_LIMIT(max_request_dtos, IT_ERR_RESOURCE_REQ_DTO)},
    {UAL_QUEUE(IT_EP_PARAM_MAX_RECV_DTO, max_recv_dtos),
     UAL_LIMIT(max_recv_dtos, IT_ERR_RESOURCE_RECV_DTO)},
    {UAL_QUEUE(IT_EP_PARAM_MAX_SEND_SEG, max_send_segments),
     UAL_LIMIT(max_send_segments, IT_ERR_RESOURCE_SSEG)},
    {UAL_QUEUE(IT_EP_PARAM_MAX_RECV_SEG, max_recv_segments),
     UAL_LIMIT(max_recv_segments, IT_ERR_RESOURCE_RSEG)},
    {UAL_RC(IT_EP_PARAM_MAX_RDMA_READ_SEG, max_rdma_read_segments),
     UAL_LIMIT(max_read_segments, IT_ERR_RESOURCE_RRSEG)},
    {UAL_RC(IT_EP_PARAM_MAX_RDMA_WRITE_SEG, max_rdma_write_segments),
     UAL_LIMIT(max_write_segments, IT_ERR_RESOURCE_RWSEG)},
    {UAL_RC(IT_EP_PARAM_MAX_IRD, rdma_read_ird), UAL_LIMIT(max_ird, IT_ERR_RESOURCE_IRD)},
    {UAL_RC(IT_EP_PARAM_MAX_ORD, rdma_read_ord), UAL_LIMIT(max_ord, IT_ERR_RESOURCE_ORD)},
    {UAL_QUEUE(IT_EP_PARAM_PRIV_OPS_ENABLE, priv_ops_enable), UAL_NO_LIMIT},
    {UAL_RC(IT_EP_PARAM_RDMA_RD_ENABLE, rdma_read_enable), UAL_NO_LIMIT},
    {UAL_RC(IT_EP_PARAM_RDMA_WR_ENABLE, rdma_write_enable), UAL_NO_LIMIT},
    {UAL_RC(IT_EP_PARAM_ATOMICS_ENABLE, atomics_enable), UAL_NO_LIMIT},
    {UAL_RC(IT_EP_PARAM_SRQ, srq), UAL_NO_LIMIT},
    {UAL_RC(IT_EP_PARAM_SOFT_HI_WATERMARK, soft_hi_watermark), UAL_NO_LIMIT},
    {UAL_RC(IT_EP_PARAM_HARD_HI_WATERMARK, hard_hi_watermark), UAL_NO_LIMIT},
};

#define UAL_EP_MEMBERS (sizeof(ual_ep_members) / sizeof(ual_ep_members[0]))

static uint64_t ual_ep_value(const void *base, size_t offset, size_t size)
{
    const void *at = (const unsigned char *)base + offset;

    return size == sizeof(uint32_t) ? *(const uint32_t *)at : *(const uint64_t *)at;
}

void ual_ep_attr_copy(unsigned mask, bool datagrams, const it_ep_attributes_t *from,
                      it_ep_attributes_t *to)
{
    for (const struct ual_ep_member *member = ual_ep_members;
         member < ual_ep_members + UAL_EP_MEMBERS; member++) {
        void *at = (unsigned char *)to + member->offset;
        uint64_t value = ual_ep_value(from, member->offset, member->size);

        if (!(mask & member->bit) ||
            (datagrams && member->offset >= offsetof(it_ep_attributes_t, srv)))
            continue;
        if (member->size == sizeof(uint32_t))
            __atomic_store_n((uint32_t *)at, (uint32_t)value, __ATOMIC_RELAXED);
        else
            __atomic_store_n((uint64_t *)at, value, __ATOMIC_RELAXED);
    }
}

it_status_t ual_ep_attr_check(const char *call, unsigned mask, const it_ep_attributes_t *attr,
                              const struct vp_attributes *attributes)
{
    if ((mask & IT_EP_PARAM_ATOMICS_ENABLE) && attr->srv.rc.atomics_enable && !attributes->atomics)
        return base_refuse_number(IT_ERR_INVALID_EP_ATTR, call, attr->srv.rc.atomics_enable);
    for (const struct ual_ep_member *member = ual_ep_members;
         member < ual_ep_members + UAL_EP_MEMBERS; member++) {
        uint64_t value = ual_ep_value(attr, member->offset, member->size);
        uint64_t limit = UINT64_MAX;

        if (member->limit_size > 0)
            limit = ual_ep_value(attributes, member->limit, member->limit_size);
        if ((mask & member->bit) && value > limit)
            return base_refuse(member->status, call, "%s %llu, at most %llu", member->name,
                               (unsigned long long)value, (unsigned long long)limit);
    }
    return IT_SUCCESS;
}

static size_t ual_ep_srq_depth(struct ual_srq *srq)
{
    size_t depth;

    base_lock_take(&srq->lock);
    depth = srq->max_recv_dtos;
    base_lock_drop(&srq->lock);
    return depth;
}

it_status_t ual_ep_attr_check_watermarks(const char *call, unsigned mask, struct ual_srq *srq,
                                         const it_rc_only_attributes_t *rc,
                                         const struct vp_attributes *attributes)
{
    bool soft = (mask & IT_EP_PARAM_SOFT_HI_WATERMARK) && rc->soft_hi_watermark != 0;
    bool hard = (mask & IT_EP_PARAM_HARD_HI_WATERMARK) &&
                rc->hard_hi_watermark != IT_HARD_HI_WATERMARK_DISABLE;
    size_t depth = ual_ep_srq_depth(srq);

    if (soft && !attributes->soft_hi_watermark)
        return base_refuse_number(IT_ERR_SOFT_HI_WATERMARK, call, rc->soft_hi_watermark);
    if (hard && !attributes->hard_hi_watermark)
        return base_refuse_number(IT_ERR_HARD_HI_WATERMARK, call, rc->hard_hi_watermark);
    if (soft && rc->soft_hi_watermark > depth)
        return base_refuse_above(IT_ERR_INVALID_WATERMARK, call, rc->soft_hi_watermark, depth);
    if (hard && rc->hard_hi_watermark > depth)
        return base_refuse_above(IT_ERR_INVALID_WATERMARK, call, rc->hard_hi_watermark, depth);
    return IT_SUCCESS;
}

static bool ual_ep_has_usual_posts(const struct ual_ep *ep)
{
    const it_ep_attributes_t *attr = &ep->attr;

    if (ep->datagrams || !ep->ops->entries)
        return false;
    return attr->max_send_segments > 0 && attr->srv.rc.max_rdma_write_segments > 0 &&
           attr->srv.rc.max_rdma_read_segments > 0 && (ep->srq || attr->max_recv_segments > 0);
}

void ual_ep_set_entries(struct ual_ep *ep)
{
    base_object_set_entries(&ep->object,
                            ual_ep_has_usual_posts(ep) ? ep->ops->entries : &ual_ep_entries);
    /*
     * An IA may fail at the same time. Either its failing thread sees the new table and replaces
     * it, or the flag is seen here.
     */
    if (atomic_load(&ual_ia_of(&ep->object)->evd.failed))
        base_object_set_entries(&ep->object, &ual_ep_entries);
}
