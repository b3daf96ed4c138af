/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The place of an immediate value in the it_event_t of a receive completion: a flag that IT-API
 * does not define, and the value where only datagrams have a source path. Programs ask
 * itx_event_immediate.
 */
#ifndef ITAPI_EVD_EVD_IMMEDIATE_H
#define ITAPI_EVD_EVD_IMMEDIATE_H

#include "it_api.h"

#include <stdint.h>
#include <string.h>

#define EVD_IMMEDIATE_PRESENT 0x40000000

static inline void evd_immediate_put(it_all_dto_cmpl_event_t *event, uint64_t value)
{
    _Static_assert(sizeof(event->src_path) >= sizeof(value), "room for the value");
    event->flags = (it_dto_ud_flags_t)EVD_IMMEDIATE_PRESENT;
    memcpy(&event->src_path, &value, sizeof(value));
}

#endif
