/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of transitions between the states of a queue pair, with their attributes: InfiniBand
 * 1.2, chapters 10 and 11.
 */
#include "qp/ofa_qp.h"

#include <errno.h>

#define INIT_RC (IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS)
#define INIT_UD (IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY)
#define RTR_UC  (IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN)
#define RTR_RC  (RTR_UC | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)
#define RTS_RC                                                                                     \
    (IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC)
#define PATH (IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE)

enum {
    RC,
    UC,
    UD,
    TYPES
};

struct step {
    enum ibv_qp_state from;
    enum ibv_qp_state to;
    int required[TYPES];
    int optional[TYPES];
};

#define QPS(from, to) IBV_QPS_##from, IBV_QPS_##to

/* clang-format off */
static const struct step steps[] = {
    /*                  required: RC, UC, UD            optional: RC, UC, UD */
    {QPS(RESET, INIT), {INIT_RC, INIT_RC, INIT_UD},     {0, 0, 0}},
    {QPS(INIT, INIT),  {0, 0, 0},                       {INIT_RC, INIT_RC, INIT_UD}},
    {QPS(INIT, RTR),   {RTR_RC, RTR_UC, 0},
                       {IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX,
                        IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX,
                        IBV_QP_PKEY_INDEX | IBV_QP_QKEY}},
    {QPS(RTR, RTS),    {RTS_RC, IBV_QP_SQ_PSN, IBV_QP_SQ_PSN},
                       {IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER | PATH,
                        IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | PATH,
                        IBV_QP_CUR_STATE | IBV_QP_QKEY}},
    {QPS(RTS, RTS),    {0, 0, 0},
                       {IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER | PATH,
                        IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | PATH,
                        IBV_QP_CUR_STATE | IBV_QP_QKEY}},
    {QPS(RTS, SQD),    {0, 0, 0},
                       {IBV_QP_EN_SQD_ASYNC_NOTIFY, IBV_QP_EN_SQD_ASYNC_NOTIFY,
                        IBV_QP_EN_SQD_ASYNC_NOTIFY}},
    {QPS(SQD, RTS),    {0, 0, 0},
                       {IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER | PATH,
                        IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | PATH,
                        IBV_QP_CUR_STATE | IBV_QP_QKEY}},
    {QPS(SQD, SQD),    {0, 0, 0},
                       {IBV_QP_PORT | IBV_QP_AV | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
                            IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC |
                            IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_ACCESS_FLAGS |
                            IBV_QP_PKEY_INDEX | IBV_QP_MIN_RNR_TIMER | PATH,
                        IBV_QP_AV | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX | PATH,
                        IBV_QP_PKEY_INDEX | IBV_QP_QKEY}},
    {QPS(SQE, RTS),    {0, 0, 0},
                       {0, IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS, IBV_QP_CUR_STATE | IBV_QP_QKEY}},
};
/* clang-format on */

static int type_index(enum ibv_qp_type type)
{
    return type == IBV_QPT_UC ? UC : type == IBV_QPT_UD ? UD : RC;
}

int ofa_transition_check(enum ibv_qp_type type, enum ibv_qp_state from, enum ibv_qp_state to,
                         int mask)
{
    const int always = IBV_QP_STATE;
    int index = type_index(type);

    /* Allowed without other attributes, but Linux lets no queue pair go from RESET to ERR. */
    if (to == IBV_QPS_RESET || to == IBV_QPS_ERR)
        return (mask & ~always) || (from == IBV_QPS_RESET && to == IBV_QPS_ERR) ? EINVAL : 0;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        const struct step *step = &steps[i];

        if (step->from != from || step->to != to)
            continue;
        if ((mask & step->required[index]) != step->required[index] ||
            (mask & ~(step->required[index] | step->optional[index] | always)))
            return EINVAL;
        return 0;
    }
    return EINVAL;
}
