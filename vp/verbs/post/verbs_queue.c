/* SPDX-License-Identifier: BSD-2-Clause */
/* Work queues: slots, and the prepared members of usual posts. */
#include "vp/verbs/post/verbs_posting.h"

#include "vp/verbs/complete/verbs_complete.h"
#include "vp/verbs/memory/verbs_rmr.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void queue_number(struct verbs_queue *queue)
{
    queue->tail = queue->room_end = VERBS_FIRST;
    queue->reaped = queue->moved = queue->ordered = queue->overtaking = VERBS_FIRST;
    queue->device_tail = queue->renewed = queue->flushed = VERBS_FIRST;
    atomic_store_explicit(&queue->published, VERBS_FIRST, memory_order_relaxed);
    atomic_store_explicit(&queue->retired, VERBS_FIRST, memory_order_relaxed);
}

static void usual_init_send(struct verbs_queue *queue, enum verbs_usual usual,
                            enum ibv_wr_opcode opcode, bool is_inline)
{
    queue->usual_wr.send[usual] = (struct ibv_send_wr){
        .sg_list = &queue->sge,
        .num_sge = 1,
        .opcode = opcode,
        .send_flags = (unsigned)IBV_SEND_SIGNALED | (is_inline ? (unsigned)IBV_SEND_INLINE : 0u),
    };
}

/* Fills in the members that usual posts share. No thread posts yet. */
static void usual_init(struct verbs_queue *queue)
{
    if (queue->is_receive) {
        queue->usual_wr.recv = (struct ibv_recv_wr){.sg_list = &queue->sge, .num_sge = 1};
        return;
    }
    usual_init_send(queue, VERBS_USUAL_SEND, IBV_WR_SEND, false);
    usual_init_send(queue, VERBS_USUAL_SEND_INLINE, IBV_WR_SEND, true);
    usual_init_send(queue, VERBS_USUAL_WRITE, IBV_WR_RDMA_WRITE, false);
    usual_init_send(queue, VERBS_USUAL_WRITE_INLINE, IBV_WR_RDMA_WRITE, true);
    usual_init_send(queue, VERBS_USUAL_READ, IBV_WR_RDMA_READ, false);
}

bool verbs_queue_make(struct verbs_queue *queue, struct verbs_ep *ep, size_t depth, bool is_receive)
{
    uint32_t size = 1;

    while (size < depth)
        size *= 2;
    queue->slots = calloc(size, sizeof(*queue->slots));
    if (!queue->slots)
        return false;
    if (!is_receive && ep->ia->attributes.rmr_types) {
        queue->links = calloc(size, sizeof(*queue->links));
        if (!queue->links) {
            free(queue->slots);
            return false;
        }
    }
    queue_number(queue);
    queue->ep = ep;
    queue->handle = ep->handle;
    queue->is_receive = is_receive;
    queue->depth = (uint32_t)depth;
    queue->mask = size - 1;
    queue->signal_every = depth > 1 ? (uint32_t)depth / 2 : 1;
    for (uint32_t i = 0; i < size; i++) {
        queue->slots[i].queue = queue;
    }
    queue->marker.queue = queue;
    queue->open = is_receive;
    queue->special = is_receive ? VERBS_EARLY : 0;
    usual_init(queue);
    verbs_queue_refresh(queue);
    return true;
}

void verbs_queue_refresh(struct verbs_queue *queue)
{
    queue->usual = queue->open && !queue->local;
    queue->room_end = queue->tail;
    if (queue->usual)
        queue->room_end =
            atomic_load_explicit(&queue->retired, memory_order_acquire) + queue->depth;
    atomic_store_explicit(&queue->published, queue->tail, memory_order_release);
}

void verbs_queue_free(struct verbs_queue *queue)
{
    free(queue->links);
    queue->links = NULL;
    free(queue->slots);
    queue->slots = NULL;
}

bool verbs_queue_is_full(const struct verbs_queue *queue)
{
    return queue->tail - atomic_load_explicit(&queue->retired, memory_order_acquire) >=
           queue->depth;
}

/*
 * Polls, since only that frees the slots of posts without events. The lock is held on entry and on
 * return, and dropped in between.
 */
bool verbs_queue_make_room(struct verbs_queue *queue)
{
    base_lock_drop(&queue->lock);
    verbs_source_reap(queue->ep, queue);
    base_lock_take(&queue->lock);
    return !verbs_queue_is_full(queue);
}

/* The post is complete and may be flushed from now on. */
static void queue_publish(struct verbs_queue *queue)
{
    queue->tail++;
    verbs_queue_refresh(queue);
}

/* The device has refused a post: from here on nothing reaches it, and the connection ends. */
static void queue_fail(struct verbs_queue *queue, int error)
{
    verbs_log(VP_LOG_INFO, "ep %p: a post is refused: %s", (void *)queue->ep->ual, strerror(error));
    queue->local = true;
    queue->local_from = queue->tail;
    verbs_queue_refresh(queue);
    verbs_host->task_submit(queue->ep->failed);
}

/* Drops the lock. The slot is filled in. */
it_status_t verbs_queue_finish(struct verbs_queue *queue, int error)
{
    bool local;

    if (__builtin_expect(error == ENOMEM, false)) {
        base_lock_drop(&queue->lock);
        return IT_ERR_TOO_MANY_POSTS;
    }
    if (__builtin_expect(error != 0, false))
        queue_fail(queue, error);
    local = queue->local;
    queue_publish(queue);
    base_lock_drop(&queue->lock);
    if (__builtin_expect(local, false))
        verbs_source_post_local(queue->ep, queue);
    return IT_SUCCESS;
}
