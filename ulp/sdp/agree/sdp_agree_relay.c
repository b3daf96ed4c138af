/* SPDX-License-Identifier: BSD-2-Clause */
#include "agree/sdp_agree_relay.h"

#include "agree/sdp_agree_attached.h"

#include <endian.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

/* A datagram between a mapper and a holder: the question or answer, and its addresses. */
struct relayed {
    uint8_t octets[SDP_NOTE_OCTETS];
    struct sockaddr_in6 client;
    struct in6_addr asked; /* the own address that the client has sent the question to */
};

struct sdp_relay sdp_relay = {.udp = -1, .answers = -1};

/* ---- Sockets -------------------------------------------------------------------------------- */

int sdp_relay_bind(const struct sockaddr *name, socklen_t length)
{
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd >= 0 && bind(fd, name, length) != 0) {
        (void)close(fd);
        fd = -1;
    }
    return fd < 0 ? -1 : sdp_agree_keep(fd);
}

/*
 * Binds the mapper's port, for both IP versions if possible. Returns -1 if others have it, or
 * without a key.
 */
static int mapper_socket(void)
{
    struct sockaddr_in6 any = {.sin6_family = AF_INET6,
                               .sin6_port = htobe16(sdp_agree_settings.mapper_port)};
    const int on = 1;
    const int off = 0;
    int fd;

    if (!sdp_agree_key())
        return -1;
    fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    if (setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off)) == 0 &&
        setsockopt(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, &on, sizeof(on)) == 0 &&
        setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on)) == 0 &&
        bind(fd, (struct sockaddr *)&any, sizeof(any)) == 0)
        return sdp_agree_keep(fd);
    (void)close(fd);
    return -1;
}

bool sdp_relay_open(void)
{
    const struct sockaddr own = {.sa_family = AF_UNIX};

    if (sdp_relay.answers < 0)
        sdp_relay.answers = sdp_relay_bind(&own, sizeof(own.sa_family));
    return sdp_relay.answers >= 0;
}

bool sdp_relay_try_mapper(void)
{
    if (sdp_relay.udp >= 0)
        return false;
    sdp_relay.udp = mapper_socket();
    return sdp_relay.udp >= 0;
}

/* ---- Mapper --------------------------------------------------------------------------------- */

union control {
    struct cmsghdr align;
    uint8_t room[CMSG_SPACE(sizeof(struct in6_pktinfo))];
};

static void send_to_client(const struct relayed *relayed)
{
    union control control = {.room = {0}};
    struct iovec part = {(void *)relayed->octets, SDP_NOTE_OCTETS};
    struct in6_pktinfo from = {.ipi6_addr = relayed->asked};
    struct msghdr message = {.msg_name = (void *)&relayed->client,
                             .msg_namelen = sizeof(relayed->client),
                             .msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.room,
                             .msg_controllen = sizeof(control.room)};

    control.align.cmsg_level = IPPROTO_IPV6;
    control.align.cmsg_type = IPV6_PKTINFO;
    control.align.cmsg_len = CMSG_LEN(sizeof(from));
    memcpy(CMSG_DATA(&control.align), &from, sizeof(from));
    (void)sendmsg(sdp_relay.udp, &message, MSG_NOSIGNAL);
}

/* Passes the question on if the client's address is the tuple's, so that no NAT lies between. */
static void hand_on(const struct relayed *relayed, const struct sdp_note *note)
{
    struct sockaddr_un name;
    socklen_t length = sdp_holder_name(&note->tuple, &name);

    if (memcmp(&relayed->client.sin6_addr, note->tuple.address[SDP_CLIENT_END], 16) == 0)
        (void)sendto(sdp_relay.answers, relayed, sizeof(*relayed), MSG_NOSIGNAL,
                     (struct sockaddr *)&name, length);
}

static void say_whether_listening(struct relayed *relayed, struct sdp_note *note)
{
    note->type =
        sdp_presence_is_there(note->tuple.port[SDP_SERVER_END]) ? SDP_NOTE_PERHAPS : SDP_NOTE_NO;
    sdp_note_put(note, NULL, relayed->octets);
    send_to_client(relayed);
}

