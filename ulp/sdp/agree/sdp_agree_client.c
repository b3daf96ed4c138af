/* SPDX-License-Identifier: BSD-2-Clause */
#include "agree/sdp_agree_client.h"

#include "agree/sdp_agree_attached.h"
#include "agree/sdp_agree_agent.h"
#include "agree/sdp_agree_negative.h"
#include "agree/sdp_agree_proof.h"

#include <endian.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

#define FIRST_GAP_US 100
#define LAST_GAP_US  4000
#define UNKNOWN_US   1000
#define ANSWERS_MAX  16 /* at a time, because any process may send to this socket */
/* A call that does not block waits this long for the answer of a server that has promised. */
#define BEGUN_US 1000000

/* ---- Presence ------------------------------------------------------------------------------- */

/*
 * Opens a socket for questions within this host; returns -1 if no process with this library listens
 * on the port.
 */
static int open_within_host(uint16_t port)
{
    static const struct sockaddr nobody = {.sa_family = AF_UNSPEC};
    const struct sockaddr own = {.sa_family = AF_UNIX};
    const int on = 1;
    struct sockaddr_un name;
    socklen_t length = sdp_presence_name(port, &name);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return -1;
    if (connect(fd, (struct sockaddr *)&name, length) == 0 &&
        connect(fd, &nobody, sizeof(nobody)) == 0 &&
        setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) == 0 &&
        bind(fd, &own, sizeof(own.sa_family)) == 0)
        return fd;
    (void)close(fd);
    return -1;
}

