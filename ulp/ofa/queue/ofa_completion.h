/* SPDX-License-Identifier: BSD-2-Clause */
/* Converting events of IT-API to work completions. */
#ifndef ITAPI_ULP_OFA_QUEUE_OFA_COMPLETION_H
#define ITAPI_ULP_OFA_QUEUE_OFA_COMPLETION_H

#include "object/ofa_object.h"

/* Indexed by the low bits of the event's number. */
extern const uint8_t ofa_completion_opcodes[16];

/* Completes wc, filled for a success, for failures, windows and receives with more than data. */
void ofa_completion_special(const it_event_t *event, struct ibv_wc *wc, struct ofa_qp *qp);

/* Fills wc and returns the queue pair; NULL: it was destroyed, and wc is not filled. */
static inline struct ofa_qp *ofa_completion_of(const it_event_t *event, struct ibv_wc *wc)
{
    const it_dto_cmpl_event_t *dto = &event->dto_cmpl;
    it_context_t context;
    struct ofa_qp *qp;
    uint64_t value;

    if (it_get_consumer_context(dto->ep, &context) != IT_SUCCESS)
        return NULL;
    qp = context.ptr;
    *wc = (struct ibv_wc){.wr_id = dto->cookie,
                          .opcode =
                              (enum ibv_wc_opcode)ofa_completion_opcodes[dto->event_number & 15],
                          .byte_len = dto->transferred_length,
                          .qp_num = qp->base.qp_num};
    if (dto->dto_status != IT_DTO_SUCCESS || wc->opcode == IBV_WC_BIND_MW ||
        (wc->opcode == IBV_WC_RECV &&
         (dto->unlinked_mr_handle || itx_event_immediate(event, &value))))
        ofa_completion_special(event, wc, qp);
    return qp;
}

#endif /* ITAPI_ULP_OFA_QUEUE_OFA_COMPLETION_H */
