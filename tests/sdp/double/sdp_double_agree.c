/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Replaces policy/ and agree/: every TCP connection converts at its first data call, or none if
 * SDP_DOUBLE is "tcp". The peer need not know: see sdp_double_connection.c.
 */
#include "agree/sdp_agree.h"
#include "policy/sdp_policy.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- Rules ---------------------------------------------------------------------------------- */

static const struct sdp_policy_settings no_settings;

int sdp_policy_load(const char *path, struct sdp_policy **policy, char **complaint)
{
    (void)path;
    (void)complaint;
    *policy = (struct sdp_policy *)(uintptr_t)&no_settings;
    return 0;
}

void sdp_policy_free(struct sdp_policy *policy)
{
    (void)policy;
}

void sdp_policy_ask(const struct sdp_policy *policy, enum sdp_policy_role role, const char *program,
                    const struct sockaddr *address, struct sdp_policy_answer *answer)
{
    const char *mode = getenv("SDP_DOUBLE");

    (void)policy;
    (void)role;
    (void)program;
    (void)address;
    answer->sdp = !mode || strcmp(mode, "tcp") != 0;
}

const struct sdp_policy_settings *sdp_policy_settings(const struct sdp_policy *policy)
{
    (void)policy;
    return &no_settings;
}

const char *sdp_policy_program(void)
{
    return "double";
}

/* ---- Agreement ------------------------------------------------------------------------------ */

struct sdp_agreement {
    int fd;
    bool active;
    bool tcp;
};

static bool (*may_convert)(const uint8_t own[16]);

int sdp_agree_start(const struct sdp_agree_host *host, const struct sdp_agree_settings *settings)
{
    (void)settings;
    may_convert = host->may_convert;
    return 0;
}

static struct sdp_agreement *make(int fd, bool active)
{
    struct sdp_agreement *agreement = calloc(1, sizeof(*agreement));

    if (agreement)
        *agreement = (struct sdp_agreement){.fd = fd, .active = active};
    return agreement;
}

struct sdp_agreement *sdp_agree_connecting(int fd, const struct sockaddr *peer, socklen_t length)
{
    (void)peer;
    (void)length;
    return make(fd, true);
}

struct sdp_agreement *sdp_agree_accepted(int fd, void *context)
{
    (void)context;
    return make(fd, false);
}

void sdp_agree_listening(int fd)
{
    (void)fd;
}

void sdp_agree_listens_no_more(int fd)
{
    (void)fd;
}

void sdp_agree_free(struct sdp_agreement *agreement)
{
    free(agreement);
}

enum sdp_agree_verdict sdp_agree_step(struct sdp_agreement *agreement, enum sdp_agree_call call,
                                      struct sdp_agree_wait *wait)
{
    struct sockaddr_storage peer;
    socklen_t length = sizeof(peer);
    static const uint8_t nowhere[16];

    (void)call;
    *wait = (struct sdp_agree_wait){.fd = {-1, -1}, .timeout_us = -1};
    if (agreement->tcp)
        return SDP_TCP;
    if (getpeername(agreement->fd, (struct sockaddr *)&peer, &length) == 0)
        return may_convert(nowhere) ? SDP_CONVERT : SDP_TCP;
    return SDP_PASS;
}

enum sdp_agree_verdict sdp_agree_settle(struct sdp_agreement *agreement, enum sdp_agree_call call,
                                        struct sdp_agree_wait *wait)
{
    return sdp_agree_step(agreement, call, wait);
}

bool sdp_agree_active(const struct sdp_agreement *agreement)
{
    return agreement->active;
}

enum sdp_agree_verdict sdp_agree_abandon(struct sdp_agreement *agreement)
{
    agreement->tcp = true;
    return SDP_TCP;
}

void sdp_agree_before_fork(void)
{
}

void sdp_agree_after_fork_parent(void)
{
}

void sdp_agree_after_fork_child(void)
{
}
