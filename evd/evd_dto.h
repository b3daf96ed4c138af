/* SPDX-License-Identifier: BSD-2-Clause */
/* A completion, and how it becomes an event of the consumer. Installed. */
#ifndef ITAPI_EVD_EVD_DTO_H
#define ITAPI_EVD_EVD_DTO_H

#include "evd/evd_immediate.h"

#include "it_api.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* The source of a datagram. */
struct evd_datagram {
    it_dto_ud_flags_t flags;
    it_ud_ep_id_t ep_id;
    it_path_t path; /* back there */
};

/* One completion, as it is kept in the ring of a DTO EVD until it is dequeued. */
struct evd_dto {
    it_event_type_t event_number;
    it_dto_status_t status;
    it_ep_handle_t ep;
    it_dto_cookie_t cookie;
    union {
        it_handle_t unlinked;
        uint64_t immediate; /* with has_immediate */
        /* IT_DTO_UD_RECV_CMPL_EVENT: the provider's, until retire is written. NULL: it is gone. */
        const struct evd_datagram *datagram;
    };
    uint32_t length;
    bool notify; /* a notification event: IT_NOTIFY_FLAG, failure or solicited */
    bool has_immediate;
    /* Written with retire_value when the event is dequeued: frees work queue slots (rule P3). */
    uint32_t retire_value;
    _Atomic uint32_t *retire;
};

/* In two parts, which compilers turn into a few stores, where the whole costs a loop. */
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

/* Straight into the consumer's event; what only UD receives have is zero. Frees the slots. */
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
    /* Release: the poster that sees the slot free also sees what the completion has freed. */
    if (dto->retire)
        atomic_store_explicit(dto->retire, dto->retire_value, memory_order_release);
}

#endif
