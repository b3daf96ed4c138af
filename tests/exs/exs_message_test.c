/* SPDX-License-Identifier: BSD-2-Clause */
/* exs_sendmsg and exs_recvmsg: several pieces of memory, with both types of socket. */
#include "exs_kit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TOTAL  (200 * 1024)
#define PIECES 37

static char *sent;
static char *got;
static exs_mhandle_t sent_handle;
static exs_mhandle_t got_handle;

/*
 * Cuts memory into pieces of unequal lengths, some empty, every third registered. Returns their
 * total.
 */
static size_t cut(exs_iovec_t *pieces, size_t count, char *memory, size_t total,
                  exs_mhandle_t mhandle)
{
    size_t at = 0;

    for (size_t i = 0; i < count; i++) {
        size_t length = i + 1 == count ? total - at : (i * 2654435761U) % (2 * total / count);

        if (i % 7 == 3 && i + 1 < count)
            length = 0;
        if (length > total - at)
            length = total - at;
        pieces[i] = (exs_iovec_t){memory + at, length, i % 3 ? EXS_MHANDLE_UNREGISTERED : mhandle};
        at += length;
    }
    return at;
}

static exs_msghdr_t send_message(int fd, exs_qhandle_t queue, size_t total, exs_iovec_t *pieces)
{
    exs_msghdr_t message = {.exs_msg_iov = pieces, .exs_msg_iovlen = PIECES};

    CHECK_EQ(total, cut(pieces, PIECES, sent, total, sent_handle));
    CHECK_STARTS(exs_sendmsg(fd, &message, 0, queue, &message));
    return message;
}

static void check_scattered(const exs_iovec_t *pieces, size_t count, size_t length)
{
    size_t at = 0;

    for (size_t i = 0; i < count && at < length; i++) {
        size_t part = pieces[i].exs_iov_len < length - at ? pieces[i].exs_iov_len : length - at;

        exs_kit_compare(pieces[i].exs_iov_base, part, at);
        at += part;
    }
}

/* Sends one message. room < total truncates a packet. */
static void test_message(int type, size_t total, size_t room)
{
    bool packets = type == SOCK_SEQPACKET;
    exs_iovec_t out[PIECES];
    exs_iovec_t in[PIECES];
    exs_msghdr_t message = {
        .exs_msg_iov = in, .exs_msg_iovlen = PIECES, .exs_msg_controllen = 5, .exs_msg_flags = -1};
    exs_qhandle_t queue = exs_qcreate(4);
    size_t length = total < room ? total : room;
    struct exs_pair pair;
    exs_evt_xfermsg_t *result;
    exs_event_t event;

    exs_pair_open(&pair, type);
    memset(got, 0, TOTAL);
    CHECK_EQ(room, cut(in, PIECES, got, room, got_handle));
    CHECK_STARTS(exs_recvmsg(pair.server, &message, packets ? 0 : MSG_WAITALL, queue, in));
    /* The registration of a piece is in use. */
    CHECK_ERRNO(EBUSY, exs_mderegister(got_handle, 0));
    (void)send_message(pair.client, queue, total, out);
    for (int i = 0; i < 2; i++) {
        event = exs_kit_event(queue);
        CHECK_EQ(0, event.exs_evt_errno);
        result = &event.exs_evt_union.exs_evt_xfermsg;
        if (event.exs_evt_type == EXS_EVT_SENDMSG) {
            CHECK_EQ(total, result->exs_evt_length);
            continue;
        }
        CHECK_EQ(EXS_EVT_RECVMSG, event.exs_evt_type);
        CHECK(event.exs_evt_ahandle == in && result->exs_evt_msghdr == &message);
        CHECK_EQ(length, result->exs_evt_length);
        CHECK_EQ(packets ? total - length : 0, result->exs_evt_amount_lost);
        CHECK_EQ(packets ? MSG_EOR | (total > room ? MSG_TRUNC : 0) : 0, message.exs_msg_flags);
        CHECK_EQ(0, message.exs_msg_controllen);
        check_scattered(in, PIECES, length);
    }
    exs_kit_empty(queue);
    exs_pair_close(&pair);
    CHECK_STARTS(exs_qdelete(queue));
}

