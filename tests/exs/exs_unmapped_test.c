/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory that is missing: a call gets EFAULT at once; if its memory goes away before the library
 * registers it, only this call fails.
 */
#include "exs_kit.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define N     EXS_MHANDLE_UNREGISTERED
#define LONG  ((size_t)1 << 20)
#define SHORT ((size_t)100)

static exs_qhandle_t queue;
static char good[LONG];
static char sent[LONG];

static char *map(size_t length, int rights)
{
    char *made = mmap(NULL, length, rights, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(made != MAP_FAILED);
    return made;
}

/* ---- At once -------------------------------------------------------------------------------- */

static void check_send(int fd, char *at, size_t length)
{
    exs_iovec_t pieces[2] = {{good, 1, N}, {at, length, N}};
    exs_msghdr_t message = {.exs_msg_iov = pieces, .exs_msg_iovlen = 2};
    exs_xferfile_t element = {.exs_xfv_type = EXS_IOVEC, .exs_xfvec.exs_iov = pieces[1]};

    CHECK_ERRNO(EFAULT, exs_send(fd, at, length, 0, queue, NULL, N));
    CHECK_ERRNO(EFAULT, exs_write(fd, at, length));
    CHECK_ERRNO(EFAULT, exs_sendmsg(fd, &message, 0, queue, NULL));
    CHECK_ERRNO(EFAULT, exs_sendfile(fd, &element, 1, 0, queue, NULL));
}

static void check_recv(int fd, char *at, size_t length)
{
    exs_iovec_t pieces[2] = {{good, 1, N}, {at, length, N}};
    exs_msghdr_t message = {.exs_msg_iov = pieces, .exs_msg_iovlen = 2};

    CHECK_ERRNO(EFAULT, exs_recv(fd, at, length, 0, queue, NULL, N));
    CHECK_ERRNO(EFAULT, exs_read(fd, at, length));
    CHECK_ERRNO(EFAULT, exs_recvmsg(fd, &message, 0, queue, NULL));
}

/* Data waits in the hidden buffer, too, so that a receive would be served from there. */
static void test_at_once(int type, size_t length)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t pages = (length + page - 1) / page * page;
    char *area = map(pages + 2 * page, PROT_READ | PROT_WRITE);
    char *none = map(pages, PROT_NONE);
    char *read_only = map(pages, PROT_READ);
    exs_pollfd_t readable;
    struct exs_pair pair;
    char got[10];

    exs_pair_open(&pair, type);
    readable = (exs_pollfd_t){.exs_fd = pair.server, .exs_events = EXS_POLLIN};
    CHECK_RESULT(5, exs_write(pair.client, "hello", 5));
    CHECK_RESULT(1, exs_poll(&readable, 1, EXS_BLOCK, NULL, EXS_QHANDLE_INVALID, NULL));
    CHECK_STARTS(munmap(area + pages, page));
    /* The last octet; in the middle; all. */
    check_send(pair.client, area + pages - length + 1, length);
    check_recv(pair.server, area + pages - length + 1, length);
    if (length > page) {
        check_send(pair.client, area + 2 * page, length);
        check_recv(pair.server, area + 2 * page, length);
    }
    check_send(pair.client, none, length);
    check_recv(pair.server, none, length);
    check_recv(pair.server, read_only, length);
    CHECK_RESULT(5, exs_read(pair.server, got, sizeof(got)));
    CHECK_EQ(0, memcmp(got, "hello", 5));
    exs_pair_close(&pair);
    exs_kit_empty(queue);
    CHECK_STARTS(munmap(area, pages));
    CHECK_STARTS(munmap(area + pages + page, page));
    CHECK_STARTS(munmap(none, pages));
    CHECK_STARTS(munmap(read_only, pages));
}

/* ---- Later ---------------------------------------------------------------------------------- */

/* With small pieces on the way, a receive is only advertised once the sender asks. */
static void make_small(const struct exs_pair *pair)
{
    char got[10];

    CHECK_STARTS(exs_recv(pair->server, good, LONG, 0, queue, good, N));
    /* Behind the ADVERT. */
    CHECK_RESULT(4, exs_write(pair->server, "here", 4));
    CHECK_RESULT(4, exs_read(pair->client, got, sizeof(got)));
    CHECK_RESULT(5, exs_write(pair->client, "small", 5));
    CHECK(exs_kit_expect(queue, EXS_EVT_RECV, 0).exs_evt_ahandle == good);
}

static void test_later_stream(void)
{
    char *gone = map(LONG, PROT_READ | PROT_WRITE);
    struct exs_pair pair;

    check_context("later, stream");
    exs_pair_open(&pair, SOCK_STREAM);
    make_small(&pair);
    CHECK_STARTS(exs_recv(pair.server, gone, LONG, MSG_WAITALL, queue, gone, N));
    CHECK_STARTS(exs_recv(pair.server, good, LONG, MSG_WAITALL, queue, good, N));
    CHECK_STARTS(munmap(gone, LONG));
    CHECK_STARTS(exs_send(pair.client, sent, LONG, EXS_UNSIGNALED, queue, NULL, N));
    CHECK(exs_kit_expect(queue, EXS_EVT_RECV, EFAULT).exs_evt_ahandle == gone);
    CHECK_EQ(LONG,
             exs_kit_expect(queue, EXS_EVT_RECV, 0).exs_evt_union.exs_evt_xfer.exs_evt_length);
    exs_pair_close(&pair);
    exs_kit_empty(queue);
}

/* The receive behind it has been advertised already, with a number that it loses. */
static void test_later_packets(void)
{
    char *gone = map(SHORT, PROT_READ | PROT_WRITE);
    struct exs_pair pair;
    exs_event_t event;

    check_context("later, packets");
    exs_pair_open(&pair, SOCK_SEQPACKET);
    CHECK_STARTS(exs_recv(pair.server, gone, SHORT, 0, queue, gone, N));
    CHECK_STARTS(exs_recv(pair.server, good, LONG, 0, queue, good, N));
    CHECK_STARTS(munmap(gone, SHORT));
    CHECK_STARTS(exs_send(pair.client, sent, LONG, EXS_UNSIGNALED, queue, NULL, N));
    CHECK(exs_kit_expect(queue, EXS_EVT_RECV, EFAULT).exs_evt_ahandle == gone);
    event = exs_kit_expect(queue, EXS_EVT_RECV, 0);
    CHECK(event.exs_evt_ahandle == good);
    CHECK_EQ(LONG, event.exs_evt_union.exs_evt_xfer.exs_evt_length);
    CHECK_RESULT(5, exs_write(pair.client, "alive", 5));
    CHECK_RESULT(5, exs_read(pair.server, good, SHORT));
    exs_pair_close(&pair);
    exs_kit_empty(queue);
}

int main(void)
{
    CHECK_STARTS(exs_init(EXS_VERSION1));
    queue = exs_qcreate(4);
    test_at_once(SOCK_STREAM, SHORT);
    test_at_once(SOCK_SEQPACKET, SHORT);
    test_at_once(SOCK_STREAM, LONG);
    test_at_once(SOCK_SEQPACKET, LONG);
    test_later_stream();
    test_later_packets();
    CHECK_STARTS(exs_qdelete(queue));
    return 0;
}
