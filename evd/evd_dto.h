/* SPDX-License-Identifier: BSD-2-Clause */
/* A completion, and how it becomes a consumer's event. An installed header. */
#ifndef ITAPI_EVD_EVD_DTO_H
#define ITAPI_EVD_EVD_DTO_H

#include "evd/evd_immediate.h"

#include "it_api.h"
#include "itx_api.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* The source of a datagram. */
struct evd_datagram {
    it_dto_ud_flags_t flags;
    it_ud_ep_id_t ep_id;
    it_path_t path; /* back to the sender */
};

/* One completion, as the ring of a DTO EVD holds it until a consumer dequeues it. */
struct evd_dto {
    it_event_type_t event_number;
    it_dto_status_t status;
    it_ep_handle_t ep;
    it_dto_cookie_t cookie;
    union {
        it_handle_t unlinked;
        uint64_t immediate; /* with has_immediate */
        /* Of IT_DTO_UD_RECV_CMPL_EVENT: the provider's until retire is written; or NULL. */
        const struct evd_datagram *datagram;
    };
    uint32_t length;
    bool notify; /* a notification event: IT_NOTIFY_FLAG, failure or solicited */
    bool has_immediate;
    bool ep_freed; /* the EP was freed while the completion was queued; retire is NULL */
    /* *retire becomes retire_value when the event is dequeued: frees work queue slots (rule P3). */
    uint32_t retire_value;
    _Atomic uint32_t *retire;
};

/* Compilers turn each half into a few stores, where they make a loop of the whole. */
static inline void evd_dto_clear_path(it_path_t *path)
{
    enum {
        HALF = sizeof(*path) / 2
    };

    memset(path, 0, HALF);
    memset((unsigned char *)path + HALF, 0, sizeof(*path) - HALF);
}

static inline void evd_dto_tell_datagram(const struct evd_dto *dto, it_all_dto_cmpl_event_t *cmpl)
{
    cmpl->unlinked_mr_handle = NULL;
    if (dto->status != IT_DTO_SUCCESS || !dto->datagram)
        return;
    cmpl->flags = dto->datagram->flags;
    cmpl->ud_ep_id = dto->datagram->ep_id;
    cmpl->src_path = dto->datagram->path;
}

/*
 * Writes the completion into the consumer's event, with zero where only UD receives have values,
 * and frees the slots.
 */
static inline void evd_dto_tell(it_evd_handle_t evd, const struct evd_dto *dto, it_event_t *event)
{
    it_all_dto_cmpl_event_t *cmpl = &event->all_dto_cmpl;

    cmpl->event_number = dto->event_number;
    cmpl->evd = evd;
    cmpl->ep = dto->ep;
    cmpl->cookie = dto->cookie;
    cmpl->dto_status = dto->status;
    cmpl->transferred_length = dto->status == IT_DTO_SUCCESS ? dto->length : 0;
    cmpl->unlinked_mr_handle = dto->has_immediate ? NULL : dto->unlinked;
    cmpl->flags = (it_dto_ud_flags_t)0;
    cmpl->ud_ep_id = 0;
    evd_dto_clear_path(&cmpl->src_path);
    if (dto->has_immediate)
        evd_immediate_put(cmpl, dto->immediate);
    if (__builtin_expect(dto->event_number == IT_DTO_UD_RECV_CMPL_EVENT, false))
        evd_dto_tell_datagram(dto, cmpl);
    /* Release: a poster that sees the slot free sees all that the completion has freed. */
    if (dto->retire)
        atomic_store_explicit(dto->retire, dto->retire_value, memory_order_release);
    else if (dto->ep_freed)
        cmpl->flags = (it_dto_ud_flags_t)((unsigned)cmpl->flags | (unsigned)ITX_DTO_EP_FREED);
}

#endif
