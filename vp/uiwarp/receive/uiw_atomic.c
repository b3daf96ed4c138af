/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Atomic operations of a peer on local memory (RFC 7306). They are executed on arrival with the
 * processor's atomic instructions, so they are atomic also with respect to other streams, other
 * IAs, and programs that use such instructions on the same memory.
 */
#include "vp/uiwarp/receive/uiw_receive.h"

#include "tdi/iwarp/iw_atomic.h"

#define ATOMIC_OCTETS 8u

/* Sequentially consistent, so that the consumer's own accesses keep their order. */
static uint64_t atomic_run(uint64_t *at, const struct iw_atomic_request *request)
{
    uint64_t original;

    if (request->code == IW_ATOMIC_FETCH_ADD && request->operand_mask == 0)
        return __atomic_fetch_add(at, request->operand, __ATOMIC_SEQ_CST);
    original = __atomic_load_n(at, __ATOMIC_SEQ_CST);
    while (!__atomic_compare_exchange_n(at, &original, iw_atomic_result(request, original), false,
                                        __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
    }
    return original;
}

enum iw_error uiw_atomic_execute(struct uiw_ep *ep, const struct iw_atomic_request *request,
                                 uint64_t *original)
{
    enum iw_error error;
    struct uiw_mr *mr;
    uint8_t *addr;

    if (request->to % ATOMIC_OCTETS != 0)
        return IW_ERR_RDMAP_STREAM;
    if (!atomic_load_explicit(&ep->limits.atomics_enabled, memory_order_relaxed))
        return IW_ERR_RDMAP_ACCESS;
    error = uiw_read_error(uiw_mr_pin_remote(&ep->ia->memory.mrs, request->stag, request->to,
                                             ATOMIC_OCTETS, IT_PRIV_ATOMIC, &ep->id, &mr, &addr));
    if (error != IW_OK)
        return error;
    /* A region with relative addresses may begin anywhere. */
    if ((uintptr_t)addr % ATOMIC_OCTETS == 0)
        *original = atomic_run((uint64_t *)(void *)addr, request);
    else
        error = IW_ERR_RDMAP_STREAM;
    uiw_mr_unpin(mr);
    return error;
}
