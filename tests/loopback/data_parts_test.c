/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Large messages that answer a message of the peer: they leave in parts, arrive unchanged, and
 * continue wherever a full socket has cut them.
 */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "support/it_fixture.h"

/* ---- A socket that is full when the test says so -------------------------------------------- */

/* The library enters the kernel through syscall(2); under sanitizers through the wrappers. */

#define UNLIMITED LONG_MAX
#define IOV_ROOM  512

/* Octets until the socket is full for one call. */
static atomic_long room = UNLIMITED;
static atomic_uint large_sends;

static long take_room(const struct msghdr *whole, struct msghdr *part, struct iovec *iov)
{
    long left = atomic_load(&room);
    long length = 0;

    *part = *whole;
    for (size_t i = 0; i < whole->msg_iovlen; i++)
        length += (long)whole->msg_iov[i].iov_len;
    if (length > 1024)
        atomic_fetch_add(&large_sends, 1);
    if (left == UNLIMITED || length <= left) {
        if (left != UNLIMITED)
            atomic_fetch_sub(&room, length);
        return length;
    }
    CHECK(whole->msg_iovlen <= IOV_ROOM);
    part->msg_iov = iov;
    length = left;
    for (size_t i = 0; i < whole->msg_iovlen; i++) {
        iov[i] = whole->msg_iov[i];
        if ((long)iov[i].iov_len > left)
            iov[i].iov_len = (size_t)left;
        left -= (long)iov[i].iov_len;
    }
    atomic_store(&room, length > 0 ? 0 : UNLIMITED);
    return length;
}

static long enter(long number, const long *arguments)
{
    static _Atomic(void *) next;
    long (*real)(long, ...);

    if (!atomic_load(&next))
        atomic_store(&next, dlsym(RTLD_NEXT, "syscall"));
    *(void **)(void *)&real = atomic_load(&next);
    return real(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4],
                arguments[5]);
}

static long limited_send(int fd, const struct msghdr *whole, int flags)
{
    struct iovec iov[IOV_ROOM];
    struct msghdr part;

    if (take_room(whole, &part, iov) == 0) {
        errno = EAGAIN;
        return -1;
    }
    return enter(SYS_sendmsg, (long[6]){fd, (long)(uintptr_t)&part, flags});
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    return limited_send(fd, message, flags);
}

ssize_t send(int fd, const void *data, size_t length, int flags)
{
    struct iovec iov = {(void *)(uintptr_t)data, length};
    struct msghdr message = {.msg_iov = &iov, .msg_iovlen = 1};

    return limited_send(fd, &message, flags);
}

long syscall(long number, ...)
{
    long arguments[6];
    va_list list;

    va_start(list, number);
    for (unsigned i = 0; i < 6; i++)
        arguments[i] = va_arg(list, long);
    va_end(list);
    if (number == SYS_sendmsg)
        return sendmsg((int)arguments[0], (const struct msghdr *)(uintptr_t)arguments[1],
                       (int)arguments[2]);
    if (number == SYS_sendto)
        return send((int)arguments[0], (const void *)(uintptr_t)arguments[1], (size_t)arguments[2],
                    (int)arguments[3]);
    return enter(number, arguments);
}

/* ---- Messages ------------------------------------------------------------------------------- */

#define LONGEST  131073u
#define GUARD    64u
#define MIN      49152u /* the shortest message that leaves in parts */
#define MAX      131072u
#define PAYLOAD  65500u /* payload of a Send's FPDU on loopback */
#define TAIL_MAX 512u   /* an FPDU up to this length leaves with the one before */

static struct {
    struct fx_pair pair;
    struct fx_buf out, in;
    uint64_t cookie;
} bed;

static void bed_open(bool crc)
{
    struct itx_mpa_params mpa;
    struct fx_pair_setup setup = {.a_mpa = &mpa, .b_mpa = &mpa};
    struct fx_pair plain;

    fx_pair_open(&plain);
    mpa = fx_mpa(plain.a_ep);
    fx_pair_close(&plain);
    mpa.crc = crc ? IT_TRUE : IT_FALSE;
    fx_pair_open_as(&bed.pair, &setup);
    bed.out = fx_node_buf(&bed.pair.a, LONGEST + GUARD);
    bed.in = fx_node_buf(&bed.pair.b, LONGEST + 2 * GUARD);
    fx_fill(bed.out.data, bed.out.size, 3);
}

static void bed_close(void)
{
    fx_empty(bed.pair.a.aff_evd);
    fx_empty(bed.pair.b.aff_evd);
    fx_pair_close(&bed.pair);
}

