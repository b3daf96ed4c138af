/* SPDX-License-Identifier: BSD-2-Clause */
#include "transfer/iser_link.h"

#define LINK_LENGTH_BEFORE 8192u /* limit of data segments until the login agrees on another */

void iser_link_init(struct iser_link *link, const struct iser_link_ops *ops,
                    struct event_base *base)
{
    link->ops = ops;
    link->base = base;
    link->limits = (struct iser_limits){
        .send_max = LINK_LENGTH_BEFORE, .receive_max = LINK_LENGTH_BEFORE, .window = 1};
}

/* A NOP-In that pings, and an R2T, carry StatSN without advancing it. */
static bool link_takes_stat_sn(const uint8_t *bhs)
{
    switch (bhs[0]) {
    case ISER_R2T:
        return false;
    case ISER_DATA_IN:
        return (bhs[1] & ISER_STATUS) != 0;
    case ISER_NOP_IN:
        return iser_get32(bhs + ISER_AT_ITT) != ISER_NONE;
    default:
        return true;
    }
}

void iser_link_stamp(struct iser_link *link, uint8_t *bhs)
{
    struct iser_numbers *numbers = link->numbers;

    if (bhs[0] != ISER_DATA_IN || bhs[1] & ISER_STATUS)
        iser_put32(bhs + ISER_AT_STAT_SN, numbers->stat_sn);
    iser_put32(bhs + ISER_AT_EXP_CMD_SN, numbers->exp_cmd_sn);
    iser_put32(bhs + ISER_AT_MAX_CMD_SN, numbers->max_cmd_sn);
    if (link_takes_stat_sn(bhs))
        numbers->stat_sn++;
}

void iser_link_enter(struct iser_link *link)
{
    link->depth++;
}

void iser_link_leave(struct iser_link *link)
{
    if (--link->depth == 0 && link->closed)
        link->ops->free(link);
}

void iser_link_lost(struct iser_link *link, const char *why)
{
    if (link->lost || link->closed)
        return;
    link->lost = true;
    link->user_ops->lost(link->user, why);
}

void iser_link_close(struct iser_link *link)
{
    if (link->closed)
        return;
    iser_link_enter(link);
    link->closed = true;
    link->ops->discard(link);
    iser_link_leave(link);
}
