/* SPDX-License-Identifier: BSD-2-Clause */
/* poll and select: the kernel's, with faces and undecided sockets among the descriptors. */
#include "connection/sdp_connection.h"
#include "socket/sdp_behind.h"
#include "socket/sdp_calls.h"
#include "socket/sdp_decide.h"
#include "socket/sdp_forked.h"
#include "socket/sdp_interest.h"
#include "socket/sdp_region.h"
#include "socket/sdp_socket.h"
#include "socket/sdp_swap.h"
#include "socket/sdp_table.h"
#include "socket/sdp_watched.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#define READABLE (POLLIN | POLLRDNORM | POLLRDHUP)
#define ON_STACK 64

/* The kernel's poll on behalf of the program's. */
struct round {
    struct pollfd *polls;       /* the program's, then those of undecided sockets, then the kick */
    const struct pollfd *asked; /* the program's own array */
    nfds_t count;
    struct sdp_watched others; /* those of undecided sockets */
    nfds_t faces;              /* number of converted sockets */
    int ready;                 /* ready without the kernel */
};

/* Adds POLLRDNORM and the like, as the kernel does for TCP. */
static short as_poll(unsigned events, short asked)
{
    unsigned all = events & (POLLIN | POLLOUT | POLLPRI | POLLRDHUP);

    if (events & POLLIN)
        all |= POLLRDNORM;
    if (events & POLLOUT)
        all |= POLLWRNORM;
    return (short)((all & (unsigned)asked) | (events & (POLLERR | POLLHUP)));
}

/* Prepares one of the program's descriptors before the sleep. */
static void prepare(struct round *round, struct pollfd *poll)
{
    struct sdp_socket *socket = poll->fd < 0 ? NULL : sdp_socket_hold(poll->fd);
    struct sdp_agree_wait wait;

    poll->revents = 0;
    if (!socket) {
        if (poll->fd >= 0 && sdp_table_kind(poll->fd) == SDP_NUMBER_EPOLL) {
            sdp_watched_set(&round->others, poll->fd);
            sdp_forked_wait(poll->fd);
        }
        return;
    }
    switch (sdp_decide_step(socket, SDP_POLLS, &wait)) {
    case SDP_BY_KERNEL:
        break;
    case SDP_BY_CONNECTION:
        poll->revents = as_poll(sdp_swap_look(socket), poll->events);
        round->ready += poll->revents != 0;
        round->faces++;
        break;
    case SDP_MUST_WAIT:
        sdp_watched_add(&round->others, &wait);
        poll->events =
            (short)(sdp_wait_is_open(&wait, poll->fd) ? poll->events & ~(READABLE | POLLPRI) : 0);
        break;
    }
    sdp_socket_release(socket);
}

/* Corrects it after the sleep by what the program has asked for. Returns true if it is ready. */
static bool finish(struct pollfd *poll, short asked)
{
    struct sdp_socket *socket = poll->fd < 0 ? NULL : sdp_socket_hold(poll->fd);
    struct sdp_agree_wait wait;

    if (!socket)
        return poll->revents != 0;
    if (sdp_decide_step(socket, SDP_POLLS, &wait) == SDP_BY_CONNECTION)
        poll->revents = as_poll(sdp_swap_look(socket), asked);
    sdp_socket_release(socket);
    return poll->revents != 0;
}

/* Returns -errno, or how many are ready; 0: check again, or timeout. */
static int one_round(struct round *round, const struct timespec *deadline, const sigset_t *mask)
{
    static const struct timespec over = {0, 0};
    struct sdp_harvest taken = {.set = -1};
    const struct timespec *until;
    nfds_t all;
    int result;

    sdp_watched_start(&round->others, round->polls + round->count);
    round->ready = 0;
    round->faces = 0;
    for (nfds_t i = 0; i < round->count; i++)
        prepare(round, &round->polls[i]);
    if (round->ready > 0 && round->faces == round->count)
        return round->ready;
    if (round->ready == 0)
        sdp_behind_catch_up();
    until = sdp_watched_until(&round->others, round->ready ? &over : deadline);
    all = round->count + sdp_watched_end(&round->others);
    result = round->faces > 0 ? sdp_sleep_leading(round->polls, all, until, mask, &taken)
                              : sdp_sleep(round->polls, all, until, mask);
    if (result < 0)
        return result;
    result = 0;
    for (nfds_t i = 0; i < round->count; i++)
        result += finish(&round->polls[i], round->asked[i].events);
    return result;
}

static int poll_on(struct pollfd *copy, struct pollfd *polls, nfds_t count,
                   const struct timespec *deadline, const sigset_t *mask)
{
    struct round round = {.polls = copy, .asked = polls, .count = count};
    int result = 0;

    sdp_kick_begin();
    sdp_interests_settle();
    for (;;) {
        sdp_kick_notice();
        memcpy(copy, polls, count * sizeof(*polls));
        result = one_round(&round, deadline, mask);
        if (result != 0 || sdp_is_over(deadline))
            break;
    }
    sdp_kick_end();
    for (nfds_t i = 0; result >= 0 && i < count; i++)
        polls[i].revents = copy[i].revents;
    return result;
}

