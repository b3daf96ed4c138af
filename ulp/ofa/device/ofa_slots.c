/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Operations that are not supported and that programs reach by the table of a context, from inline
 * functions of the header. A slot that stays NULL fails in the same way, but without a line in the
 * log. Operations on objects that cannot be made stay NULL.
 */
#include "device/ofa_device.h"
#include "support/ofa_log.h"

#include <errno.h>

static void *absent(const char *name)
{
    (void)ofa_absent(name, EOPNOTSUPP);
    return NULL;
}

/* ---- Objects -------------------------------------------------------------------------------- */

static struct ibv_xrcd *open_xrcd(struct ibv_context *context, struct ibv_xrcd_init_attr *attr)
{
    (void)context;
    (void)attr;
    return absent("ibv_open_xrcd");
}

static struct ibv_qp *open_qp(struct ibv_context *context, struct ibv_qp_open_attr *attr)
{
    (void)context;
    (void)attr;
    return absent("ibv_open_qp");
}

static struct ibv_mr *alloc_null_mr(struct ibv_pd *pd)
{
    (void)pd;
    return absent("ibv_alloc_null_mr");
}

static struct ibv_dm *alloc_dm(struct ibv_context *context, struct ibv_alloc_dm_attr *attr)
{
    (void)context;
    (void)attr;
    return absent("ibv_alloc_dm");
}

static struct ibv_counters *create_counters(struct ibv_context *context,
                                            struct ibv_counters_init_attr *attr)
{
    (void)context;
    (void)attr;
    return absent("ibv_create_counters");
}

static struct ibv_flow *create_flow(struct ibv_qp *qp, struct ibv_flow_attr *attr)
{
    (void)qp;
    (void)attr;
    return absent("ibv_create_flow");
}

static struct ibv_flow_action *create_flow_action_esp(struct ibv_context *context,
                                                      struct ibv_flow_action_esp_attr *attr)
{
    (void)context;
    (void)attr;
    return absent("ibv_create_flow_action_esp");
}

static struct ibv_wq *create_wq(struct ibv_context *context, struct ibv_wq_init_attr *attr)
{
    (void)context;
    (void)attr;
    return absent("ibv_create_wq");
}

static struct ibv_rwq_ind_table *create_rwq_ind_table(struct ibv_context *context,
                                                      struct ibv_rwq_ind_table_init_attr *attr)
{
    (void)context;
    (void)attr;
    return absent("ibv_create_rwq_ind_table");
}

/* ---- Changes -------------------------------------------------------------------------------- */

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

static int modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr)
{
    (void)cq;
    (void)attr;
    return ofa_absent("ibv_modify_cq", EOPNOTSUPP);
}

static int modify_qp_rate_limit(struct ibv_qp *qp, struct ibv_qp_rate_limit_attr *attr)
{
    (void)qp;
    (void)attr;
    return ofa_absent("ibv_modify_qp_rate_limit", EOPNOTSUPP);
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
