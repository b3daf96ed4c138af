/* SPDX-License-Identifier: BSD-2-Clause */
/* Stops a loop during fork(2); afterwards it continues in both processes. */
#include "evd/loop/evd_loop_private.h"

#include "base/base_thread.h"

#include <event2/event.h>

#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* ---------------------------------------------------------------- rest */

static void loop_rest_run(struct evd_task *task)
{
    struct evd_loop *loop = BASE_ITEM(task, struct evd_loop, rest);

    (void)event_base_loopbreak(loop->base);
}

bool evd_loop_rest(struct evd_loop *loop)
{
    if (atomic_load_explicit(&loop->lent, memory_order_relaxed) || evd_loop_is_current(loop))
        return false;
    loop->rest.run = loop_rest_run;
    atomic_store(&loop->resting, LOOP_REST_ASKED);
    (void)evd_loop_submit(loop, &loop->rest);
    loop_rest_await_change(loop, LOOP_REST_ASKED);
    return true;
}

void evd_loop_go_on(struct evd_loop *loop)
{
    loop_arm(loop); /* tasks may be left */
    loop_rest_set(loop, LOOP_RUNS);
}

/* ---------------------------------------------------------------- in a copy of the process */

bool evd_loop_renew_eventfd(int fd, unsigned count)
{
    int own = eventfd(count, EFD_CLOEXEC | EFD_NONBLOCK);
    bool renewed = own >= 0 && dup3(own, fd, O_CLOEXEC) == fd;

    if (own >= 0)
        (void)close(own);
    return renewed;
}

/* Replaces all descriptors but one: listeners, attempts and closing streams are the parent's. */
static bool loop_silence(struct evd_loop *loop, int keep_fd)
{
    BASE_LIST_EACH(struct evd_io, io, &loop->ios, link) {
        if (io->fd != keep_fd && !evd_loop_renew_eventfd(io->fd, 0))
            return false;
    }
    return true;
}

bool evd_loop_go_on_in_copy(struct evd_loop *loop, int keep_fd)
{
    /* A count of 1, because tasks may be left. */
    if (!evd_loop_renew_eventfd(loop->wake_fd, 1) || !loop_silence(loop, keep_fd) ||
        event_reinit(loop->base) != 0)
        return false;
    atomic_store(&loop->resting, LOOP_RUNS);
    return base_thread_create(&loop->thread, loop_main, loop) == 0;
}
