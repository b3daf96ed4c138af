/* SPDX-License-Identifier: BSD-2-Clause */
#include "link/ofa_number.h"

#include "datagram/ofa_datagram.h"
#include "support/ofa_port.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- Places --------------------------------------------------------------------------------- */

struct ofa_port_block *ofa_number_block_locked(const struct ofa_context *context, uint32_t port)
{
    struct ofa_port_block *block = context->blocks;

    while (block && block->port != port)
        block = block->next;
    return block;
}

#define TRIES 16 /* to find a TCP port that is also free in UDP */

/* Returns 0 or errno. */
static int open_port(struct ofa_context *context, struct ofa_port_block *block, bool datagrams)
{
    struct sockaddr_storage address;
    int error;

    ofa_port_any(&address, 0);
    error = ofa_port_keep(&address, SOCK_STREAM, false, false, &block->socket);
    if (error != 0)
        return error;
    block->port = ofa_port_of((const struct sockaddr *)&address);
    block->datagrams = datagrams;
    ofa_port_share(block->socket);
    if (datagrams)
        error = ofa_datagram_add_port(context, block->port);
    if (error != 0)
        (void)close(block->socket);
    return error;
}

/* Returns 0 or errno. */
static int add_block_locked(struct ofa_context *context, bool datagrams)
{
    struct ofa_port_block *block = calloc(1, sizeof(*block));
    int error = block ? EADDRINUSE : ENOMEM;

    for (int i = 0; i < TRIES && error == EADDRINUSE; i++)
        error = open_port(context, block, datagrams);
    if (error != 0) {
        free(block);
        return error;
    }
    block->next = context->blocks;
    context->blocks = block;
    return 0;
}

static struct ofa_port_block *block_with_room_locked(const struct ofa_context *context,
                                                     bool datagrams)
{
    struct ofa_port_block *block = context->blocks;

    while (block && (block->inherited || block->used == OFA_NUMBERS_PER_PORT ||
                     (datagrams && !block->datagrams)))
        block = block->next;
    return block;
}

/* Uses places in turn, so that the number of a destroyed queue pair is reused late. */
static void place_locked(struct ofa_port_block *block, struct ofa_qp *qp)
{
    unsigned int place = block->next_place;

    while (block->qps[place])
        place = (place + 1) % OFA_NUMBERS_PER_PORT;
    block->qps[place] = qp;
    block->used++;
    block->next_place = (place + 1) % OFA_NUMBERS_PER_PORT;
    qp->base.qp_num = (uint32_t)block->port << 8 | place;
}

int ofa_number_add(struct ofa_context *context, struct ofa_qp *qp)
{
    bool datagrams = qp->base.qp_type == IBV_QPT_UD;
    struct ofa_port_block *block;
    int error = 0;

    (void)pthread_mutex_lock(&context->lock);
    block = block_with_room_locked(context, datagrams);
    if (!block) {
        error = add_block_locked(context, datagrams);
        block = context->blocks;
    }
    if (error == 0)
        place_locked(block, qp);
    (void)pthread_mutex_unlock(&context->lock);
    return error;
}

void ofa_number_hide(struct ofa_qp *qp, bool hide)
{
    (void)pthread_mutex_lock(&qp->context->lock);
    qp->leaving = hide;
    (void)pthread_mutex_unlock(&qp->context->lock);
}

void ofa_number_remove(struct ofa_context *context, struct ofa_qp *qp)
{
    struct ofa_port_block *block;

    (void)pthread_mutex_lock(&context->lock);
    block = ofa_number_block_locked(context, qp->base.qp_num >> 8);
    if (block) {
        block->qps[qp->base.qp_num % OFA_NUMBERS_PER_PORT] = NULL;
        block->used--;
    }
    (void)pthread_mutex_unlock(&context->lock);
}

struct ofa_qp *ofa_number_find_locked(const struct ofa_context *context, uint32_t number)
{
    const struct ofa_port_block *block = ofa_number_block_locked(context, number >> 8);

    struct ofa_qp *qp = block ? block->qps[number % OFA_NUMBERS_PER_PORT] : NULL;

    return qp && !qp->leaving ? qp : NULL;
}

void ofa_number_each_locked(struct ofa_context *context,
                            void (*act)(struct ofa_qp *qp, void *argument), void *argument)
{
    for (struct ofa_port_block *block = context->blocks; block; block = block->next)
        for (unsigned int i = 0; i < OFA_NUMBERS_PER_PORT; i++)
            if (block->qps[i] && block->qps[i]->ep && !block->qps[i]->leaving)
                act(block->qps[i], argument);
}

void ofa_number_leave(struct ofa_context *context)
{
    for (struct ofa_port_block *block = context->blocks; block; block = block->next)
        block->inherited = true;
}

void ofa_number_close(struct ofa_context *context)
{
    struct ofa_port_block *block;

    ofa_datagram_close_ports(context);
    while ((block = context->blocks) != NULL) {
        context->blocks = block->next;
        if (block->listener)
            (void)it_listen_free(block->listener);
        (void)close(block->socket);
        free(block);
    }
}