bool sdp_relay_client(void)
{
    struct relayed relayed;
    union control control;
    struct iovec part = {relayed.octets, sizeof(relayed.octets)};
    struct msghdr message = {.msg_name = &relayed.client,
                             .msg_namelen = sizeof(relayed.client),
                             .msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.room,
                             .msg_controllen = sizeof(control.room)};
    struct in6_pktinfo to;
    struct sdp_note note;
    struct cmsghdr *head;
    ssize_t length;

    memset(&relayed, 0, sizeof(relayed));
    length = recvmsg(sdp_relay.udp, &message, 0);
    if (length < 0)
        return errno == EINTR;
    head = CMSG_FIRSTHDR(&message);
    if (message.msg_flags & MSG_TRUNC || !sdp_note_get(relayed.octets, (size_t)length, &note) ||
        !head || head->cmsg_level != IPPROTO_IPV6 || head->cmsg_type != IPV6_PKTINFO)
        return true;
    memcpy(&to, CMSG_DATA(head), sizeof(to));
    relayed.asked = to.ipi6_addr;
    if (note.type == SDP_NOTE_ASK)
        hand_on(&relayed, &note);
    if (note.type == SDP_NOTE_LISTENS)
        say_whether_listening(&relayed, &note);
    return true;
}

bool sdp_relay_holder(void)
{
    struct relayed relayed;
    struct iovec part = {&relayed, sizeof(relayed)};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    struct sdp_attached attached;
    ssize_t length = sdp_attached_receive(sdp_relay.answers, &message, &attached);
    struct sdp_note note;

    if (length < 0)
        return errno == EINTR;
    sdp_attached_drop(&attached);
    if (length == sizeof(relayed) && !(message.msg_flags & MSG_TRUNC) &&
        sdp_note_get(relayed.octets, SDP_NOTE_OCTETS, &note) && note.type == SDP_NOTE_YES)
        send_to_client(&relayed);
    return true;
}

/* ---- Questions to holders ------------------------------------------------------------------- */

_Static_assert(sizeof(struct relayed) - SDP_NOTE_OCTETS <=
                   sizeof(((struct sdp_question *)0)->way_back),
               "the way back fits");

/* Returns 1 for a valid question, 0 for an invalid one, -1 if there is none. */
static int receive(int channel, struct sdp_question *question)
{
    struct relayed relayed;
    struct iovec part = {&relayed, sizeof(relayed)};
    struct msghdr message = {.msg_name = &question->from,
                             .msg_namelen = sizeof(question->from),
                             .msg_iov = &part,
                             .msg_iovlen = 1};
    struct sdp_attached attached;
    ssize_t length = sdp_attached_receive(channel, &message, &attached);

    if (length < 0)
        return -1;
    sdp_attached_drop(&attached);
    if (message.msg_flags & MSG_TRUNC || !attached.has_user || length < SDP_NOTE_OCTETS ||
        !sdp_note_get(relayed.octets, SDP_NOTE_OCTETS, &question->note))
        return 0;
    question->user = attached.user;
    question->from_length = message.msg_namelen;
    question->within_host = length == SDP_NOTE_OCTETS;
    if (question->within_host)
        return 1;
    memcpy(question->way_back, (uint8_t *)&relayed + SDP_NOTE_OCTETS,
           sizeof(relayed) - SDP_NOTE_OCTETS);
    return length == sizeof(relayed) && sdp_agree_key() &&
           sdp_note_tagged(relayed.octets, sdp_agree_key());
}

bool sdp_relay_receive(int channel, struct sdp_question *question)
{
    int found;

    do
        found = receive(channel, question);
    while (found == 0);
    return found > 0;
}

void sdp_relay_answer(int channel, const struct sdp_question *question, int accepted)
{
    union {
        struct cmsghdr align;
        uint8_t room[CMSG_SPACE(sizeof(int))];
    } control = {.room = {0}};
    struct relayed relayed;
    struct iovec part = {&relayed, SDP_NOTE_OCTETS};
    struct msghdr message = {.msg_name = (void *)&question->from,
                             .msg_namelen = question->from_length,
                             .msg_iov = &part,
                             .msg_iovlen = 1};

    sdp_note_put(&question->note, question->within_host ? NULL : sdp_agree_key(), relayed.octets);
    if (!question->within_host) {
        memcpy((uint8_t *)&relayed + SDP_NOTE_OCTETS, question->way_back,
               sizeof(relayed) - SDP_NOTE_OCTETS);
        part.iov_len = sizeof(relayed);
    } else if (question->user == 0 || question->user == getuid()) {
        control.align.cmsg_level = SOL_SOCKET;
        control.align.cmsg_type = SCM_RIGHTS;
        control.align.cmsg_len = CMSG_LEN(sizeof(accepted));
        memcpy(CMSG_DATA(&control.align), &accepted, sizeof(accepted));
        message.msg_control = control.room;
        message.msg_controllen = sizeof(control.room);
    }
    (void)sendmsg(channel, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}
