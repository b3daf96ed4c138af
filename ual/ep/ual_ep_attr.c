/* SPDX-License-Identifier: BSD-2-Clause */
#include "ual/ep/ual_ep_attr.h"

#include "ual/post/ual_post.h"

static it_status_t ual_ep_attr_check_queues(const char *call, unsigned mask,
                                            const it_ep_attributes_t *attr,
                                            const struct vp_attributes *limit)
{
    if ((mask & IT_EP_PARAM_MAX_REQ_DTO) && attr->max_request_dtos > limit->max_request_dtos)
        return base_refuse_above(IT_ERR_RESOURCE_REQ_DTO, call, attr->max_request_dtos,
                                 limit->max_request_dtos);
    if ((mask & IT_EP_PARAM_MAX_RECV_DTO) && attr->max_recv_dtos > limit->max_recv_dtos)
        return base_refuse_above(IT_ERR_RESOURCE_RECV_DTO, call, attr->max_recv_dtos,
                                 limit->max_recv_dtos);
    if ((mask & IT_EP_PARAM_MAX_SEND_SEG) && attr->max_send_segments > limit->max_send_segments)
        return base_refuse_above(IT_ERR_RESOURCE_SSEG, call, attr->max_send_segments,
                                 limit->max_send_segments);
    if ((mask & IT_EP_PARAM_MAX_RECV_SEG) && attr->max_recv_segments > limit->max_recv_segments)
        return base_refuse_above(IT_ERR_RESOURCE_RSEG, call, attr->max_recv_segments,
                                 limit->max_recv_segments);
    return IT_SUCCESS;
}

static it_status_t ual_ep_attr_check_rdma(const char *call, unsigned mask,
                                          const it_rc_only_attributes_t *rc,
                                          const struct vp_attributes *limit)
{
    if ((mask & IT_EP_PARAM_MAX_RDMA_READ_SEG) &&
        rc->max_rdma_read_segments > limit->max_read_segments)
        return base_refuse_above(IT_ERR_RESOURCE_RRSEG, call, rc->max_rdma_read_segments,
                                 limit->max_read_segments);
    if ((mask & IT_EP_PARAM_MAX_RDMA_WRITE_SEG) &&
        rc->max_rdma_write_segments > limit->max_write_segments)
        return base_refuse_above(IT_ERR_RESOURCE_RWSEG, call, rc->max_rdma_write_segments,
                                 limit->max_write_segments);
    if ((mask & IT_EP_PARAM_MAX_IRD) && rc->rdma_read_ird > limit->max_ird)
        return base_refuse_above(IT_ERR_RESOURCE_IRD, call, rc->rdma_read_ird, limit->max_ird);
    if ((mask & IT_EP_PARAM_MAX_ORD) && rc->rdma_read_ord > limit->max_ord)
        return base_refuse_above(IT_ERR_RESOURCE_ORD, call, rc->rdma_read_ord, limit->max_ord);
    return IT_SUCCESS;
}

it_status_t ual_ep_attr_check(const char *call, unsigned mask, const it_ep_attributes_t *attr,
                              const struct vp_attributes *attributes)
{
    it_status_t status;

    if ((mask & IT_EP_PARAM_ATOMICS_ENABLE) && attr->srv.rc.atomics_enable && !attributes->atomics)
        return base_refuse_number(IT_ERR_INVALID_EP_ATTR, call, attr->srv.rc.atomics_enable);
    if ((mask & IT_EP_PARAM_MAX_PAYLOAD) && attr->max_dto_payload_size > attributes->max_message)
        return base_refuse_above(IT_ERR_PAYLOAD_SIZE, call, attr->max_dto_payload_size,
                                 attributes->max_message);
    status = ual_ep_attr_check_queues(call, mask, attr, attributes);
    if (status != IT_SUCCESS)
        return status;
    return ual_ep_attr_check_rdma(call, mask, &attr->srv.rc, attributes);
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
    /* An IA that fails meanwhile has passed by the EP, or is seen here. */
    if (atomic_load(&ual_ia_of(&ep->object)->evd.failed))
        base_object_set_entries(&ep->object, &ual_ep_entries);
}
