/* SPDX-License-Identifier: BSD-2-Clause */
#include "socket/sdp_decide.h"

#include "policy/sdp_policy.h"
#include "socket/sdp_interest.h"
#include "socket/sdp_own.h"
#include "socket/sdp_region.h"
#include "socket/sdp_socket.h"
#include "socket/sdp_swap.h"
#include "socket/sdp_table.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct sdp_policy *policy;
static struct sdp_settings settings;

/*
 * ---- Becoming TCP or SDP ------------------------------------------------------------------------
 */

/* Called with `deciding`. The caller's reference keeps the memory. */
static void become_plain(struct sdp_socket *socket)
{
    unsigned numbers;

    sdp_table_lock();
    (void)pthread_mutex_lock(&socket->lock);
    sdp_socket_set_state(socket, SDP_PLAIN);
    sdp_interests_restore(socket);
    numbers = socket->numbers_count;
    for (unsigned i = 0; i < numbers; i++)
        (void)sdp_table_set(socket->numbers[i], SDP_NUMBER_FREE, NULL);
    socket->numbers_count = 0;
    (void)pthread_mutex_unlock(&socket->lock);
    sdp_table_unlock();
    (void)atomic_fetch_sub(&socket->references, numbers);
    sdp_kick();
}

static void free_agreement(struct sdp_socket *socket)
{
    if (socket->agreement)
        sdp_agree_free(socket->agreement);
    socket->agreement = NULL;
}

/* Called with `deciding`. */
static enum sdp_way become(struct sdp_socket *socket, bool converted)
{
    bool active = converted && sdp_agree_active(socket->agreement);

    converted = converted && sdp_swap(socket, active, &settings);
    free_agreement(socket);
    if (!converted) {
        become_plain(socket);
        return SDP_BY_KERNEL;
    }
    (void)pthread_mutex_lock(&socket->lock);
    sdp_socket_set_state(socket, SDP_CONVERTED);
    sdp_interests_restore(socket); /* those changed since the face took the numbers */
    (void)pthread_mutex_unlock(&socket->lock);
    sdp_kick();
    return SDP_BY_CONNECTION;
}

static enum sdp_way way_of(const struct sdp_socket *socket)
{
    enum sdp_state state = atomic_load(&socket->state);

    if (state == SDP_CONVERTED)
        return SDP_BY_CONNECTION;
    return state == SDP_UNDECIDED ? SDP_MUST_WAIT : SDP_BY_KERNEL;
}

/* Called with `deciding`, for an undecided socket. */
static enum sdp_way step(struct sdp_socket *socket, enum sdp_agree_call call,
                         struct sdp_agree_wait *wait)
{
    switch (sdp_agree_settle(socket->agreement, call, wait)) {
    case SDP_TCP:
        return become(socket, false);
    case SDP_CONVERT:
        return become(socket, true);
    case SDP_PASS:
        return SDP_BY_KERNEL;
    case SDP_WAIT:
        break;
    }
    return SDP_MUST_WAIT;
}

enum sdp_way sdp_decide_step(struct sdp_socket *socket, enum sdp_agree_call call,
                             struct sdp_agree_wait *wait)
{
    enum sdp_way way = way_of(socket);

    if (way != SDP_MUST_WAIT)
        return way;
    (void)pthread_mutex_lock(&socket->deciding);
    way = way_of(socket);
    if (way == SDP_MUST_WAIT)
        way = step(socket, call, wait);
    (void)pthread_mutex_unlock(&socket->deciding);
    return way;
}

bool sdp_decide_tcp(struct sdp_socket *socket)
{
    bool plain = true;

    (void)pthread_mutex_lock(&socket->deciding);
    if (atomic_load(&socket->state) == SDP_CONVERTED)
        plain = false;
    else if (atomic_load(&socket->state) == SDP_UNDECIDED) {
        bool agreed = socket->agreement && sdp_agree_abandon(socket->agreement) == SDP_CONVERT;

        plain = become(socket, agreed) == SDP_BY_KERNEL;
    }
    (void)pthread_mutex_unlock(&socket->deciding);
    return plain;
}

