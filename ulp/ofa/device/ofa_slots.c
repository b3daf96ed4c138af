/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Operations that are not supported and that programs reach by the table of a context, from inline
 * functions of the header. A slot that stays NULL fails in the same way, but without a line in the
 * log. Operations on objects that cannot be made stay NULL.
 */
#include "device/ofa_device.h"
#include "support/ofa_log.h"

#include <errno.h>

/* ---- Objects: a function that makes none ----------------------------------------------------- */

#define MAKES_NO(object, function, from_type, attributes_type)                                     \
    static struct object *function(struct from_type *from, struct attributes_type *attributes)     \
    {                                                                                              \
        (void)from;                                                                                \
        (void)attributes;                                                                          \
        (void)ofa_absent("ibv_" #function, EOPNOTSUPP);                                            \
        return NULL;                                                                               \
    }

MAKES_NO(ibv_xrcd, open_xrcd, ibv_context, ibv_xrcd_init_attr)
MAKES_NO(ibv_qp, open_qp, ibv_context, ibv_qp_open_attr)
MAKES_NO(ibv_dm, alloc_dm, ibv_context, ibv_alloc_dm_attr)
MAKES_NO(ibv_counters, create_counters, ibv_context, ibv_counters_init_attr)
MAKES_NO(ibv_flow, create_flow, ibv_qp, ibv_flow_attr)
MAKES_NO(ibv_flow_action, create_flow_action_esp, ibv_context, ibv_flow_action_esp_attr)
MAKES_NO(ibv_wq, create_wq, ibv_context, ibv_wq_init_attr)
MAKES_NO(ibv_rwq_ind_table, create_rwq_ind_table, ibv_context, ibv_rwq_ind_table_init_attr)

static struct ibv_mr *alloc_null_mr(struct ibv_pd *pd)
{
    (void)pd;
    (void)ofa_absent("ibv_alloc_null_mr", EOPNOTSUPP);
    return NULL;
}

/* ---- Changes: a function that changes nothing ------------------------------------------------ */

#define CHANGES_NO(object, function, attributes_type)                                              \
    static int function(struct object *changed, struct attributes_type *attributes)                \
    {                                                                                              \
        (void)changed;                                                                             \
        (void)attributes;                                                                          \
        return ofa_absent("ibv_" #function, EOPNOTSUPP);                                           \
    }

CHANGES_NO(ibv_cq, modify_cq, ibv_modify_cq_attr)
CHANGES_NO(ibv_qp, modify_qp_rate_limit, ibv_qp_rate_limit_attr)

static int advise_mr(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags,
                     struct ibv_sge *segments, uint32_t count)
{
    (void)pd;
    (void)advice;
    (void)flags;
    (void)segments;
    (void)count;
    return ofa_absent("ibv_advise_mr", EOPNOTSUPP);
}

static int post_srq_ops(struct ibv_srq *srq, struct ibv_ops_wr *first, struct ibv_ops_wr **bad)
{
    (void)srq;
    *bad = first;
    return ofa_absent("ibv_post_srq_ops", EOPNOTSUPP);
}

static int query_rt_values(struct ibv_context *context, struct ibv_values_ex *values)
{
    (void)context;
    (void)values;
    return ofa_absent("ibv_query_rt_values_ex", EOPNOTSUPP);
}

void ofa_slots_fill(struct verbs_context *verbs)
{
    verbs->open_xrcd = open_xrcd;
    verbs->open_qp = open_qp;
    verbs->alloc_null_mr = alloc_null_mr;
    verbs->alloc_dm = alloc_dm;
    verbs->create_counters = create_counters;
    verbs->ibv_create_flow = create_flow;
    verbs->create_flow_action_esp = create_flow_action_esp;
    verbs->create_wq = create_wq;
    verbs->create_rwq_ind_table = create_rwq_ind_table;
    verbs->advise_mr = advise_mr;
    verbs->modify_cq = modify_cq;
    verbs->modify_qp_rate_limit = modify_qp_rate_limit;
    verbs->post_srq_ops = post_srq_ops;
    verbs->query_rt_values = query_rt_values;
}
