/* SPDX-License-Identifier: BSD-2-Clause */
/* Declarations shared by the files of the stub device. */
#ifndef ITAPI_TESTS_VERBS_STUB_PRIVATE_H
#define ITAPI_TESTS_VERBS_STUB_PRIVATE_H

#include "verbs/stub_device.h"

#include <stdatomic.h>

extern _Atomic uint32_t stub_numbers; /* source of QP numbers and keys */

/* Allocates zeroed memory, which stub_objects counts. */
void *stub_new(size_t size);
int stub_delete(void *object); /* returns 0 */

/* Sets the functions of a context. */
void stub_fill_ops(struct ibv_context_ops *ops);
void stub_write_async(const struct ibv_async_event *event);

/* Returns the memory with this lkey or rkey, or NULL. */
struct ibv_mr *stub_memory(uint32_t key);
unsigned stub_memory_access(const struct ibv_mr *mr);
/* Returns true if the segment lies in memory of that PD that is registered under its key now. */
bool stub_is_memory(const struct ibv_pd *pd, const struct ibv_sge *sge);

/* ---- Windows (stub_window.c) */

/*
 * A bind request: the window with from_key gets to_key, which opens .info. With a length of 0 it
 * only closes.
 */
struct stub_bind {
    struct ibv_mw *mw;
    uint32_t from_key, to_key;
    struct ibv_mw_bind_info info;
};

struct ibv_mw *stub_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type);
int stub_dealloc_mw(struct ibv_mw *mw);
enum ibv_wc_status stub_bind(const struct ibv_qp *qp, const struct stub_bind *bind);
enum ibv_wc_status stub_invalidate(const struct ibv_qp *qp, uint32_t key);
/*
 * Returns true if a peer of that QP may access these octets in this way, by the key of memory or of
 * a window.
 */
bool stub_is_open(const struct ibv_qp *qp, uint32_t key, uint64_t addr, uint32_t length,
                  unsigned access);
/* Returns true if a window is open on that memory, or on that QP (narrow ones). */
bool stub_is_windowed(const struct ibv_mr *mr, const struct ibv_qp *qp);

#endif
