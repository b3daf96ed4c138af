/* SPDX-License-Identifier: BSD-2-Clause */
#include "vp/verbs/device/verbs_sigpipe.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

static sigset_t sigpipe_only(void)
{
    sigset_t only;

    (void)sigemptyset(&only);
    (void)sigaddset(&only, SIGPIPE);
    return only;
}

struct verbs_sigpipe verbs_sigpipe_block(void)
{
    sigset_t only = sigpipe_only();
    struct verbs_sigpipe guard = {.pending = false};
    sigset_t pending;

    (void)pthread_sigmask(SIG_BLOCK, &only, &guard.before);
    /* Only a thread that blocks the signal can have one that waits. */
    if (sigismember(&guard.before, SIGPIPE) == 1 && sigpending(&pending) == 0)
        guard.pending = sigismember(&pending, SIGPIPE) == 1;
    return guard;
}

void verbs_sigpipe_restore(const struct verbs_sigpipe *guard)
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

int verbs_sigpipe_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    struct verbs_sigpipe guard = verbs_sigpipe_block();
    int error = ibv_post_send(qp, wr, bad);

    verbs_sigpipe_restore(&guard);
    return error;
}
