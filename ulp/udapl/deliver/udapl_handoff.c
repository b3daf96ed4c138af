/* SPDX-License-Identifier: BSD-2-Clause */
#include "deliver/udapl_handoff.h"

#include <stdlib.h>
#include <string.h>

struct udapl_handoff {
    struct sockaddr_storage remote;
    DAT_CONN_QUAL to;
    struct udapl_handoff *next;
};

bool udapl_handoff_note(struct udapl_ia *ia, const struct udapl_cr *cr, DAT_CONN_QUAL to)
{
    struct udapl_handoff *handoff = malloc(sizeof(*handoff));

    if (!handoff)
        return false;
    handoff->remote = cr->remote;
    handoff->to = to;
    pthread_mutex_lock(&ia->lock);
    handoff->next = ia->handoffs;
    ia->handoffs = handoff;
    pthread_mutex_unlock(&ia->lock);
    return true;
}

static struct udapl_handoff *take_locked(struct udapl_ia *ia, const struct sockaddr_storage *remote)
{
    for (struct udapl_handoff **at = &ia->handoffs; *at; at = &(*at)->next) {
        struct udapl_handoff *handoff = *at;

        if (memcmp(&handoff->remote, remote, sizeof(*remote)) != 0)
            continue;
        *at = handoff->next;
        return handoff;
    }
    return NULL;
}

DAT_CONN_QUAL udapl_handoff_take(struct udapl_ia *ia, const struct sockaddr_storage *remote,
                                 DAT_CONN_QUAL came_to)
{
    struct udapl_handoff *handoff;

    pthread_mutex_lock(&ia->lock);
    handoff = take_locked(ia, remote);
    pthread_mutex_unlock(&ia->lock);
    if (!handoff)
        return came_to;
    came_to = handoff->to;
    free(handoff);
    return came_to;
}

void udapl_handoff_clear(struct udapl_ia *ia)
{
    while (ia->handoffs) {
        struct udapl_handoff *handoff = ia->handoffs;

        ia->handoffs = handoff->next;
        free(handoff);
    }
}
