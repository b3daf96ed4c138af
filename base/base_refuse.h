/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When a call of the API refuses a value, it logs one line at debug: the call, the status, the
 * argument, its value and the values that are allowed.
 *
 *     itapi debug: it_ep_rc_create: IT_ERR_RESOURCE_RECV_DTO: max_recv_dtos 70000, at most 65536
 *
 * Without that level it costs one comparison. A status that is not about a value leaves no line: a
 * lack of memory (IT_ERR_RESOURCES), a failed IA, a wait that ends without an event.
 */
#ifndef ITAPI_BASE_BASE_REFUSE_H
#define ITAPI_BASE_BASE_REFUSE_H

#include "it_api.h"

/*
 * Returns the status. call is the name of the API's call, often __func__. A caller may pass any
 * status: IT_SUCCESS and those that are not about a value leave no line.
 */
it_status_t base_refuse(it_status_t status, const char *call, const char *format, ...)
    __attribute__((cold, format(printf, 3, 4)));

/* Common forms. The argument's name must be the one that the API documents. */
#define base_refuse_handle(status, call, handle)                                                   \
    base_refuse((status), (call), #handle " %p", (const void *)(handle))
#define base_refuse_null(call, pointer) base_refuse(IT_ERR_FAULT, (call), "%s", #pointer " is NULL")
#define base_refuse_null2(call, first, second)                                                     \
    base_refuse(IT_ERR_FAULT, (call), #first " %p, " #second " %p", (const void *)(first),         \
                (const void *)(second))
#define base_refuse_bits(status, call, bits)                                                       \
    base_refuse((status), (call), #bits " %#x", (unsigned)(bits))
#define base_refuse_number(status, call, number)                                                   \
    base_refuse((status), (call), #number " %llu", (unsigned long long)(number))
#define base_refuse_above(status, call, number, limit)                                             \
    base_refuse((status), (call), #number " %llu, at most %llu", (unsigned long long)(number),     \
                (unsigned long long)(limit))
#define base_refuse_below(status, call, number, limit)                                             \
    base_refuse((status), (call), #number " %llu, at least %llu", (unsigned long long)(number),    \
                (unsigned long long)(limit))

#endif