bool sdp_nothing_to_wait_for(void)
{
    return sdp_socket_count(SDP_UNDECIDED) == 0 && sdp_socket_count(SDP_CONVERTED) == 0;
}

/* Returns true if the kernel alone would give a wrong result. */
static bool is_ours(const struct pollfd *polls, nfds_t count)
{
    for (nfds_t i = 0; i < count; i++) {
        struct sdp_socket *socket;
        bool ours;

        if (polls[i].fd < 0)
            continue;
        if (sdp_table_kind(polls[i].fd) == SDP_NUMBER_EPOLL)
            return true;
        socket = sdp_socket_hold(polls[i].fd);
        if (!socket)
            continue;
        ours = atomic_load(&socket->state) >= SDP_UNDECIDED;
        sdp_socket_release(socket);
        if (ours)
            return true;
    }
    return false;
}

int sdp_wait_poll(struct pollfd *polls, nfds_t count, const struct timespec *deadline,
                  const sigset_t *mask)
{
    struct pollfd on_stack[ON_STACK + SDP_WATCHED_MAX + 1];
    struct pollfd *copy = on_stack;
    size_t size = (count + SDP_WATCHED_MAX + 1) * sizeof(*copy);
    int result;

    if (!is_ours(polls, count))
        return SDP_KERNEL;
    if (count > ON_STACK)
        copy = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED)
        return -ENOMEM;
    result = poll_on(copy, polls, count, deadline, mask);
    if (copy != on_stack)
        (void)munmap(copy, size);
    return result;
}

/* ---- select --------------------------------------------------------------------------------- */

/*
 * For each set of select: the events that it asks poll for, and the events after which a descriptor
 * is in it. As in the kernel.
 */
static const struct {
    short asked;
    short given;
} meanings[3] = {{POLLIN, POLLIN | POLLRDNORM | POLLHUP | POLLERR},
                 {POLLOUT, POLLOUT | POLLWRNORM | POLLERR},
                 {POLLPRI, POLLPRI}};

#define WORD NFDBITS /* the kernel reads and writes sets by words */

/* A set of the program, which may have more than FD_SETSIZE numbers. */
static bool has(const fd_set *set, int fd)
{
    const fd_mask *words = set ? set->fds_bits : NULL;

    return words && ((unsigned long)words[fd / WORD] >> fd % WORD & 1);
}

static nfds_t polls_of_sets(int count, fd_set *const sets[3], struct pollfd *polls)
{
    nfds_t used = 0;

    for (int fd = 0; fd < count; fd++) {
        short asked = 0;

        for (unsigned i = 0; i < 3; i++)
            if (has(sets[i], fd))
                asked = (short)(asked | meanings[i].asked);
        if (asked)
            polls[used++] = (struct pollfd){.fd = fd, .events = asked};
    }
    return used;
}

static int sets_of_polls(int count, fd_set *const sets[3], const struct pollfd *polls, nfds_t used)
{
    int result = 0;

    for (nfds_t i = 0; i < used; i++)
        if (polls[i].revents & POLLNVAL)
            return -EBADF;
    for (unsigned j = 0; j < 3; j++) {
        fd_mask *words = sets[j] ? sets[j]->fds_bits : NULL;

        if (!words)
            continue;
        memset(words, 0, ((size_t)count + WORD - 1) / WORD * sizeof(*words));
        for (nfds_t i = 0; i < used; i++)
            if (polls[i].revents & meanings[j].given && polls[i].events & meanings[j].asked) {
                words[polls[i].fd / WORD] |= (fd_mask)(1ul << polls[i].fd % WORD);
                result++;
            }
    }
    return result;
}

int sdp_wait_select(int count, fd_set *in, fd_set *out, fd_set *urgent,
                    const struct timespec *deadline, const sigset_t *mask)
{
    fd_set *const sets[3] = {in, out, urgent};
    struct pollfd on_stack[FD_SETSIZE];
    struct pollfd *polls = on_stack;
    size_t size = (size_t)(count > 0 ? count : 0) * sizeof(*polls);
    nfds_t used;
    int result;

    if (count < 0)
        return SDP_KERNEL;
    if (count > FD_SETSIZE)
        polls = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (polls == MAP_FAILED)
        return -ENOMEM;
    used = polls_of_sets(count, sets, polls);
    result = sdp_wait_poll(polls, used, deadline, mask);
    if (result != SDP_KERNEL && result >= 0)
        result = sets_of_polls(count, sets, polls, used);
    if (polls != on_stack)
        (void)munmap(polls, size);
    return result;
}
