/* SPDX-License-Identifier: BSD-2-Clause */
#include "agree/sdp_agree_server.h"

#include "agree/sdp_agree_agent.h"
#include "agree/sdp_agree_proof.h"
#include "agree/sdp_agree_relay.h"

#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* A parent that has forked to serve a connection closes its own copy soon. */
#define ALONE_US     20000
#define ALONE_GAP_US 500

static bool may_convert(const struct sdp_agreement *agreement)
{
    return sdp_agree_alone(agreement) &&
           sdp_agree_may_convert(agreement->tuple.address[SDP_SERVER_END]);
}

/* ---- The promise ---------------------------------------------------------------------------- */

/* Binds the name by which clients can ask. Returns false if that fails. */
static bool open_channel(struct sdp_agreement *agreement)
{
    const int on = 1;
    struct sockaddr_un name;
    socklen_t length;
    int fd;

    if (!sdp_tuple_get(agreement->fd, SDP_SERVER_END, &agreement->tuple))
        return false;
    agreement->within_host = sdp_tuple_within_host(&agreement->tuple);
    if ((!agreement->within_host && !sdp_agree_key()) || !sdp_agent_start())
        return false;
    fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return false;
    length = sdp_holder_name(&agreement->tuple, &name);
    if (setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) != 0 ||
        bind(fd, (struct sockaddr *)&name, length) != 0) {
        (void)close(fd);
        return false;
    }
    agreement->channel = sdp_agree_keep(fd);
    return agreement->channel >= 0 && sdp_agent_watch(agreement);
}

static bool has_promised(const struct sdp_agreement *agreement, const uint8_t *nonce)
{
    for (int i = 0; i < agreement->promises; i++) {
        if (memcmp(agreement->promised_to[i], nonce, SDP_NONCE_OCTETS) == 0)
            return true;
    }
    return false;
}

/* Returns false if the question gets no answer. */
static bool promise(struct sdp_agreement *agreement, const uint8_t *nonce)
{
    if (agreement->state != SDP_SERVER_OPEN && agreement->state != SDP_SERVER_PROMISED)
        return false;
    if (has_promised(agreement, nonce))
        return true;
    if (agreement->promises == SDP_PROMISES_MAX ||
        sdp_stream_state(agreement->fd, &agreement->round_trip_us) != SDP_STREAM_VIRGIN ||
        !may_convert(agreement))
        return false;
    if (agreement->promises == 0 && (getrandom(agreement->own_nonce, SDP_NONCE_OCTETS, 0) < 0 ||
                                     !sdp_agent_watch_stream(agreement)))
        return false;
    memcpy(agreement->promised_to[agreement->promises++], nonce, SDP_NONCE_OCTETS);
    agreement->promised_us = sdp_agree_now_us();
    agreement->state = SDP_SERVER_PROMISED;
    return true;
}

void sdp_server_asked(struct sdp_agreement *agreement)
{
    struct sdp_question question;

    while (sdp_relay_receive(agreement->channel, &question)) {
        struct sdp_note *note = &question.note;

        if (note->type != SDP_NOTE_ASK || note->kind != sdp_agree_kind() ||
            question.within_host != agreement->within_host ||
            memcmp(&note->tuple, &agreement->tuple, sizeof(note->tuple)) != 0 ||
            !promise(agreement, note->client_nonce))
            continue;
        note->type = SDP_NOTE_YES;
        memcpy(note->server_nonce, agreement->own_nonce, SDP_NONCE_OCTETS);
        sdp_relay_answer(agreement->channel, &question, agreement->fd);
    }
}

/* ---- What comes ----------------------------------------------------------------------------- */

static bool is_beginning(const struct sdp_agreement *agreement, const uint8_t *octets)
{
    return has_promised(agreement, octets) &&
           memcmp(octets + SDP_NONCE_OCTETS, agreement->own_nonce, SDP_NONCE_OCTETS) == 0;
}

enum sdp_agree_verdict sdp_server_look(struct sdp_agreement *agreement)
{
    uint8_t octets[SDP_PREFACE_OCTETS];
    uint8_t refusal[SDP_NONCE_OCTETS];
    int found = sdp_agree_peek(agreement, octets);

