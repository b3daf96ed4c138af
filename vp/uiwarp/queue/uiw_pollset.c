/* SPDX-License-Identifier: BSD-2-Clause */
/* Adds streams to the poll set and removes them. */
#include "vp/uiwarp/queue/uiw_pollset.h"

#include "vp/uiwarp/queue/uiw_ep.h"

#include <sys/epoll.h>

bool uiw_pollset_add(struct ual_ia *ia, struct ual_ep *ual, int fd)
{
    bool writable = atomic_load_explicit(&uiw_ep_of(ual)->tx.blocked, memory_order_relaxed);
    struct epoll_event event = {.events = EPOLLIN | (writable ? EPOLLOUT : 0), .data.ptr = ual};

    return epoll_ctl(uiw_progress_of(ia)->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

bool uiw_pollset_want(struct ual_ia *ia, struct ual_ep *ual, int fd, bool writable)
{
    struct uiw_progress *progress = uiw_progress_of(ia);
    struct epoll_event event = {.events = EPOLLIN | (writable ? EPOLLOUT : 0), .data.ptr = ual};
    struct uiw_tx *tx = &uiw_ep_of(ual)->tx;

    if (writable)
        atomic_fetch_add_explicit(&progress->blocked, 1, memory_order_relaxed);
    else
        atomic_fetch_sub_explicit(&progress->blocked, 1, memory_order_relaxed);
    if (tx->detached) {
        tx->detached = false;
        return epoll_ctl(progress->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
    }
    /* Fails for a stream that is not in the set yet: uiw_pollset_add then looks at .blocked. */
    (void)epoll_ctl(progress->epoll_fd, EPOLL_CTL_MOD, fd, &event);
    return true;
}

void uiw_pollset_remove(struct ual_ia *ia, struct ual_ep *ual, int fd)
{
    struct uiw_progress *progress = uiw_progress_of(ia);

    if (atomic_load_explicit(&uiw_ep_of(ual)->tx.blocked, memory_order_relaxed))
        atomic_fetch_sub_explicit(&progress->blocked, 1, memory_order_relaxed);
    uiw_ep_of(ual)->tx.detached = false;
    (void)epoll_ctl(progress->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
}