void sdp_decide_tell_writable(struct sdp_socket *socket)
{
    (void)pthread_mutex_lock(&socket->lock);
    if (atomic_load(&socket->state) == SDP_UNDECIDED)
        sdp_interests_tell_writable(socket);
    (void)pthread_mutex_unlock(&socket->lock);
}

/* ---- Data calls ----------------------------------------------------------------------------- */

/* Returns 0 to check again; -EAGAIN: the program's deadline is over. */
static int wait_once(const struct sdp_agree_wait *wait, const struct timespec *deadline)
{
    struct pollfd polls[3] = {{.fd = wait->fd[0], .events = POLLIN},
                              {.fd = wait->fd[1], .events = POLLIN},
                              {.fd = sdp_kick_fd(), .events = POLLIN}};
    struct timespec of_wait;
    struct timespec left;
    const struct timespec *until = sdp_deadline(&of_wait, wait->timeout_us);
    int result;

    if (deadline) {
        (void)sdp_time_left(&left, deadline);
        if (left.tv_sec == 0 && left.tv_nsec == 0)
            return -EAGAIN;
        if (!until || until->tv_sec > deadline->tv_sec ||
            (until->tv_sec == deadline->tv_sec && until->tv_nsec > deadline->tv_nsec))
            until = deadline;
    }
    result = sdp_sleep(polls, 3, until, NULL);
    return result < 0 ? result : 0;
}

int sdp_decide(struct sdp_socket *socket, enum sdp_agree_call call, bool block,
               const struct timespec *deadline)
{
    struct sdp_agree_wait wait;
    enum sdp_way way;
    int result = 0;

    if (atomic_load(&socket->state) == SDP_CONVERTED)
        return SDP_BY_CONNECTION;
    sdp_kick_begin();
    while ((way = sdp_decide_step(socket, call, &wait)) == SDP_MUST_WAIT && result == 0) {
        result = block ? wait_once(&wait, deadline) : -EAGAIN;
        sdp_kick_notice();
    }
    sdp_kick_end();
    return way == SDP_MUST_WAIT ? result : (int)way;
}

/*
 * ---- New connections
 * -----------------------------------------------------------------------------
 */

static bool may_be_sdp(enum sdp_policy_role role, const struct sockaddr *address, socklen_t length)
{
    struct sdp_policy_answer answer = {.sdp = false};

    if (policy && length >= sizeof(struct sockaddr_in) &&
        (address->sa_family == AF_INET || address->sa_family == AF_INET6))
        sdp_policy_ask(policy, role, sdp_policy_program(), address, &answer);
    return answer.sdp;
}

/* Called with `deciding`. */
static void ask(struct sdp_socket *socket, int number, const struct sockaddr *peer,
                socklen_t length)
{
    if (may_be_sdp(SDP_POLICY_CLIENT, peer, length) && sdp_own_room())
        socket->agreement = sdp_agree_connecting(number, peer, length);
    if (!socket->agreement) {
        become_plain(socket);
        return;
    }
    (void)pthread_mutex_lock(&socket->lock);
    sdp_socket_set_state(socket, SDP_UNDECIDED);
    sdp_interests_withdraw(socket);
    (void)pthread_mutex_unlock(&socket->lock);
    sdp_interests_wake(socket);
}

void sdp_decide_connecting(int number, const struct sockaddr *peer, socklen_t length)
{
    struct sdp_socket *socket = sdp_socket_hold(number);

    if (!socket)
        return;
    (void)pthread_mutex_lock(&socket->deciding);
    if (atomic_load(&socket->state) == SDP_FRESH)
        ask(socket, number, peer, length);
    (void)pthread_mutex_unlock(&socket->deciding);
    sdp_socket_release(socket);
}

void sdp_decide_connect_failed(int number)
{
    struct sdp_socket *socket = sdp_socket_hold(number);

    if (!socket)
        return;
    (void)pthread_mutex_lock(&socket->deciding);
    if (atomic_load(&socket->state) == SDP_UNDECIDED) {
        free_agreement(socket);
        (void)pthread_mutex_lock(&socket->lock);
        sdp_socket_set_state(socket, SDP_FRESH);
        sdp_interests_restore(socket);
        (void)pthread_mutex_unlock(&socket->lock);
    }
    (void)pthread_mutex_unlock(&socket->deciding);
    sdp_socket_release(socket);
}

