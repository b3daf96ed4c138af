/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Symbols of version 1.0, and ibv_register_driver, for programs and drivers built before 2007,
 * which have other structs. They exist to make the list of symbols complete, and always fail.
 */
#include "support/ofa_log.h"

#include <errno.h>

/* Returns 0, which is also NULL for functions that return a pointer, and sets errno. */
#define COMPAT(name, node)                                                                         \
    long name##_compat(void);                                                                      \
    long name##_compat(void)                                                                       \
    {                                                                                              \
        (void)ofa_absent(#name "@" node, ENOSYS);                                                  \
        return 0;                                                                                  \
    }                                                                                              \
    __asm__(".symver " #name "_compat, " #name "@" node)

COMPAT(ibv_ack_async_event, "IBVERBS_1.0");
COMPAT(ibv_ack_cq_events, "IBVERBS_1.0");
COMPAT(ibv_alloc_pd, "IBVERBS_1.0");
COMPAT(ibv_attach_mcast, "IBVERBS_1.0");
COMPAT(ibv_close_device, "IBVERBS_1.0");
COMPAT(ibv_create_ah, "IBVERBS_1.0");
COMPAT(ibv_create_cq, "IBVERBS_1.0");
COMPAT(ibv_create_qp, "IBVERBS_1.0");
COMPAT(ibv_create_srq, "IBVERBS_1.0");
COMPAT(ibv_dealloc_pd, "IBVERBS_1.0");
COMPAT(ibv_dereg_mr, "IBVERBS_1.0");
COMPAT(ibv_destroy_ah, "IBVERBS_1.0");
COMPAT(ibv_destroy_cq, "IBVERBS_1.0");
COMPAT(ibv_destroy_qp, "IBVERBS_1.0");
COMPAT(ibv_destroy_srq, "IBVERBS_1.0");
COMPAT(ibv_detach_mcast, "IBVERBS_1.0");
COMPAT(ibv_free_device_list, "IBVERBS_1.0");
COMPAT(ibv_get_async_event, "IBVERBS_1.0");
COMPAT(ibv_get_cq_event, "IBVERBS_1.0");
COMPAT(ibv_get_device_guid, "IBVERBS_1.0");
COMPAT(ibv_get_device_list, "IBVERBS_1.0");
COMPAT(ibv_get_device_name, "IBVERBS_1.0");
COMPAT(ibv_modify_qp, "IBVERBS_1.0");
COMPAT(ibv_modify_srq, "IBVERBS_1.0");
COMPAT(ibv_open_device, "IBVERBS_1.0");
COMPAT(ibv_query_device, "IBVERBS_1.0");
COMPAT(ibv_query_gid, "IBVERBS_1.0");
COMPAT(ibv_query_pkey, "IBVERBS_1.0");
COMPAT(ibv_query_port, "IBVERBS_1.0");
COMPAT(ibv_query_qp, "IBVERBS_1.0");
COMPAT(ibv_query_srq, "IBVERBS_1.0");
COMPAT(ibv_reg_mr, "IBVERBS_1.0");
COMPAT(ibv_register_driver, "IBVERBS_1.1");
COMPAT(ibv_resize_cq, "IBVERBS_1.0");