    if (found == 0)
        return SDP_WAIT;
    if (found < 0 || !is_beginning(agreement, octets))
        return sdp_agree_decide(agreement, SDP_TCP);
    sdp_agree_take(agreement);
    if (!agreement->quiet)
        return sdp_agree_decide(agreement, SDP_TCP);
    if (agreement->state == SDP_SERVER_PROMISED && may_convert(agreement) &&
        sdp_agree_say(agreement, agreement->own_nonce, octets))
        return sdp_agree_decide(agreement, SDP_CONVERT);
    for (int i = 0; i < SDP_NONCE_OCTETS; i++)
        refusal[i] = octets[i] ^ 0xff;
    if (!sdp_agree_say(agreement, agreement->own_nonce, refusal))
        (void)shutdown(agreement->fd, SHUT_RDWR); /* or the client would wait for ever */
    return sdp_agree_decide(agreement, SDP_TCP);
}

void sdp_server_withdraw(struct sdp_agreement *agreement)
{
    if (agreement->state == SDP_SERVER_OPEN) {
        sdp_agent_forget(agreement);
        agreement->state = SDP_SERVER_FRESH;
    }
    if (agreement->state == SDP_SERVER_PROMISED)
        agreement->state = SDP_SERVER_SPOKEN;
}

/* ---- Steps ---------------------------------------------------------------------------------- */

static enum sdp_agree_verdict wait_for_octets(const struct sdp_agreement *agreement,
                                              int64_t timeout_us, struct sdp_agree_wait *wait)
{
    *wait = (struct sdp_agree_wait){.fd = {agreement->fd, -1}, .timeout_us = timeout_us};
    return SDP_WAIT;
}

static enum sdp_agree_verdict first_call(struct sdp_agreement *agreement,
                                         struct sdp_agree_wait *wait)
{
    const int64_t now = sdp_agree_now_us();

    if (sdp_stream_state(agreement->fd, &agreement->round_trip_us) != SDP_STREAM_VIRGIN)
        return sdp_agree_decide(agreement, SDP_TCP);
    if (agreement->first_call_us == 0)
        agreement->first_call_us = now;
    if (!sdp_agree_alone(agreement))
        return wait_for_octets(agreement,
                               now < agreement->first_call_us + ALONE_US ? ALONE_GAP_US : -1, wait);
    if (!open_channel(agreement))
        return sdp_agree_decide(agreement, SDP_TCP);
    agreement->state = SDP_SERVER_OPEN;
    return wait_for_octets(agreement, -1, wait);
}

/* Handles a write of the program while the client may still begin the exchange. */
static enum sdp_agree_verdict promised_write(struct sdp_agreement *agreement,
                                             struct sdp_agree_wait *wait)
{
    const int64_t left =
        agreement->promised_us + sdp_agree_reply_us(agreement) - sdp_agree_now_us();

    if (left <= 0) {
        agreement->state = SDP_SERVER_SPOKEN;
        agreement->quiet = false;
        return SDP_PASS;
    }
    (void)wait_for_octets(agreement, left, wait);
    wait->short_one = true;
    return SDP_WAIT;
}

enum sdp_agree_verdict sdp_server_step(struct sdp_agreement *agreement, enum sdp_agree_call call,
                                       struct sdp_agree_wait *wait)
{
    const bool writes = call == SDP_WRITES;
    enum sdp_agree_verdict verdict;

    if (writes && (agreement->state == SDP_SERVER_FRESH || agreement->state == SDP_SERVER_OPEN))
        return sdp_agree_decide(agreement, SDP_TCP);
    if (agreement->state == SDP_SERVER_FRESH)
        return first_call(agreement, wait);
    verdict = sdp_server_look(agreement);
    if (verdict != SDP_WAIT)
        return verdict;
    if (!writes)
        return wait_for_octets(agreement, -1, wait);
    if (agreement->state == SDP_SERVER_PROMISED)
        return promised_write(agreement, wait);
    agreement->quiet = false;
    return SDP_PASS;
}