/* Called with `deciding`. */
static void announce(struct sdp_socket *socket, int number)
{
    struct sockaddr_storage own;
    socklen_t length = sizeof(own);

    if (getsockname(number, (struct sockaddr *)&own, &length) < 0 ||
        !may_be_sdp(SDP_POLICY_SERVER, (struct sockaddr *)&own, length) || !sdp_own_room()) {
        become_plain(socket);
        return;
    }
    sdp_interface_prepare();
    sdp_socket_set_state(socket, SDP_LISTENING);
    sdp_agree_listening(number);
}

void sdp_decide_listening(int number)
{
    struct sdp_socket *socket = sdp_socket_hold(number);

    if (!socket)
        return;
    (void)pthread_mutex_lock(&socket->deciding);
    if (atomic_load(&socket->state) == SDP_FRESH)
        announce(socket, number);
    (void)pthread_mutex_unlock(&socket->deciding);
    sdp_socket_release(socket);
}

void sdp_decide_accepted(int listener, int number)
{
    struct sdp_socket *socket = sdp_socket_hold(listener);
    struct sdp_socket *accepted;
    bool known = socket && atomic_load(&socket->state) == SDP_LISTENING;

    if (socket)
        sdp_socket_release(socket);
    if (!known || !sdp_socket_new(number, SDP_FRESH, &accepted))
        return;
    accepted->agreement = sdp_agree_accepted(number, accepted);
    if (accepted->agreement)
        sdp_socket_set_state(accepted, SDP_UNDECIDED);
    else {
        (void)atomic_fetch_add(&accepted->references, 1);
        become_plain(accepted);
        sdp_socket_release(accepted);
    }
}

/*
 * ---- Functions for the floors below
 * --------------------------------------------------------------
 */

static void thread_begins(void)
{
    sdp_thread.ours = true;
}

static bool may_convert(const uint8_t own[16])
{
    return sdp_own_room() && sdp_interface_serves(own);
}

static void drop_descriptor(int fd)
{
    (void)close(fd);
}

/* Makes waiting threads check again. A thread that is in a step sees the decision anyway. */
static void decided(void *context, int verdict)
{
    struct sdp_socket *socket = context;

    (void)verdict;
    if (atomic_load(&socket->state) == SDP_UNDECIDED &&
        pthread_mutex_trylock(&socket->deciding) == 0) {
        struct sdp_agree_wait wait;

        if (way_of(socket) == SDP_MUST_WAIT && socket->agreement)
            (void)step(socket, SDP_POLLS, &wait);
        (void)pthread_mutex_unlock(&socket->deciding);
    }
    sdp_kick();
}

void sdp_decide_start(void)
{
    static const struct sdp_agree_host host = {.thread_begins = thread_begins,
                                               .keep_descriptor = sdp_own_keep,
                                               .drop_descriptor = drop_descriptor,
                                               .may_convert = may_convert,
                                               .kind = sdp_interface_kind,
                                               .decided = decided};
    struct sdp_agree_settings agree = {0};
    const struct sdp_policy_settings *said;
    char *complaint = NULL;

    if (sdp_policy_load(NULL, &policy, &complaint) < 0) {
        (void)dprintf(STDERR_FILENO, "libitsdp: %s: all sockets stay TCP\n",
                      complaint ? complaint : "the rules cannot be read");
        free(complaint);
        return;
    }
    said = sdp_policy_settings(policy);
    agree.key_file = said->key_file;
    agree.mapper_port = said->mapper_port;
    agree.patience_ms = said->patience_ms;
    agree.negative_s = said->negative_s;
    settings.crc_off = said->crc_off;
    settings.zcopy_from = said->zcopy_from;
    settings.zcopy_off = said->zcopy_set && said->zcopy_from == 0;
    sdp_use_interface(said->interface);
    if (sdp_agree_start(&host, &agree) < 0) {
        sdp_policy_free(policy);
        policy = NULL;
    }
}
