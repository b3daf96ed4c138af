/* SPDX-License-Identifier: BSD-2-Clause */
/* The list of all ids. */
#include "cm/ofa_cm.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

pthread_mutex_t cm_lock = PTHREAD_MUTEX_INITIALIZER;

static struct cm_id *ids; /* guarded by cm_lock */
static uintptr_t last_serial;

int cm_result(int error)
{
    if (error == 0)
        return 0;
    errno = error;
    return -1;
}

struct cm_id *cm_id_new(struct rdma_event_channel *channel, void *context, enum rdma_port_space ps,
                        enum ibv_qp_type type)
{
    struct cm_id *id = calloc(1, sizeof(*id));

    if (!id)
        return NULL;
    id->base.channel = channel;
    id->base.context = context;
    id->base.ps = ps;
    id->base.qp_type = type;
    id->port_socket = -1;
    id->ack_timeout = CM_ACK_TIMEOUT;
    (void)pthread_cond_init(&id->acked, NULL);
    (void)pthread_mutex_lock(&cm_lock);
    id->serial = ++last_serial;
    id->next = ids;
    ids = id;
    (void)pthread_mutex_unlock(&cm_lock);
    return id;
}

void cm_id_delete(struct cm_id *id)
{
    struct cm_id **link;

    (void)pthread_mutex_lock(&cm_lock);
    for (link = &ids; *link != id; link = &(*link)->next) {
    }
    *link = id->next;
    (void)pthread_mutex_unlock(&cm_lock);
    cm_release_port(id);
    (void)pthread_cond_destroy(&id->acked);
    cm_event_release(id);
    free(id->base.route.path_rec);
    free(id->listen_attr);
    free(id);
}

enum cm_state cm_id_state(struct cm_id *id)
{
    enum cm_state state;

    (void)pthread_mutex_lock(&cm_lock);
    state = id->state;
    (void)pthread_mutex_unlock(&cm_lock);
    return state;
}

void cm_id_set_state(struct cm_id *id, enum cm_state state)
{
    (void)pthread_mutex_lock(&cm_lock);
    id->state = state;
    (void)pthread_mutex_unlock(&cm_lock);
}

void cm_id_set_qp_locked(struct cm_id *id, struct ibv_qp *qp)
{
    id->qp = qp;
    id->qp_num = qp ? qp->qp_num : 0;
}

void cm_id_set_qp(struct cm_id *id, struct ibv_qp *qp)
{
    (void)pthread_mutex_lock(&cm_lock);
    cm_id_set_qp_locked(id, qp);
    (void)pthread_mutex_unlock(&cm_lock);
}

struct cm_id *cm_id_find_locked(uintptr_t serial)
{
    struct cm_id *id = ids;

    while (id && id->serial != serial)
        id = id->next;
    return id;
}

struct cm_id *cm_id_search_locked(bool (*is_wanted)(const struct cm_id *id, void *argument),
                                  void *argument)
{
    struct cm_id *id = ids;

    while (id && !is_wanted(id, argument))
        id = id->next;
    return id;
}

void cm_release_port(struct cm_id *id)
{
    if (id->port_socket >= 0)
        (void)close(id->port_socket);
    id->port_socket = -1;
}
