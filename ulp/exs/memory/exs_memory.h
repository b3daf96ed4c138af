/* SPDX-License-Identifier: BSD-2-Clause */
/* Registrations, and memory that is registered for a single call. */
#ifndef ITAPI_ULP_EXS_MEMORY_EXS_MEMORY_H
#define ITAPI_ULP_EXS_MEMORY_EXS_MEMORY_H

#include "include/exs.h"

#include <it_api.h>

#include <stdbool.h>
#include <stddef.h>

struct exs_slot;

struct exs_memory {
    struct exs_slot *slot; /* NULL: memory of a single call */
    char *addr;
    size_t length;
    bool receive; /* may be received into */
    it_lmr_handle_t lmr;
    it_rmr_context_t key; /* for the peer's RDMA Writes */
};

/*
 * Gets the memory for a call: the registration, or own, which the caller provides, for
 * EXS_MHANDLE_UNREGISTERED. Returns 0; EINVAL: no such registration; EFAULT: the range is outside,
 * or is not memory that can be accessed so; EACCES: the registration does not allow receives. An
 * empty range may be anywhere.
 */
int exs_memory_take(exs_mhandle_t handle, void *addr, size_t length, bool receive,
                    struct exs_memory *own, struct exs_memory **memory);
/* Describes memory of the library itself. */
void exs_memory_make(struct exs_memory *own, void *addr, size_t length, bool receive);
/*
 * Gets LMR and key for posts and messages; creates the LMR of a single call's memory at the first
 * use. Returns 0 or errno.
 */
int exs_memory_lmr(struct exs_memory *memory, it_lmr_handle_t *lmr, it_rmr_context_t *key);
void exs_memory_give(struct exs_memory *memory);

/* These implement the functions of the same names in exs.h; they return 0 or errno. */
int exs_memory_register(void *addr, size_t length, int flags, exs_mhandle_t *handle);
int exs_memory_modify(exs_mhandle_t handle, void *addr, size_t length, int flags);
int exs_memory_deregister(exs_mhandle_t handle);

/* In the child after fork. */
void exs_memory_forget(void);

#endif /* ITAPI_ULP_EXS_MEMORY_EXS_MEMORY_H */
