/* SPDX-License-Identifier: BSD-2-Clause */
#include "endpoint/udapl_ep_attr.h"

#include "map/udapl_limit.h"
#include "object/udapl_srq.h"

#include <string.h>

#define DEFAULT_DTOS     64
#define DEFAULT_SEGMENTS 4
#define DEFAULT_READS    16

/* Sets *value. 0 means the default, or `most` if that is less. Returns false if out of range. */
static bool settle(DAT_COUNT asked, DAT_COUNT normal, DAT_COUNT most, DAT_COUNT *value)
{
    if (asked < 0 || asked > most)
        return false;
    if (asked == 0)
        asked = normal < most ? normal : most;
    *value = asked;
    return true;
}

static bool settle_length(DAT_SEG_LENGTH asked, DAT_UINT64 most, DAT_SEG_LENGTH *value)
{
    *value = asked ? asked : udapl_limit_length(most);
    return asked <= most;
}

static bool settle_segments(const struct itx_features *most, const DAT_EP_ATTR *asked,
                            DAT_EP_ATTR *attr)
{
    return settle(asked->max_recv_iov, DEFAULT_SEGMENTS,
                  udapl_limit_segments(most->max_recv_segments), &attr->max_recv_iov) &&
           settle(asked->max_request_iov, DEFAULT_SEGMENTS,
                  udapl_limit_segments(most->max_send_segments), &attr->max_request_iov) &&
           /* Reads with more segments than the adapter takes are split. */
           settle(asked->max_rdma_read_iov, attr->max_request_iov, UDAPL_MOST_SEGMENTS,
                  &attr->max_rdma_read_iov) &&
           settle(asked->max_rdma_write_iov, attr->max_request_iov,
                  udapl_limit_segments(most->max_rdma_write_segments), &attr->max_rdma_write_iov);
}

static bool settle_depths(const struct itx_features *most, const DAT_EP_ATTR *asked,
                          DAT_EP_ATTR *attr)
{
    return settle(asked->max_recv_dtos, DEFAULT_DTOS, udapl_limit_count(most->max_recv_dtos),
                  &attr->max_recv_dtos) &&
           settle(asked->max_request_dtos, DEFAULT_DTOS, udapl_limit_count(most->max_request_dtos),
                  &attr->max_request_dtos) &&
           settle(asked->max_rdma_read_in, DEFAULT_READS, udapl_limit_count(most->max_ird),
                  &attr->max_rdma_read_in) &&
           settle(asked->max_rdma_read_out, DEFAULT_READS, udapl_limit_count(most->max_ord),
                  &attr->max_rdma_read_out);
}

static bool are_completion_flags(const DAT_EP_ATTR *attr)
{
    unsigned most = (unsigned)DAT_COMPLETION_SOLICITED_WAIT_FLAG |
                    (unsigned)DAT_COMPLETION_UNSIGNALLED_FLAG |
                    (unsigned)DAT_COMPLETION_EVD_THRESHOLD_FLAG;

    return ((unsigned)attr->recv_completion_flags & ~most) == 0 &&
           ((unsigned)attr->request_completion_flags &
            ~(most | (unsigned)DAT_COMPLETION_SUPPRESS_FLAG |
              (unsigned)DAT_COMPLETION_BARRIER_FENCE_FLAG)) == 0;
}

bool udapl_ep_attr_settle(const struct udapl_ia *ia, const DAT_EP_ATTR *asked, DAT_EP_ATTR *attr)
{
    static const DAT_EP_ATTR none;
    const struct itx_features *most = &ia->features;

    if (!asked)
        asked = &none;
    *attr = *asked;
    return asked->service_type == DAT_SERVICE_TYPE_RC && asked->qos == DAT_QOS_BEST_EFFORT &&
           settle_length(asked->max_message_size, most->max_message_bytes,
                         &attr->max_message_size) &&
           settle_length(asked->max_rdma_size, most->max_message_bytes, &attr->max_rdma_size) &&
           are_completion_flags(asked) && settle_segments(most, asked, attr) &&
           settle_depths(most, asked, attr);
}

bool udapl_ep_attr_splits(const struct udapl_ia *ia, const DAT_EP_ATTR *attr)
{
    return (size_t)attr->max_rdma_read_iov > ia->features.max_rdma_read_segments;
}

void udapl_ep_attr_translate(const struct udapl_ia *ia, const DAT_EP_ATTR *attr,
                             const struct udapl_srq *srq, it_ep_attributes_t *it)
{
    it_rc_only_attributes_t *rc = &it->srv.rc;
    size_t requests = (size_t)attr->max_request_dtos;

    memset(it, 0, sizeof(*it));
    it->max_dto_payload_size = attr->max_message_size;
    it->max_recv_dtos = (size_t)attr->max_recv_dtos;
    it->max_send_segments = (size_t)attr->max_request_iov;
    it->max_recv_segments = (size_t)attr->max_recv_iov;
    rc->rdma_read_enable = rc->rdma_write_enable = IT_TRUE;
    rc->atomics_enable = ia->provider->extension == DAT_EXTENSION_IB && ia->info->atomic_support
                             ? IT_TRUE
                             : IT_FALSE;
    rc->max_rdma_read_segments = (size_t)attr->max_rdma_read_iov;
    rc->max_rdma_write_segments = (size_t)attr->max_rdma_write_iov;
    rc->rdma_read_ird = (uint32_t)attr->max_rdma_read_in;
    rc->rdma_read_ord = (uint32_t)attr->max_rdma_read_out;
    rc->srq = srq ? srq->it : NULL;
    rc->hard_hi_watermark = IT_HARD_HI_WATERMARK_DISABLE;
    if (udapl_ep_attr_splits(ia, attr)) {
        rc->max_rdma_read_segments = ia->features.max_rdma_read_segments;
        requests *= (size_t)attr->max_rdma_read_iov; /* each may be split into this many Reads */
        if (requests > ia->features.max_request_dtos)
            requests = ia->features.max_request_dtos;
    }
    it->max_request_dtos = requests;
}
