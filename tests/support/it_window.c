/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/it_window.h"

#include <string.h>

#define FX_LINK_COOKIE UINT64_C(0x11a7)

it_rmr_handle_t fx_rmr(it_pz_handle_t pz, it_rmr_type_t type)
{
    it_rmr_handle_t rmr = NULL;

    CHECK_OK(it_rmr_create20(pz, type, &rmr));
    CHECK(rmr != NULL);
    return rmr;
}

struct fx_part fx_whole(const struct fx_buf *buf)
{
    return (struct fx_part){
        .buf = buf, .length = buf->size, .mode = IT_ADDR_MODE_ABSOLUTE, .privs = IT_PRIV_REMOTE};
}

it_rmr_context_t fx_link(it_ep_handle_t ep, it_rmr_handle_t rmr, const struct fx_part *part,
                         it_dto_cookie_t cookie, it_dto_flags_t flags)
{
    it_rmr_context_t key = 0;

    CHECK_OK(it_rmr_link(rmr, part->buf->lmr, part->buf->data + part->offset, part->length,
                         part->mode, part->privs, ep, cookie, flags, &key));
    CHECK(key != 0);
    return key;
}

it_rmr_context_t fx_linked(it_evd_handle_t evd, it_ep_handle_t ep, it_rmr_handle_t rmr,
                           const struct fx_part *part)
{
    it_rmr_context_t key = fx_link(ep, rmr, part, FX_LINK_COOKIE, FX_SIGNAL);

    fx_done_len(evd, ep, IT_RMR_LINK_CMPL_EVENT, FX_LINK_COOKIE, 0);
    return key;
}

void fx_unlinked(it_evd_handle_t evd, it_ep_handle_t ep, it_rmr_handle_t rmr)
{
    CHECK_OK(it_rmr_unlink(rmr, ep, FX_LINK_COOKIE, FX_SIGNAL));
    fx_done_len(evd, ep, IT_RMR_LINK_CMPL_EVENT, FX_LINK_COOKIE, 0);
}

it_rdma_addr_t fx_part_addr(const struct fx_part *part, size_t offset)
{
    if (part->mode == IT_ADDR_MODE_RELATIVE)
        return it_make_rdma_addr_relative(offset);
    return it_make_rdma_addr_absolute(part->buf->data + part->offset + offset);
}

it_rmr_triplet_t fx_rmr_seg(it_rmr_handle_t rmr, const struct fx_part *part, size_t offset,
                            size_t length)
{
    it_rmr_triplet_t segment;

    memset(&segment, 0, sizeof(segment));
    segment.rmr = rmr;
    segment.length = length;
    if (part->mode == IT_ADDR_MODE_RELATIVE)
        segment.addr.rel = offset;
    else
        segment.addr.abs = part->buf->data + part->offset + offset;
    return segment;
}

bool fx_is_linked(it_rmr_handle_t rmr)
{
    it_rmr_param_t params;

    CHECK_OK(it_rmr_query(rmr, IT_RMR_PARAM_BOUND, &params));
    return params.bound != IT_FALSE;
}

bool fx_lmr_is_linked(it_lmr_handle_t lmr)
{
    it_lmr_param_t params;

    CHECK_OK(it_lmr_query(lmr, IT_LMR_PARAM_LINKED, &params));
    return params.linked != IT_FALSE;
}

void fx_done_unlinked(it_evd_handle_t evd, it_ep_handle_t ep, it_event_type_t number,
                      it_dto_cookie_t cookie, it_handle_t unlinked)
{
    it_event_t event = fx_next(evd);

    CHECK_EQ(number, event.event_number);
    CHECK_EQ(cookie, event.dto_cmpl.cookie);
    CHECK_EQ(IT_DTO_SUCCESS, event.dto_cmpl.dto_status);
    CHECK(event.dto_cmpl.ep == ep);
    CHECK(event.dto_cmpl.unlinked_mr_handle == unlinked);
}

void fx_pair_mend(struct fx_pair *pair)
{
    fx_conn(pair->a.conn_evd, pair->a_ep, IT_CM_MSG_CONN_BROKEN_EVENT);
    fx_conn(pair->b.conn_evd, pair->b_ep, IT_CM_MSG_CONN_BROKEN_EVENT);
    CHECK_OK(it_ep_reset(pair->a_ep));
    CHECK_OK(it_ep_reset(pair->b_ep));
    fx_join(&pair->a, pair->a_ep, &pair->b, pair->b_ep);
    fx_pair_ping(pair);
}
