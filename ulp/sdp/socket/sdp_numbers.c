/* SPDX-License-Identifier: BSD-2-Clause */
#include "socket/sdp_calls.h"
#include "socket/sdp_decide.h"
#include "socket/sdp_interest.h"
#include "socket/sdp_socket.h"
#include "socket/sdp_table.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <stddef.h>
#include <unistd.h>

void sdp_number_made(int number)
{
    struct sdp_socket *socket;

    (void)sdp_socket_new(number, SDP_FRESH, &socket);
}

/* Removes the number; no other thread gets it until the kernel's close, which the caller makes. */
static void forget(int number)
{
    struct sdp_socket *socket = sdp_socket_hold(number);
    bool last;

    sdp_interests_settle();
    if (socket) {
        if (atomic_load(&socket->state) == SDP_UNDECIDED && socket->numbers_count == 1)
            (void)sdp_decide_tcp(socket); /* a promise is kept even now */
        sdp_socket_release(socket);
    }
    sdp_table_lock();
    socket = sdp_table_get(number);
    if (socket)
        sdp_socket_take_number(socket, number);
    else if (sdp_table_kind(number) == SDP_NUMBER_EPOLL)
        sdp_interests_forget(number);
    (void)sdp_table_set(number, SDP_NUMBER_FREE, NULL);
    sdp_table_unlock();
    if (!socket)
        return;
    last = socket->numbers_count == 0;
    if (last && atomic_load(&socket->state) == SDP_LISTENING)
        sdp_agree_listens_no_more(number);
    sdp_socket_release(socket);
}

int sdp_number_close(int number)
{
    if (sdp_table_kind(number) == SDP_NUMBER_OWN)
        return -EBADF;
    forget(number);
    return close(number) < 0 ? -errno : 0;
}

/* The new number refers to the same description. */
int sdp_number_dup(int number, int (*dup_call)(const void *how), const void *how)
{
    struct sdp_socket *socket = sdp_socket_hold(number);
    int made;

    if (!socket)
        return SDP_KERNEL;
    sdp_table_lock();
    made = dup_call(how);
    if (made >= 0 && !sdp_socket_add_number(socket, made)) {
        sdp_table_unlock();
        (void)close(made);
        made = -EMFILE;
    } else
        sdp_table_unlock();
    sdp_socket_release(socket);
    return made;
}

struct dup2_call {
    int from;
    int to;
    int flags;
};

static int dup3_it(const void *how)
{
    const struct dup2_call *call = how;
    int made = dup3(call->from, call->to, call->flags);

    return made < 0 ? -errno : made;
}

/* The call closes `to`, unless it belongs to this library. */
int sdp_number_dup2(int number, int to, int flags)
{
    struct dup2_call call = {number, to, flags};
    int made;

    if (number == to || to < 0 || fcntl(number, F_GETFD) < 0)
        return SDP_KERNEL;
    if (sdp_table_kind(number) == SDP_NUMBER_OWN)
        return -EBADF;
    if (sdp_table_kind(to) == SDP_NUMBER_OWN)
        return -EBUSY;
    /* stdio uses the kernel for these numbers by itself. */
    if (to <= STDERR_FILENO)
        (void)sdp_data_escapes(number);
    forget(to);
    made = sdp_number_dup(number, dup3_it, &call);
    return made == SDP_KERNEL ? dup3_it(&call) : made;
}

static int close_between(unsigned first, unsigned last, int flags)
{
    if (first > last)
        return 0;
    return close_range(first, last, flags) < 0 ? -errno : 0;
}

int sdp_number_close_range(unsigned first, unsigned last, int flags)
{
    unsigned from = first;
    int result = 0;

    if (first > last)
        return -EINVAL;
    for (int next = sdp_table_next(first, last); result == 0 && next >= 0;
         next = sdp_table_next((unsigned)next + 1, last)) {
        if (sdp_table_kind(next) == SDP_NUMBER_OWN) {
            result = (unsigned)next > from ? close_between(from, (unsigned)next - 1, flags) : 0;
            from = (unsigned)next + 1;
        } else if (!(flags & (int)CLOSE_RANGE_CLOEXEC))
            forget(next);
    }
    return result == 0 ? close_between(from, last, flags) : result;
}
