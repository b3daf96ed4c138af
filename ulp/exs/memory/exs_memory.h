/* SPDX-License-Identifier: BSD-2-Clause */
/* Registrations, and memory that is registered for one call. */
#ifndef ITAPI_ULP_EXS_MEMORY_EXS_MEMORY_H
#define ITAPI_ULP_EXS_MEMORY_EXS_MEMORY_H

#include "include/exs.h"

#include <it_api.h>

#include <stdbool.h>
#include <stddef.h>

struct exs_slot;

struct exs_memory {
    struct exs_slot *slot; /* NULL: of one call */
    char *addr;
    size_t length;
    bool receive; /* it may be received into */
    it_lmr_handle_t lmr;
    it_rmr_context_t key; /* for the peer's Writes */
};

/*
 * The memory that a call may use: the registration, or `own`, which the caller provides, for
 * EXS_MHANDLE_UNREGISTERED. 0; EINVAL: no such registration; EFAULT: the range is not inside, or
 * NULL; EACCES: it is to be received into and must not. An empty range may be anywhere.
 */
int exs_memory_take(exs_mhandle_t handle, void *addr, size_t length, bool receive,
                    struct exs_memory *own, struct exs_memory **memory);
/* For posts and messages. Of memory of one call the first time makes the LMR. 0 or errno. */
int exs_memory_lmr(struct exs_memory *memory, it_lmr_handle_t *lmr, it_rmr_context_t *key);
void exs_memory_give(struct exs_memory *memory);

/* What the functions of the same names in exs.h do; 0 or an errno value. */
int exs_memory_register(void *addr, size_t length, int flags, exs_mhandle_t *handle);
int exs_memory_modify(exs_mhandle_t handle, void *addr, size_t length, int flags);
int exs_memory_deregister(exs_mhandle_t handle);

/* In the child after fork. */
void exs_memory_forget(void);

#endif /* ITAPI_ULP_EXS_MEMORY_EXS_MEMORY_H */
