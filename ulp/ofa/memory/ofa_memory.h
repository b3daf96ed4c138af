/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions for the table of a context (device/ofa_context.c). The others are exported.
 */
#ifndef ITAPI_ULP_OFA_MEMORY_OFA_MEMORY_H
#define ITAPI_ULP_OFA_MEMORY_OFA_MEMORY_H

#include "object/ofa_object.h"

struct ibv_td *ofa_alloc_td(struct ibv_context *context, struct ibv_td_init_attr *attr);
int ofa_dealloc_td(struct ibv_td *td);
struct ibv_pd *ofa_alloc_parent_domain(struct ibv_context *context,
                                       struct ibv_parent_domain_init_attr *attr);
struct ibv_mw *ofa_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type);
int ofa_dealloc_mw(struct ibv_mw *mw);

/* For the door. */
struct ibv_mr *ofa_register_still(struct ibv_pd *pd, void *addr, size_t length, int access);

/* Takes the windows of type 2 away from a queue pair: they are not bound any more. */
void ofa_mw_unbind(const struct ofa_qp *qp);

/* Called when a queue pair was destroyed: another one may get its address. */
void ofa_mw_forget(const struct ofa_qp *qp);

/* Stores the key of a region or window with its handle, for completions that name the handle. */
void ofa_remember_key(it_handle_t memory, uint32_t rkey);

/* Converts access rights of verbs to those of IT-API. */
it_mem_priv_t ofa_privileges(unsigned int access);

#endif /* ITAPI_ULP_OFA_MEMORY_OFA_MEMORY_H */
