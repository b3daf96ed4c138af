/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A call of the API that is refused for a value says so in one line at debug: the call, its answer,
 * the argument and the value, and what would have been good.
 *
 *     itapi debug: it_ep_rc_create: IT_ERR_RESOURCE_RECV_DTO: max_recv_dtos 70000, at most 65536
 *
 * Without that level it costs one comparison. What is not for a value leaves no line: a lack of
 * memory (IT_ERR_RESOURCES), a failed IA, a wait that is over without an event.
 */
#ifndef ITAPI_BASE_BASE_REFUSE_H
#define ITAPI_BASE_BASE_REFUSE_H

#include "it_api.h"

/*
 * Returns the status. call: its name, __func__ where that is it. Whoever passes on the answer of
 * another may do so without a look at it: what is not for a value, and IT_SUCCESS, leave no line.
 */
it_status_t base_refuse(it_status_t status, const char *call, const char *format, ...)
    __attribute__((cold, format(printf, 3, 4)));

/* The usual ones. The argument has the name that the caller knows it by. */
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
