/* SPDX-License-Identifier: BSD-2-Clause */
#include "vp/verbs/device/verbs_sigpipe.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

struct verbs_sigpipe {
    sigset_t before; /* the thread's mask */
    bool pending;    /* a SIGPIPE was pending before the call, and is not the device's */
};

static sigset_t sigpipe_only(void)
{
    sigset_t only;

    (void)sigemptyset(&only);
    (void)sigaddset(&only, SIGPIPE);
    return only;
}

static struct verbs_sigpipe sigpipe_block(void)
{
    sigset_t only = sigpipe_only();
    struct verbs_sigpipe guard = {.pending = false};
    sigset_t pending;

    (void)pthread_sigmask(SIG_BLOCK, &only, &guard.before);
    /* Only a thread that blocks the signal can have it pending. */
    if (sigismember(&guard.before, SIGPIPE) == 1 && sigpending(&pending) == 0)
        guard.pending = sigismember(&pending, SIGPIPE) == 1;
    return guard;
}

/* Removes the signal that the call has raised. Keeps errno. */
static void sigpipe_restore(const struct verbs_sigpipe *guard)
{
    static const struct timespec at_once;
    sigset_t only = sigpipe_only();
    int error = errno;

    if (!guard->pending)
        while (sigtimedwait(&only, NULL, &at_once) < 0 && errno == EINTR)
            continue;
    (void)pthread_sigmask(SIG_SETMASK, &guard->before, NULL);
    errno = error;
}

bool verbs_sigpipe_is_ignored(void)
{
    struct sigaction action;

    return sigaction(SIGPIPE, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

int verbs_sigpipe_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    struct verbs_sigpipe guard = sigpipe_block();
    int error = ibv_post_send(qp, wr, bad);

    sigpipe_restore(&guard);
    return error;
}

int verbs_sigpipe_accept(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
    struct verbs_sigpipe guard = sigpipe_block();
    int result = rdma_accept(id, param);

    sigpipe_restore(&guard);
    return result;
}

int verbs_sigpipe_reject(struct rdma_cm_id *id, const void *private_data, uint8_t length)
{
    struct verbs_sigpipe guard = sigpipe_block();
    int result = rdma_reject(id, private_data, length);

    sigpipe_restore(&guard);
    return result;
}
