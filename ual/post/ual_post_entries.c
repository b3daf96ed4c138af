/* SPDX-License-Identifier: BSD-2-Clause */
/* The posting calls of an EP without a shorter way of its provider. */
#include "ual/post/ual_post.h"

const struct base_entries ual_ep_entries = {
    .post_send = ual_post_send,
    .post_rdma_write = ual_post_rdma_write,
    .post_rdma_read = ual_post_rdma_read,
    .post_recv = ual_post_recv,
    .dequeue = base_no_dequeue,
};
