/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * After fork(2) two processes have the same sockets, and for each socket only one of them may go
 * on. Before the fork, this code takes both tokens of each connected EP and removes its stream from
 * the poll set, so that no thread uses the state that the child copies. The first process that
 * claims the EP, through a word in memory shared by both, drops the tokens. The other process
 * replaces its descriptor by a socket whose peer has closed. There the connection ends in order,
 * without any effect on the real stream.
 */
#include "vp/uiwarp/lead/uiw_fork.h"

#include "vp/uiwarp/lead/uiw_leader.h"
#include "vp/uiwarp/queue/uiw_pollset.h"
#include "vp/uiwarp/queue/uiw_token.h"
#include "vp/uiwarp/stream/uiw_stream.h"

#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

/* The words of all EPs that were frozen together. Each process has a copy of this struct. */
struct fork_words {
    _Atomic uint32_t *shared; /* shared memory, one for each EP; 0: not claimed yet */
    size_t size;              /* octets of .shared */
    _Atomic uint32_t users;   /* EPs, and uiw_fork_freeze */
};

struct uiw_fork_claim {
    struct fork_words *words;
    _Atomic uint32_t *word;
};

/* ---------------------------------------------------------------- words */

static struct fork_words *fork_words_make(size_t count)
{
    struct fork_words *words = calloc(1, sizeof(*words));

    if (!words)
        return NULL;
    words->size = (count + 1) * sizeof(words->shared[0]);
    words->shared =
        mmap(NULL, words->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (words->shared == MAP_FAILED) {
        free(words);
        return NULL;
    }
    atomic_store_explicit(&words->users, 1, memory_order_relaxed);
    return words;
}

static void fork_words_drop(struct fork_words *words)
{
    if (atomic_fetch_sub_explicit(&words->users, 1, memory_order_acq_rel) != 1)
        return;
    (void)munmap((void *)words->shared, words->size);
    free(words);
}

/* ---------------------------------------------------------------- freezing */

static bool fork_is_connected(const struct ual_ep *ual)
{
    return !ual->datagrams && ual_ep_state(ual) == IT_EP_STATE_CONNECTED;
}

static size_t fork_count_locked(struct ual_ia *ia)
{
    size_t count = 0;

    BASE_LIST_EACH(struct ual_ep, ual, &ia->evd.objects[IT_HANDLE_TYPE_EP], object.link)
        count += fork_is_connected(ual);
    return count;
}

/* Takes both tokens of the EP. Returns false if memory runs out: nothing has changed. */
static bool fork_suspend(struct ual_ep *ual, struct fork_words *words, size_t index)
{
    struct uiw_ep *ep = uiw_ep_of(ual);
    struct uiw_fork_claim *claim;

    if (atomic_load(&ep->claim))
        return true; /* frozen since an earlier fork */
    claim = calloc(1, sizeof(*claim));
    if (!claim)
        return false;
    claim->words = words;
    claim->word = &words->shared[index];
    atomic_fetch_add_explicit(&words->users, 1, memory_order_relaxed);
    uiw_reader_take(ep);
    uiw_token_wait(ep);
    if (ep->fd >= 0)
        uiw_pollset_remove(ep->ia->ual, ual, ep->fd);
    atomic_store(&ep->claim, claim);
    return true;
}

/*
 * Freezes all connected EPs. During the freeze the program makes no call on the IA, and the IA's
 * thread runs nothing, so every token becomes free.
 */
static bool fork_suspend_all(struct ual_ia *ia, struct fork_words *words)
{
    size_t index = 0;

    BASE_LIST_EACH(struct ual_ep, ual, &ia->evd.objects[IT_HANDLE_TYPE_EP], object.link) {
        if (fork_is_connected(ual) && !fork_suspend(ual, words, index++))
            return false;
    }
    return true;
}

static void fork_resume_all(struct ual_ia *ia)
{
    BASE_LIST_EACH(struct ual_ep, ual, &ia->evd.objects[IT_HANDLE_TYPE_EP], object.link)
        (void)uiw_fork_claim(ual);
}

it_status_t uiw_fork_freeze(struct ual_ia *ia)
{
    struct uiw_progress *progress = uiw_progress_of(ia);
    struct fork_words *words;
    bool suspended;

    base_lock_take(&ia->evd.lock);
    words = fork_words_make(fork_count_locked(ia));
    base_lock_drop(&ia->evd.lock);
    if (!words)
        return IT_ERR_RESOURCES;
    while (!uiw_leader_claim(progress, UIW_LEADER_CONSUMER)) {
        uiw_lead_abroad_call_home(progress);
        sched_yield();
    }
    uiw_detach_end_all(progress);
    progress->active_count = 0;
    suspended = fork_suspend_all(ia, words);
    fork_words_drop(words);
    if (suspended)
        return IT_SUCCESS;
    fork_resume_all(ia);
    uiw_leader_release(ia);
    return IT_ERR_RESOURCES;
}

/* ---------------------------------------------------------------- going on */

/* Replaces a poll set that is shared with the other process by a new one. */
static bool fork_renew_pollset(int fd, int member, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = NULL};
    int own = epoll_create1(EPOLL_CLOEXEC);
    bool renewed = own >= 0 && epoll_ctl(own, EPOLL_CTL_ADD, member, &event) == 0 &&
                   dup3(own, fd, O_CLOEXEC) == fd;

