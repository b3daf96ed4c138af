/* SPDX-License-Identifier: BSD-2-Clause */
#include "agree/sdp_agree.h"

#include "agree/sdp_agree_agent.h"
#include "agree/sdp_agree_client.h"
#include "agree/sdp_agree_negative.h"
#include "agree/sdp_agree_server.h"
#include "agree/sdp_agree_share.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* A server that has got the preface answers at once; one whose host is gone does not. */
#define FORK_US 5000000

static struct sdp_agreement *all;

/* ---- Start ---------------------------------------------------------------------------------- */

int sdp_agree_start(const struct sdp_agree_host *host, const struct sdp_agree_settings *settings)
{
    if (!sdp_share_start())
        return -ENOMEM;
    sdp_agree_host = *host;
    sdp_agent_handlers.asked = sdp_server_asked;
    sdp_agent_handlers.look = sdp_server_look;
    sdp_agree_settings = *settings;
    if (sdp_agree_settings.mapper_port == 0)
        sdp_agree_settings.mapper_port = SDP_MAPPER_PORT;
    if (sdp_agree_settings.patience_ms == 0)
        sdp_agree_settings.patience_ms = SDP_PATIENCE_MS;
    if (sdp_agree_settings.negative_s == 0)
        sdp_agree_settings.negative_s = SDP_NEGATIVE_S;
    sdp_negative_clear();
    return settings->key_file && !sdp_agree_read_key(settings->key_file) ? -EINVAL : 0;
}

/* ---- Objects -------------------------------------------------------------------------------- */

static struct sdp_agreement *new_agreement(int fd, enum sdp_agree_state state)
{
    struct sdp_agreement *agreement = calloc(1, sizeof(*agreement));

    if (!agreement)
        return NULL;
    agreement->state = state;
    agreement->active = state == SDP_CLIENT_NEW;
    agreement->fd = fd;
    agreement->channel = -1;
    agreement->place = -1;
    agreement->share = SDP_SHARE_NONE;
    agreement->quiet = true;
    return agreement;
}

static void add(struct sdp_agreement *agreement)
{
    agreement->next = all;
    if (all)
        all->before = agreement;
    all = agreement;
}

struct sdp_agreement *sdp_agree_connecting(int fd, const struct sockaddr *peer, socklen_t length)
{
    struct sdp_agreement *agreement = new_agreement(fd, SDP_CLIENT_NEW);

    if (!agreement)
        return NULL;
    agreement->connect_us = sdp_agree_now_us();
    (void)pthread_mutex_lock(&sdp_agree_lock);
    if (getrandom(agreement->nonce, SDP_NONCE_OCTETS, 0) == SDP_NONCE_OCTETS &&
        sdp_client_connecting(agreement, peer, length)) {
        add(agreement);
    } else {
        free(agreement);
        agreement = NULL;
    }
    (void)pthread_mutex_unlock(&sdp_agree_lock);
    return agreement;
}

struct sdp_agreement *sdp_agree_accepted(int fd, void *context)
{
    struct sdp_agreement *agreement = new_agreement(fd, SDP_SERVER_FRESH);

    if (!agreement)
        return NULL;
    agreement->context = context;
    (void)pthread_mutex_lock(&sdp_agree_lock);
    add(agreement);
    (void)pthread_mutex_unlock(&sdp_agree_lock);
    return agreement;
}

static uint16_t own_port(int fd)
{
    struct sockaddr_storage address;
    socklen_t length = sizeof(address);
    uint8_t octets[16];
    uint16_t port = 0;

    if (getsockname(fd, (struct sockaddr *)&address, &length) != 0 ||
        !sdp_address_get((struct sockaddr *)&address, octets, &port))
        return 0;
    return port;
}

void sdp_agree_listening(int fd)
{
    const uint16_t port = own_port(fd);
    int deferred = 0;
    socklen_t length = sizeof(deferred);

    /*
     * With TCP_DEFER_ACCEPT a connection is accepted only after the client's first octets: too late
     * to agree.
     */
    (void)getsockopt(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, &deferred, &length);
    if (port == 0 || deferred != 0)
        return;
    (void)pthread_mutex_lock(&sdp_agree_lock);
    sdp_agent_announce(port);
    (void)pthread_mutex_unlock(&sdp_agree_lock);
}

void sdp_agree_listens_no_more(int fd)
{
    const uint16_t port = own_port(fd);

    (void)pthread_mutex_lock(&sdp_agree_lock);
    sdp_agent_revoke(port);
    (void)pthread_mutex_unlock(&sdp_agree_lock);
}

void sdp_agree_free(struct sdp_agreement *agreement)
{
    (void)pthread_mutex_lock(&sdp_agree_lock);
    sdp_agent_forget(agreement);
    sdp_share_leave(agreement->share);
    if (agreement->before)
        agreement->before->next = agreement->next;
    else
        all = agreement->next;
    if (agreement->next)
        agreement->next->before = agreement->before;
    (void)pthread_mutex_unlock(&sdp_agree_lock);
    free(agreement);
}

bool sdp_agree_active(const struct sdp_agreement *agreement)
{
    return agreement->active;
}

/* ---- Steps ---------------------------------------------------------------------------------- */

static enum sdp_agree_verdict step(struct sdp_agreement *agreement, enum sdp_agree_call call,
                                   struct sdp_agree_wait *wait)
{
    if (agreement->state == SDP_DECIDED_TCP)
        return SDP_TCP;
    if (agreement->state == SDP_DECIDED_CONVERT)
        return SDP_CONVERT;
    return agreement->active ? sdp_client_step(agreement, wait)
                             : sdp_server_step(agreement, call, wait);
}

