/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * siw writes to its socket in the thread that posts, accepts or rejects, without MSG_NOSIGNAL. Where
 * the peer has just gone away, the kernel raises SIGPIPE in that thread, which may be the program's.
 * These calls keep the signal away from it and leave the process as it is: disposition, mask and a
 * SIGPIPE that is pending already.
 */
#ifndef ITAPI_VP_VERBS_DEVICE_VERBS_SIGPIPE_H
#define ITAPI_VP_VERBS_DEVICE_VERBS_SIGPIPE_H

#include <infiniband/verbs.h>
#include <signal.h>
#include <stdbool.h>

struct verbs_sigpipe {
    sigset_t before; /* the thread's mask */
    bool pending;    /* a SIGPIPE was, which is not the device's */
};

/* Around the call. restore takes away the signal that the call has raised, and keeps errno. */
struct verbs_sigpipe verbs_sigpipe_block(void);
void verbs_sigpipe_restore(const struct verbs_sigpipe *guard);

/* As the post_send of the QP's device, with both around it: three system calls more. */
int verbs_sigpipe_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);

#endif
