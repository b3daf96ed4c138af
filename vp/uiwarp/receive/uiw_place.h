/* SPDX-License-Identifier: BSD-2-Clause */
/* Arriving segments go to memory and complete requests. */
#ifndef ITAPI_VP_UIWARP_RECEIVE_UIW_PLACE_H
#define ITAPI_VP_UIWARP_RECEIVE_UIW_PLACE_H

#include "vp/uiwarp/queue/uiw_ep.h"

extern const struct iw_rx_ops uiw_place_ops; /* context: struct uiw_ep */

/* Its functions, for tables that exchange some of them. */
enum iw_error uiw_place_check(void *context, const struct iw_segment *segment);
enum iw_error uiw_place_map(void *context, const struct iw_segment *segment, uint32_t offset,
                            uint32_t *length, struct iovec *iov, unsigned *count);
void uiw_place_unmap(void *context);
enum iw_error uiw_place_whole(void *context, const struct iw_segment *segment,
                              const uint8_t *payload);
bool uiw_place_take(void *context, const uint8_t *payload, uint32_t length, bool solicited);
enum iw_error uiw_place_done(void *context, const struct iw_segment *segment);
enum iw_error uiw_place_read_request(void *context, const struct iw_read_request *request);
enum iw_error uiw_place_atomic_request(void *context, const struct iw_atomic_request *request);
enum iw_error uiw_place_atomic_response(void *context, const struct iw_atomic_response *response);
enum iw_error uiw_place_immediate(void *context, uint64_t value, bool solicited);
void uiw_place_terminate(void *context, const struct iw_terminate *terminate);

/*
 * uiw_atomic.c. Reader. Executes the operation if it is allowed, in one step for all threads of
 * this machine, and stores the former contents in *original.
 */
enum iw_error uiw_atomic_execute(struct uiw_ep *ep, const struct iw_atomic_request *request,
                                 uint64_t *original);

#endif