/* Messages of one piece and of none, and blocking calls. */
static void test_small(void)
{
    exs_iovec_t piece = {sent, 10, EXS_MHANDLE_UNREGISTERED};
    exs_msghdr_t one = {.exs_msg_iov = &piece, .exs_msg_iovlen = 1};
    exs_msghdr_t none = {0};
    struct sockaddr_in name = {0};
    struct sockaddr_in peer = {0};
    socklen_t length = sizeof(peer);
    struct exs_pair pair;

    exs_pair_open(&pair, SOCK_SEQPACKET);
    CHECK_STARTS(exs_getpeername(pair.server, (struct sockaddr *)&peer, &length));
    CHECK_RESULT(10, exs_sendmsg(pair.client, &one, EXS_BLOCK, EXS_QHANDLE_INVALID, NULL));
    CHECK_RESULT(0, exs_sendmsg(pair.client, &none, EXS_BLOCK, EXS_QHANDLE_INVALID, NULL));
    CHECK_RESULT(10, exs_sendmsg(pair.client, &one, EXS_BLOCK, EXS_QHANDLE_INVALID, NULL));
    piece = (exs_iovec_t){got, 100, EXS_MHANDLE_UNREGISTERED};
    one.exs_msg_name = &name;
    one.exs_msg_namelen = sizeof(name);
    CHECK_RESULT(10, exs_recvmsg(pair.server, &one, EXS_BLOCK, EXS_QHANDLE_INVALID, NULL));
    CHECK_EQ(length, one.exs_msg_namelen);
    CHECK_EQ(0, memcmp(&name, &peer, length));
    exs_kit_compare(got, 10, 0);
    CHECK_RESULT(0, exs_recvmsg(pair.server, &one, EXS_BLOCK, EXS_QHANDLE_INVALID, NULL));
    CHECK_RESULT(0, exs_recvmsg(pair.server, &none, EXS_BLOCK, EXS_QHANDLE_INVALID, NULL));
    CHECK_EQ(MSG_EOR | MSG_TRUNC, none.exs_msg_flags);
    exs_pair_close(&pair);
}

/* The end of the packets is none: only the flags distinguish it from an empty packet. */
static void test_end(int how)
{
    exs_msghdr_t none = {.exs_msg_flags = -1};
    exs_qhandle_t queue = exs_qcreate(1);
    struct exs_pair pair;

    exs_pair_open(&pair, SOCK_SEQPACKET);
    CHECK_RESULT(0, exs_sendmsg(pair.client, &none, EXS_BLOCK, EXS_QHANDLE_INVALID, NULL));
    CHECK_RESULT(0, exs_recvmsg(pair.server, &none, EXS_BLOCK, EXS_QHANDLE_INVALID, NULL));
    CHECK_EQ(MSG_EOR, none.exs_msg_flags);
    CHECK_STARTS(exs_recvmsg(pair.server, &none, 0, queue, NULL));
    CHECK_STARTS(exs_shutdown(how == SHUT_RD ? pair.server : pair.client, how, EXS_BLOCK,
                              EXS_QHANDLE_INVALID, NULL));
    (void)exs_kit_expect(queue, EXS_EVT_RECVMSG, 0);
    CHECK_EQ(0, none.exs_msg_flags);
    none.exs_msg_flags = -1;
    CHECK_RESULT(0, exs_recvmsg(pair.server, &none, EXS_BLOCK, EXS_QHANDLE_INVALID, NULL));
    CHECK_EQ(0, none.exs_msg_flags);
    exs_pair_close(&pair);
    CHECK_STARTS(exs_qdelete(queue));
}

int main(void)
{
    sent = malloc(TOTAL);
    got = malloc(TOTAL);
    CHECK(sent && got);
    exs_kit_fill(sent, TOTAL, 0);
    CHECK_STARTS(exs_init(EXS_VERSION1));
    sent_handle = exs_mregister(sent, TOTAL, EXS_MRF_RECV_DISABLE);
    got_handle = exs_mregister(got, TOTAL, 0);
    CHECK(sent_handle != EXS_MHANDLE_INVALID && got_handle != EXS_MHANDLE_INVALID);
    test_message(SOCK_STREAM, 1000, 1000);
    test_message(SOCK_STREAM, TOTAL, TOTAL);
    test_message(SOCK_SEQPACKET, 1000, 1000);
    test_message(SOCK_SEQPACKET, TOTAL, TOTAL);
    test_message(SOCK_SEQPACKET, TOTAL, 100 * 1024);
    test_message(SOCK_SEQPACKET, 1000, 900);
    test_small();
    test_end(SHUT_WR);
    test_end(SHUT_RD);
    CHECK_STARTS(exs_mderegister(sent_handle, 0));
    CHECK_STARTS(exs_mderegister(got_handle, 0));
    free(sent);
    free(got);
    return 0;
}