/* The peer sends a message, so that it may wait for an answer. */
static void ask(void)
{
    CHECK_OK(it_post_recv(bed.pair.a_ep, NULL, 0, 1, FX_SIGNAL));
    CHECK_OK(it_post_send(bed.pair.b_ep, NULL, 0, 1, FX_SIGNAL));
    fx_done(bed.pair.a.recv_evd, bed.pair.a_ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, IT_DTO_SUCCESS);
    fx_done(bed.pair.b.request_evd, bed.pair.b_ep, IT_DTO_SEND_CMPL_EVENT, 1, IT_DTO_SUCCESS);
}

/* Answers while the socket takes `limit` octets before it is full. Returns the number of calls. */
static unsigned answer(bool write, size_t size, long limit)
{
    uint64_t cookie = ++bed.cookie;
    size_t from = (size_t)(cookie % 13);
    size_t to = GUARD - (size_t)(cookie % 3);

    memset(bed.in.data, 0xee, bed.in.size);
    if (write)
        CHECK_OK(it_post_recv(bed.pair.b_ep, NULL, 0, cookie, FX_SIGNAL));
    else
        fx_recv(bed.pair.b_ep, &bed.in, to, size, cookie);
    atomic_store(&large_sends, 0);
    atomic_store(&room, limit);
    if (write)
        fx_write(bed.pair.a_ep, &bed.out, from, size, &bed.in, to, cookie, FX_SIGNAL);
    else
        fx_send(bed.pair.a_ep, &bed.out, from, size, cookie, FX_SIGNAL);
    fx_done_len(bed.pair.a.request_evd, bed.pair.a_ep,
                write ? IT_DTO_RDMA_WRITE_CMPL_EVENT : IT_DTO_SEND_CMPL_EVENT, cookie, size);
    if (write)
        CHECK_OK(it_post_send(bed.pair.a_ep, NULL, 0, cookie, FX_QUIET));
    fx_done_len(bed.pair.b.recv_evd, bed.pair.b_ep, IT_DTO_RC_RECV_CMPL_EVENT, cookie,
                write ? 0 : size);
    atomic_store(&room, UNLIMITED);
    fx_check_same(bed.out.data + from, bed.in.data + to, size);
    CHECK(fx_is_byte(bed.in.data + to - 8, 8, 0xee));
    CHECK(fx_is_byte(bed.in.data + to + size, 8, 0xee));
    return atomic_load(&large_sends);
}

static const size_t sizes[] = {
    MIN - 1,
    MIN,
    MIN + 1,
    60001,
    PAYLOAD - 1,
    PAYLOAD,
    PAYLOAD + 1,
    PAYLOAD + 4,
    65536,
    PAYLOAD + TAIL_MAX,
    PAYLOAD + TAIL_MAX + 1,
    PAYLOAD + TAIL_MAX + 9,
    PAYLOAD + MIN,
    2 * PAYLOAD,
    2 * PAYLOAD + 1,
    MAX,
    MAX + 1,
};

static void all_sizes(bool crc, bool write)
{
    bed_open(crc);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        ask();
        (void)answer(write, sizes[i], UNLIMITED);
        (void)answer(write, sizes[i], UNLIMITED);
    }
    bed_close();
}

Test(data_parts, sends)
{
    all_sizes(true, false);
    all_sizes(false, false);
    check_done();
}

Test(data_parts, writes)
{
    all_sizes(true, true);
    all_sizes(false, true);
    check_done();
}

/* A message that the peer has not asked for leaves in one call, and so does a second answer. */
Test(data_parts, only_answers, .fini = bed_close)
{
    bed_open(true);
    ask();
    EXPECT_EQ(2, answer(false, 65536, UNLIMITED));
    EXPECT_EQ(1, answer(false, 65536, UNLIMITED));
    ask();
    EXPECT_EQ(1, answer(false, MIN - 1, UNLIMITED));
    EXPECT_EQ(4, answer(false, MAX, UNLIMITED));
    EXPECT_EQ(1, answer(false, MAX, UNLIMITED));
    check_done();
}

/* Makes each octet around `middle` the last one that fits into the socket. */
static void cut_around(bool write, size_t size, long middle)
{
    for (long limit = middle > 40 ? middle - 40 : 0; limit < middle + 40; limit++) {
        ask();
        (void)answer(write, size, limit);
    }
}

static void all_cuts(bool crc, bool write)
{
    const size_t size = 65536;
    const long wire = 65536 + 2 * 24;

    bed_open(crc);
    cut_around(write, size, 0);
    cut_around(write, size, PAYLOAD + 20 - 24576);
    cut_around(write, size, wire - 40);
    for (long limit = 3001; limit < wire; limit += 4999) {
        ask();
        (void)answer(write, size, limit);
        ask();
        (void)answer(write, PAYLOAD + TAIL_MAX + 9, limit);
        ask();
        (void)answer(write, MAX, 2 * limit);
    }
    bed_close();
}

Test(data_parts, cut_sends)
{
    all_cuts(true, false);
    all_cuts(false, false);
    check_done();
}

Test(data_parts, cut_writes)
{
    all_cuts(true, true);
    all_cuts(false, true);
    check_done();
}
