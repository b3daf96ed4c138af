/* SPDX-License-Identifier: BSD-2-Clause */
/* The stub device, between its files. */
#ifndef ITAPI_TESTS_VERBS_STUB_PRIVATE_H
#define ITAPI_TESTS_VERBS_STUB_PRIVATE_H

#include "verbs/stub_device.h"

#include <stdatomic.h>

extern _Atomic uint32_t stub_numbers; /* of QPs and keys */

/* Zeroed, and counted in stub_objects. */
void *stub_new(size_t size);
int stub_delete(void *object); /* 0 */

/* The functions that a context has. */
void stub_fill_ops(struct ibv_context_ops *ops);
void stub_write_async(const struct ibv_async_event *event);

/* Found by its lkey or rkey; NULL: there is none. */
struct ibv_mr *stub_memory(uint32_t key);
unsigned stub_memory_access(const struct ibv_mr *mr);
/* The segment lies in memory of that PD which is registered just now under its key. */
bool stub_is_memory(const struct ibv_pd *pd, const struct ibv_sge *sge);

/* ---- Windows (stub_window.c) */

/* A request: the window with from_key gets to_key, which opens .info; of 0 octets: nothing. */
struct stub_bind {
    struct ibv_mw *mw;
    uint32_t from_key, to_key;
    struct ibv_mw_bind_info info;
};

struct ibv_mw *stub_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type);
int stub_dealloc_mw(struct ibv_mw *mw);
enum ibv_wc_status stub_bind(const struct ibv_qp *qp, const struct stub_bind *bind);
enum ibv_wc_status stub_invalidate(const struct ibv_qp *qp, uint32_t key);
/* A peer of that QP may do so with these octets, by the key of memory or of a window. */
bool stub_is_open(const struct ibv_qp *qp, uint32_t key, uint64_t addr, uint32_t length,
                  unsigned access);
/* Windows are open onto that memory, or on that QP (narrow ones). */
bool stub_is_windowed(const struct ibv_mr *mr, const struct ibv_qp *qp);

#endif