/* Opens a UDP socket to the mapper of the peer's host; *within_host: it is this host. */
static int open_to_mapper(const struct sockaddr *peer, socklen_t length, bool *within_host)
{
    const uint16_t mapper = htobe16(sdp_agree_settings.mapper_port);
    struct sockaddr_storage to = {0};
    struct sockaddr_storage from;
    socklen_t from_length = sizeof(from);
    uint8_t address[2][16];
    uint16_t port;
    int fd = socket(peer->sa_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return -1;
    memcpy(&to, peer, length);
    if (peer->sa_family == AF_INET)
        ((struct sockaddr_in *)&to)->sin_port = mapper;
    else
        ((struct sockaddr_in6 *)&to)->sin6_port = mapper;
    if (connect(fd, (struct sockaddr *)&to, length) == 0 &&
        getsockname(fd, (struct sockaddr *)&from, &from_length) == 0 &&
        sdp_address_get((struct sockaddr *)&to, address[0], &port) &&
        sdp_address_get((struct sockaddr *)&from, address[1], &port)) {
        *within_host = memcmp(address[0], address[1], sizeof(address[0])) == 0;
        return fd;
    }
    (void)close(fd);
    return -1;
}

static bool send_note(struct sdp_agreement *agreement, enum sdp_note_type type)
{
    struct sdp_note note = {.type = type, .tuple = agreement->tuple};
    uint8_t octets[SDP_NOTE_OCTETS];
    struct sockaddr_un name;
    socklen_t length = 0;

    memcpy(note.client_nonce, agreement->nonce, SDP_NONCE_OCTETS);
    if (type == SDP_NOTE_ASK)
        note.kind = sdp_agree_kind();
    sdp_note_put(&note, agreement->within_host ? NULL : sdp_agree_key(), octets);
    if (agreement->within_host)
        length = sdp_holder_name(&agreement->tuple, &name);
    return sendto(agreement->channel, octets, sizeof(octets), MSG_NOSIGNAL,
                  length ? (struct sockaddr *)&name : NULL, length) == sizeof(octets);
}

bool sdp_client_connecting(struct sdp_agreement *agreement, const struct sockaddr *peer,
                           socklen_t length)
{
    int fd = -1;

    if (length > sizeof(struct sockaddr_storage) ||
        !sdp_address_get(peer, agreement->peer, &agreement->peer_port) ||
        sdp_negative_has(agreement->peer, agreement->peer_port, agreement->connect_us))
        return false;
    agreement->within_host = sdp_address_local(agreement->peer);
    if (!agreement->within_host)
        fd = open_to_mapper(peer, length, &agreement->within_host);
    if (fd >= 0 && (agreement->within_host || !sdp_agree_key())) {
        (void)close(fd);
        fd = -1;
    }
    if (agreement->within_host)
        fd = open_within_host(agreement->peer_port);
    if (fd >= 0)
        fd = sdp_agree_keep(fd);
    agreement->channel = fd;
    if (fd < 0)
        return false;
    agreement->perhaps = agreement->within_host;
    memcpy(agreement->tuple.address[SDP_SERVER_END], agreement->peer, 16);
    agreement->tuple.port[SDP_SERVER_END] = agreement->peer_port;
    if (!agreement->within_host)
        (void)send_note(agreement, SDP_NOTE_LISTENS);
    return true;
}

/* ---- Answers -------------------------------------------------------------------------------- */

struct answer {
    uint8_t octets[SDP_NOTE_OCTETS + 1];
    ssize_t length;
    struct sdp_attached attached;
};

/* Returns false with errno if there is no answer. */
static bool receive_answer(int channel, struct answer *answer)
{
    struct iovec part = {answer->octets, sizeof(answer->octets)};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

    answer->length = sdp_attached_receive(channel, &message, &answer->attached);
    return answer->length >= 0;
}

/* Returns true if the answer is proven: README.md, "Why it is safe". */
static bool proven(const struct sdp_agreement *agreement, const struct answer *answer)
{
    uint32_t owner;

    if (!agreement->within_host)
        return sdp_note_tagged(answer->octets, sdp_agree_key());
    if (answer->attached.fd >= 0)
        return sdp_is_other_end(answer->attached.fd, agreement->fd, &agreement->tuple);
    return answer->attached.has_user && answer->attached.user != getuid() &&
           sdp_other_end_owner(&agreement->tuple, &owner) && owner == answer->attached.user;
}

static void remember_stranger(const struct sdp_agreement *agreement, uint16_t port)
{
    sdp_negative_add(agreement->peer, port,
                     sdp_agree_now_us() + (int64_t)sdp_agree_settings.negative_s * 1000000);
}

/* The server has promised: sends the preface. */
static enum sdp_agree_verdict begin(struct sdp_agreement *agreement)
{
    if (sdp_stream_state(agreement->fd, &agreement->round_trip_us) != SDP_STREAM_VIRGIN ||
        !sdp_agree_alone(agreement) ||
        !sdp_agree_may_convert(agreement->tuple.address[SDP_CLIENT_END]) ||
        !sdp_agree_say(agreement, agreement->nonce, agreement->server_nonce))
        return sdp_agree_decide(agreement, SDP_TCP);
    agreement->state = SDP_CLIENT_BEGUN;
    agreement->begun_us = sdp_agree_now_us();
    return SDP_WAIT;
}

/* Handles an answer. Returns SDP_WAIT if it is not for this client, or not sufficient. */
static enum sdp_agree_verdict hear(struct sdp_agreement *agreement, const struct answer *answer)
{
    struct sdp_note note;

    if (answer->length < 0 || !sdp_note_get(answer->octets, (size_t)answer->length, &note) ||
        memcmp(note.client_nonce, agreement->nonce, SDP_NONCE_OCTETS) != 0)
        return SDP_WAIT;
    if (note.type == SDP_NOTE_NO) {
        remember_stranger(agreement, agreement->peer_port);
        return sdp_agree_decide(agreement, SDP_TCP);
    }
    if (note.type == SDP_NOTE_PERHAPS)
        agreement->perhaps = true;
    if (note.type != SDP_NOTE_YES || agreement->state != SDP_CLIENT_ASKING ||
        memcmp(&note.tuple, &agreement->tuple, sizeof(note.tuple)) != 0 ||
        !proven(agreement, answer))
        return SDP_WAIT;
    memcpy(agreement->server_nonce, note.server_nonce, SDP_NONCE_OCTETS);
    return begin(agreement);
}

static enum sdp_agree_verdict hear_all(struct sdp_agreement *agreement)
{
    enum sdp_agree_verdict verdict = SDP_WAIT;
    struct answer answer;

    for (int i = 0; i < ANSWERS_MAX && verdict == SDP_WAIT; i++) {
        if (!receive_answer(agreement->channel, &answer)) {
            if (errno != ECONNREFUSED || agreement->within_host)
                return SDP_WAIT;
            remember_stranger(agreement, 0);
            return sdp_agree_decide(agreement, SDP_TCP);
        }
        verdict = hear(agreement, &answer);
        sdp_attached_drop(&answer.attached);
        if (agreement->state == SDP_CLIENT_BEGUN)
            break;
    }
    return verdict;
}

/* ---- Steps ---------------------------------------------------------------------------------- */

/* Called at the first data call on the connected socket. Returns false for TCP. */
static bool start_asking(struct sdp_agreement *agreement)
{
    if (!sdp_agree_alone(agreement) ||
        !sdp_tuple_get(agreement->fd, SDP_CLIENT_END, &agreement->tuple) ||
        !sdp_agree_may_convert(
            agreement->tuple.address[SDP_CLIENT_END])) /* may block for some time */
        return false;
    agreement->first_call_us = sdp_agree_now_us();
    agreement->ask_us = agreement->first_call_us;
    agreement->ask_gap_us = FIRST_GAP_US;
    agreement->state = SDP_CLIENT_ASKING;
    return true;
}

/*
 * Returns the time to give up: at the second round trip after the SYN, or later if step 1 said
 * "perhaps".
 */
static int64_t deadline_us(const struct sdp_agreement *agreement)
{
    const int64_t trip = agreement->round_trip_us;

    if (agreement->perhaps)
        return agreement->first_call_us + sdp_agree_reply_us(agreement);
    return agreement->connect_us + trip + (trip > UNKNOWN_US ? trip : UNKNOWN_US);
}

static enum sdp_agree_verdict ask(struct sdp_agreement *agreement, struct sdp_agree_wait *wait)
{
    const int64_t now = sdp_agree_now_us();
    const int64_t deadline = deadline_us(agreement);
    int64_t until;

    if (now >= deadline) {
        if (!agreement->perhaps)
            remember_stranger(agreement, 0);
        return sdp_agree_decide(agreement, SDP_TCP);
    }
    if (now >= agreement->ask_us) {
        (void)send_note(agreement, SDP_NOTE_ASK);
        agreement->ask_us = now + agreement->ask_gap_us;
        if (agreement->ask_gap_us < LAST_GAP_US)
            agreement->ask_gap_us *= 2;
    }
    until = agreement->ask_us < deadline ? agreement->ask_us : deadline;
    *wait = (struct sdp_agree_wait){
        .fd = {agreement->channel, agreement->fd}, .timeout_us = until - now, .short_one = true};
    return SDP_WAIT;
}

static enum sdp_agree_verdict await_beginning(struct sdp_agreement *agreement,
                                              struct sdp_agree_wait *wait)
{
    const int64_t left = agreement->begun_us + BEGUN_US - sdp_agree_now_us();
    uint8_t octets[SDP_PREFACE_OCTETS];
    int found = sdp_agree_peek(agreement, octets);
    bool ours;

    if (found == 0) {
        *wait = (struct sdp_agree_wait){
            .fd = {agreement->fd, -1}, .timeout_us = left > 0 ? left : -1, .short_one = left > 0};
        return SDP_WAIT;
    }
    ours = found > 0 && memcmp(octets, agreement->server_nonce, SDP_NONCE_OCTETS) == 0;
    if (ours && memcmp(octets + SDP_NONCE_OCTETS, agreement->nonce, SDP_NONCE_OCTETS) == 0) {
        sdp_agree_take(agreement);
        return sdp_agree_decide(agreement, SDP_CONVERT);
    }
    for (int i = 0; i < SDP_NONCE_OCTETS; i++)
        octets[SDP_NONCE_OCTETS + i] ^= 0xff;
    if (ours && memcmp(octets + SDP_NONCE_OCTETS, agreement->nonce, SDP_NONCE_OCTETS) == 0)
        sdp_agree_take(agreement);
    return sdp_agree_decide(agreement, SDP_TCP);
}

enum sdp_agree_verdict sdp_client_step(struct sdp_agreement *agreement, struct sdp_agree_wait *wait)
{
    enum sdp_agree_verdict verdict;
    enum sdp_stream_state stream;

    if (agreement->state == SDP_CLIENT_BEGUN)
        return await_beginning(agreement, wait);
    stream = sdp_stream_state(agreement->fd, &agreement->round_trip_us);
    if (stream == SDP_STREAM_OPENING)
        return SDP_PASS;
    if (stream == SDP_STREAM_USED ||
        (agreement->state == SDP_CLIENT_NEW && !start_asking(agreement)))
        return sdp_agree_decide(agreement, SDP_TCP);
    verdict = hear_all(agreement);
    if (verdict != SDP_WAIT)
        return verdict;
    return agreement->state == SDP_CLIENT_BEGUN ? await_beginning(agreement, wait)
                                                : ask(agreement, wait);
}