enum sdp_agree_verdict sdp_agree_step(struct sdp_agreement *agreement, enum sdp_agree_call call,
                                      struct sdp_agree_wait *wait)
{
    const int error = errno;
    enum sdp_agree_verdict verdict;

    (void)pthread_mutex_lock(&sdp_agree_lock);
    verdict = step(agreement, call, wait);
    (void)pthread_mutex_unlock(&sdp_agree_lock);
    errno = error;
    return verdict;
}

static void wait_as_told(const struct sdp_agree_wait *wait)
{
    struct pollfd fds[2] = {{.fd = wait->fd[0], .events = POLLIN},
                            {.fd = wait->fd[1], .events = POLLIN}};
    const struct timespec limit = {.tv_sec = wait->timeout_us / 1000000,
                                   .tv_nsec = wait->timeout_us % 1000000 * 1000};

    (void)ppoll(fds, 2, wait->timeout_us < 0 ? NULL : &limit, NULL);
}

enum sdp_agree_verdict sdp_agree_settle(struct sdp_agreement *agreement, enum sdp_agree_call call,
                                        struct sdp_agree_wait *wait)
{
    const int error = errno;
    enum sdp_agree_verdict verdict;

    while ((verdict = sdp_agree_step(agreement, call, wait)) == SDP_WAIT && wait->short_one)
        wait_as_told(wait);
    errno = error;
    return verdict;
}

/*
 * Returns true if every query and promise is settled; otherwise *wait has the events to wait for.
 */
static bool settled(struct sdp_agreement *agreement, struct sdp_agree_wait *wait)
{
    const int64_t now = sdp_agree_now_us();
    const bool begun = agreement->state == SDP_CLIENT_BEGUN;
    int64_t until = agreement->begun_us + FORK_US;

    if (agreement->state == SDP_CLIENT_ASKING)
        (void)sdp_agree_decide(agreement, SDP_TCP);
    if (!begun && agreement->state != SDP_SERVER_PROMISED)
        return true;
    if ((begun ? sdp_client_step(agreement, wait) : sdp_server_look(agreement)) != SDP_WAIT)
        return true;
    if (!begun)
        until = agreement->promised_us + sdp_agree_reply_us(agreement);
    *wait = (struct sdp_agree_wait){.fd = {agreement->fd, -1}, .timeout_us = until - now};
    if (until > now)
        return false;
    if (begun) { /* neither SDP nor TCP is certain now */
        (void)shutdown(agreement->fd, SHUT_RDWR);
        (void)sdp_agree_decide(agreement, SDP_TCP);
    }
    return true;
}

static void wait_unlocked(const struct sdp_agree_wait *wait)
{
    (void)pthread_mutex_unlock(&sdp_agree_lock);
    wait_as_told(wait);
    (void)pthread_mutex_lock(&sdp_agree_lock);
}

enum sdp_agree_verdict sdp_agree_abandon(struct sdp_agreement *agreement)
{
    const int error = errno;
    enum sdp_agree_verdict verdict;
    struct sdp_agree_wait wait;

    (void)pthread_mutex_lock(&sdp_agree_lock);
    while (!settled(agreement, &wait))
        wait_unlocked(&wait);
    verdict = agreement->state == SDP_DECIDED_CONVERT ? SDP_CONVERT : SDP_TCP;
    if (verdict == SDP_TCP)
        (void)sdp_agree_decide(agreement, SDP_TCP);
    (void)pthread_mutex_unlock(&sdp_agree_lock);
    errno = error;
    return verdict;
}

/* ---- Processes ------------------------------------------------------------------------------ */

/*
 * Returns false if some agreement is not settled. While the lock is released, others may be freed.
 */
static bool all_settled(struct sdp_agree_wait *wait)
{
    for (struct sdp_agreement *one = all; one; one = one->next) {
        if (!settled(one, wait))
            return false;
    }
    return true;
}

static void before_fork(struct sdp_agreement *agreement)
{
    if (agreement->state == SDP_DECIDED_TCP || agreement->state == SDP_DECIDED_CONVERT)
        return;
    if (!agreement->active)
        sdp_server_withdraw(agreement);
    if (!sdp_share_fork(&agreement->share))
        (void)sdp_agree_decide(agreement, SDP_TCP);
}

void sdp_agree_before_fork(void)
{
    struct sdp_agree_wait wait;

    (void)pthread_mutex_lock(&sdp_agree_lock);
    do {
        sdp_agent_before_fork();
        if (all_settled(&wait))
            break;
        wait_unlocked(&wait);
    } while (true);
    for (struct sdp_agreement *one = all; one; one = one->next)
        before_fork(one);
}

void sdp_agree_after_fork_parent(void)
{
    (void)pthread_mutex_unlock(&sdp_agree_lock);
}

void sdp_agree_after_fork_child(void)
{
    sdp_agent_after_fork_child();
    (void)pthread_mutex_init(&sdp_agree_lock, NULL);
}

/* A process that exits normally leaves the counters of all its sockets. */
__attribute__((destructor)) static void leave_all(void)
{
    if (pthread_mutex_trylock(&sdp_agree_lock) != 0)
        return;
    for (struct sdp_agreement *one = all; one; one = one->next) {
        sdp_share_leave(one->share);
        one->share = SDP_SHARE_NONE;
    }
    (void)pthread_mutex_unlock(&sdp_agree_lock);
}
