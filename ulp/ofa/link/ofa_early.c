/* SPDX-License-Identifier: BSD-2-Clause */
#include "link/ofa_early.h"

#include "link/ofa_greeting.h"

#include <string.h>

static bool same_source(const it_net_addr_t *a, const it_net_addr_t *b)
{
    if (a->addr_type != b->addr_type)
        return false;
    return a->addr_type == IT_IPV4
               ? a->addr.ipv4.s_addr == b->addr.ipv4.s_addr
               : memcmp(&a->addr.ipv6, &b->addr.ipv6, sizeof(a->addr.ipv6)) == 0;
}

static unsigned int count_of(const struct ofa_early_list *list, const it_net_addr_t *source)
{
    unsigned int count = 0;

    for (unsigned int i = 0; i < list->count; i++)
        count += same_source(&list->items[i].source, source);
    return count;
}

static unsigned int least_wanted(const struct ofa_early_list *list)
{
    unsigned int found = 0;

    for (unsigned int i = 1; i < list->count; i++)
        if (count_of(list, &list->items[i].source) > count_of(list, &list->items[found].source))
            found = i;
    return found;
}

static struct ofa_early take_at(struct ofa_early_list *list, unsigned int index)
{
    struct ofa_early early = list->items[index];

    list->count--;
    memmove(&list->items[index], &list->items[index + 1],
            (list->count - index) * sizeof(list->items[0]));
    return early;
}

it_cn_est_identifier_t ofa_early_put_locked(struct ofa_early_list *list,
                                            const struct ofa_early *early)
{
    it_cn_est_identifier_t displaced = 0;

    if (list->count == OFA_EARLY_MOST)
        displaced = take_at(list, least_wanted(list)).request;
    list->items[list->count++] = *early;
    return displaced;
}

static bool tells_psn(const struct ofa_early *early)
{
    return early->greeting.from_psn != OFA_PSN_UNKNOWN;
}

bool ofa_early_take_locked(struct ofa_early_list *list, const struct ofa_qp *qp,
                           bool (*matches)(const struct ofa_qp *qp,
                                           const struct ofa_greeting *greeting),
                           struct ofa_early *found)
{
    unsigned int best = list->count;

    for (unsigned int i = list->count; i-- > 0;)
        if (matches(qp, &list->items[i].greeting) &&
            (best == list->count || (!tells_psn(&list->items[best]) && tells_psn(&list->items[i]))))
            best = i;
    if (best == list->count)
        return false;
    *found = take_at(list, best);
    return true;
}

struct ofa_early_list ofa_early_take_all_locked(struct ofa_early_list *list)
{
    struct ofa_early_list taken = *list;

    list->count = 0;
    return taken;
}

void ofa_early_reject(const struct ofa_early_list *taken)
{
    for (unsigned int i = 0; i < taken->count; i++)
        if (taken->items[i].request != 0)
            (void)it_reject(taken->items[i].request, NULL, 0);
}

void ofa_early_drop(struct ofa_context *context, struct ofa_early_list *list)
{
    struct ofa_early_list taken;

    (void)pthread_mutex_lock(&context->lock);
    taken = ofa_early_take_all_locked(list);
    (void)pthread_mutex_unlock(&context->lock);
    ofa_early_reject(&taken);
}