    if (own >= 0)
        (void)close(own);
    return renewed;
}

static bool fork_renew(struct uiw_progress *progress)
{
    bool open = atomic_load_explicit(&progress->gate_open, memory_order_relaxed);

    return evd_loop_renew_eventfd(progress->kick_fd, 0) &&
           fork_renew_pollset(progress->epoll_fd, progress->kick_fd, EPOLLIN) &&
           fork_renew_pollset(progress->gate_fd, progress->epoll_fd, open ? EPOLLIN : 0);
}

int uiw_fork_thaw(struct ual_ia *ia, bool copy)
{
    struct uiw_progress *progress = uiw_progress_of(ia);

    if (copy && !fork_renew(progress))
        return -1;
    uiw_leader_release(ia);
    return progress->gate_fd;
}

/* ---------------------------------------------------------------- one connection */

/*
 * Replaces the descriptor by a socket whose peer has closed, so that this process no longer affects
 * the stream. Returns false if descriptors run out.
 */
static bool fork_let_go(int fd)
{
    int ends[2];
    bool gone;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return false;
    (void)close(ends[1]);
    gone = dup3(ends[0], fd, O_CLOEXEC) == fd;
    (void)close(ends[0]);
    return gone;
}

/* Drops the tokens: the EP works again. */
static void fork_go_on(struct ual_ep *ual, struct uiw_fork_claim *claim)
{
    struct uiw_ep *ep = uiw_ep_of(ual);

    if (ep->fd >= 0 && !uiw_pollset_add(ep->ia->ual, ual, ep->fd))
        atomic_store_explicit(&ep->tx.dead, true, memory_order_relaxed);
    fork_words_drop(claim->words);
    free(claim);
    uiw_token_drop(ep);
    uiw_drive_send(ual, true);
    uiw_reader_drop(ep);
}

/* Leaves the stream to the other process. Without a descriptor for that it ends for both. */
static void fork_lose(struct ual_ep *ual)
{
    struct uiw_ep *ep = uiw_ep_of(ual);

    ep->own.heard_last = true; /* the end of the new socket acknowledges no request */
    if (ep->fd >= 0 && !fork_let_go(ep->fd))
        atomic_store_explicit(&ep->tx.dead, true, memory_order_relaxed);
}

it_status_t uiw_fork_claim(struct ual_ep *ual)
{
    struct uiw_fork_claim *claim = atomic_exchange(&uiw_ep_of(ual)->claim, NULL);
    uint32_t nobody = 0;
    bool won;

    if (!claim)
        return IT_SUCCESS;
    won = atomic_compare_exchange_strong(claim->word, &nobody, 1);
    if (!won)
        fork_lose(ual);
    fork_go_on(ual, claim);
    return won ? IT_SUCCESS : IT_ERR_INVALID_EP_STATE;
}

void uiw_fork_leave(struct ual_ep *ual)
{
    struct uiw_fork_claim *claim = atomic_exchange(&uiw_ep_of(ual)->claim, NULL);

    if (!claim)
        return;
    fork_lose(ual);
    fork_go_on(ual, claim);
}
