/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bad arguments: each call fails at once with its errno, and no event ever comes. The rows of one
 * call are in one table. make() makes the socket that they need.
 */
#include "exs_kit.h"
#include "support/threads.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The states of a socket. */
enum state {
    FRESH,
    LISTENING,
    CONNECTED,
    SHUT,
    PACKETS,
    NONE,
    CLOSED,
    KERNEL,
    STATES
};

static exs_qhandle_t queue;
static exs_mhandle_t whole;     /* of memory */
static exs_mhandle_t send_only; /* of memory */
static exs_mhandle_t stale;
static char memory[8192];
static int fds[STATES];
static struct sockaddr_in here;
static struct sockaddr_in6 other_family = {.sin6_family = AF_INET6};
static struct sockaddr_in nonsense = {.sin_family = 77};
static const struct timeval negative = {-1, 0};
static const struct timeval too_many_us = {0, 1000000};

#define Q_BAD ((exs_qhandle_t)(uintptr_t)0x7654321)
#define M_BAD ((exs_mhandle_t)(uintptr_t)0x7654321)
#define M_NOT EXS_MHANDLE_UNREGISTERED

static ssize_t send_to(int fd, void *at, size_t length, int flags, exs_mhandle_t mhandle)
{
    return exs_send(fd, at, length, flags, queue, NULL, mhandle);
}

static ssize_t recv_from(int fd, void *at, size_t length, int flags, exs_mhandle_t mhandle)
{
    return exs_recv(fd, at, length, flags, queue, NULL, mhandle);
}

static struct sockaddr *address(void *from)
{
    return from;
}

/* ---- A descriptor that is none -------------------------------------------------------------- */

/* Every call fails with EBADF before it checks anything else. */
static void test_descriptors(void)
{
    const int bad[] = {-1, INT_MAX, fds[NONE], fds[CLOSED], fds[KERNEL]};
    exs_acceptaddr_t element = {0};
    exs_msghdr_t message = {0};
    exs_xferfile_t file = {.exs_xfv_type = EXS_IOVEC};
    socklen_t length = sizeof(here);
    int value = 0;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        exs_pollfd_t set = {.exs_fd = bad[i] < 0 ? 1000000 : bad[i], .exs_events = EXS_POLLIN};
        int fd = bad[i];

        CHECK_ERRNO(EBADF, exs_bind(fd, address(&here), sizeof(here)));
        CHECK_ERRNO(EBADF, exs_listen(fd, 1));
        CHECK_ERRNO(EBADF, exs_accept(fd, &element, 1, 0, queue));
        CHECK_ERRNO(EBADF, exs_connect(fd, address(&here), sizeof(here), 0, NULL, queue, NULL));
        CHECK_ERRNO(EBADF, exs_close(fd, 0, queue, NULL));
        CHECK_ERRNO(EBADF, exs_shutdown(fd, SHUT_WR, 0, queue, NULL));
        CHECK_ERRNO(EBADF, exs_send(fd, memory, 1, 0, Q_BAD, NULL, M_NOT));
        CHECK_ERRNO(EBADF, exs_recv(fd, memory, 1, 0, Q_BAD, NULL, M_NOT));
        CHECK_ERRNO(EBADF, exs_sendmsg(fd, &message, 0, queue, NULL));
        CHECK_ERRNO(EBADF, exs_recvmsg(fd, &message, 0, queue, NULL));
        CHECK_ERRNO(EBADF, exs_sendfile(fd, &file, 1, 0, queue, NULL));
        CHECK_ERRNO(EBADF, exs_poll(&set, 1, 0, NULL, queue, NULL));
        CHECK_ERRNO(EBADF, exs_cancel(fd, EXS_CAF_FILDES, NULL));
        CHECK_ERRNO(EBADF, exs_fcntl(fd, EXS_F_GETFD));
        CHECK_ERRNO(EBADF, exs_getsockname(fd, address(&here), &length));
        CHECK_ERRNO(EBADF, exs_getpeername(fd, address(&here), &length));
        CHECK_ERRNO(EBADF, exs_setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &value, sizeof(value)));
        CHECK_ERRNO(EBADF, exs_getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &value, &length));
        CHECK_ERRNO(EBADF, exs_blocking_accept(fd, NULL, NULL));
        CHECK_ERRNO(EBADF, exs_blocking_connect(fd, address(&here), sizeof(here)));
        CHECK_ERRNO(EBADF, exs_blocking_close(fd));
        CHECK_ERRNO(EBADF, exs_read(fd, memory, 1));
        CHECK_ERRNO(EBADF, exs_write(fd, memory, 1));
    }
}

/* ---- Calls that make and connect sockets ---------------------------------------------------- */

static void test_sockets(void)
{
    CHECK_ERRNO(EAFNOSUPPORT, exs_socket(PF_UNIX, SOCK_STREAM, 0));
    CHECK_ERRNO(ESOCKTNOSUPPORT, exs_socket(PF_INET, SOCK_DGRAM, 0));
    CHECK_ERRNO(EPROTONOSUPPORT, exs_socket(PF_INET, SOCK_STREAM, 17));
    CHECK_ERRNO(EFAULT, exs_bind(fds[FRESH], NULL, sizeof(here)));
    CHECK_ERRNO(EINVAL, exs_bind(fds[FRESH], address(&here), 4));
    CHECK_ERRNO(EAFNOSUPPORT, exs_bind(fds[FRESH], address(&nonsense), sizeof(nonsense)));
    CHECK_ERRNO(EINVAL, exs_bind(fds[CONNECTED], address(&here), sizeof(here)));
    CHECK_ERRNO(EINVAL, exs_bind(fds[LISTENING], address(&here), sizeof(here)));
    CHECK_ERRNO(EINVAL, exs_listen(fds[CONNECTED], 1));
}

static void test_connect(void)
{
    CHECK_ERRNO(EFAULT, exs_connect(fds[FRESH], NULL, sizeof(here), 0, NULL, queue, NULL));
    CHECK_ERRNO(EINVAL, exs_connect(fds[FRESH], address(&here), 7, 0, NULL, queue, NULL));
    CHECK_ERRNO(EAFNOSUPPORT, exs_connect(fds[FRESH], address(&nonsense), sizeof(nonsense), 0, NULL,
                                          queue, NULL));
    CHECK_ERRNO(EAFNOSUPPORT, exs_connect(fds[FRESH], address(&other_family), sizeof(other_family),
                                          0, NULL, queue, NULL));
    CHECK_ERRNO(EINVAL,
                exs_connect(fds[FRESH], address(&here), sizeof(here), 1, NULL, queue, NULL));
    CHECK_ERRNO(EINVAL,
                exs_connect(fds[FRESH], address(&here), sizeof(here), 0, &negative, queue, NULL));
    CHECK_ERRNO(EINVAL, exs_connect(fds[FRESH], address(&here), sizeof(here), 0, &too_many_us,
                                    queue, NULL));
    CHECK_ERRNO(EINVAL,
                exs_connect(fds[FRESH], address(&here), sizeof(here), 0, NULL, Q_BAD, NULL));
    CHECK_ERRNO(EINVAL, exs_connect(fds[FRESH], address(&here), sizeof(here), 0, NULL,
                                    EXS_QHANDLE_INVALID, NULL));
    CHECK_ERRNO(EISCONN,
                exs_connect(fds[CONNECTED], address(&here), sizeof(here), 0, NULL, queue, NULL));
    CHECK_ERRNO(EINVAL,
                exs_connect(fds[LISTENING], address(&here), sizeof(here), 0, NULL, queue, NULL));
}

static void test_accept(void)
{
    exs_acceptaddr_t two[2] = {{0}, {0}};

    CHECK_ERRNO(EFAULT, exs_accept(fds[LISTENING], NULL, 1, 0, queue));
    CHECK_ERRNO(EINVAL, exs_accept(fds[LISTENING], two, 0, 0, queue));
    CHECK_ERRNO(EINVAL, exs_accept(fds[LISTENING], two, -1, 0, queue));
    CHECK_ERRNO(EINVAL, exs_accept(fds[LISTENING], two, 2, EXS_BLOCK, queue));
    CHECK_ERRNO(EINVAL, exs_accept(fds[LISTENING], two, 1, EXS_UNSIGNALED, queue));
    CHECK_ERRNO(EINVAL, exs_accept(fds[LISTENING], two, 2, 0, Q_BAD));
    CHECK_ERRNO(EINVAL, exs_accept(fds[FRESH], two, 1, 0, queue));
    CHECK_ERRNO(EINVAL, exs_accept(fds[CONNECTED], two, 1, 0, queue));
    CHECK_ERRNO(EFAULT, exs_blocking_accept(fds[LISTENING], address(&here), NULL));
}

static void test_end(void)
{
    CHECK_ERRNO(ENOTCONN, exs_shutdown(fds[FRESH], SHUT_WR, 0, queue, NULL));
    CHECK_ERRNO(ENOTCONN, exs_shutdown(fds[LISTENING], SHUT_WR, 0, queue, NULL));
    CHECK_ERRNO(EINVAL, exs_shutdown(fds[CONNECTED], 7, 0, queue, NULL));
    CHECK_ERRNO(EINVAL, exs_shutdown(fds[CONNECTED], SHUT_WR, EXS_DONTLINGER, queue, NULL));
    CHECK_ERRNO(EINVAL, exs_shutdown(fds[CONNECTED], SHUT_WR, 0, Q_BAD, NULL));
    CHECK_ERRNO(EINVAL, exs_close(fds[CONNECTED], EXS_CREDIT_WAIT, queue, NULL));
    CHECK_ERRNO(EINVAL, exs_close(fds[CONNECTED], 0, Q_BAD, NULL));
    CHECK_ERRNO(EINVAL, exs_close(fds[CONNECTED], 0, EXS_QHANDLE_INVALID, NULL));
}

/* ---- Calls that move octets ----------------------------------------------------------------- */

struct transfer_row {
    const char *name;
    enum state state;
    size_t offset; /* of memory */
    bool null;
    size_t length;
    int flags;
    exs_mhandle_t *mhandle; /* NULL: unregistered */
    int send;               /* errno; 0: not tried */
    int receive;
};

static exs_mhandle_t invented = M_BAD;
static exs_mhandle_t invalid = EXS_MHANDLE_INVALID;

static const struct transfer_row transfer_rows[] = {
    {"not connected", FRESH, 0, false, 8, 0, NULL, ENOTCONN, ENOTCONN},
    {"listening", LISTENING, 0, false, 8, 0, NULL, ENOTCONN, ENOTCONN},
    {"shut down for writing", SHUT, 0, false, 8, 0, NULL, EPIPE, 0},
    {"out of band", CONNECTED, 0, false, 8, MSG_OOB, NULL, EOPNOTSUPP, EOPNOTSUPP},
    {"unknown flag", CONNECTED, 0, false, 8, MSG_ERRQUEUE, NULL, EINVAL, EINVAL},
    {"flag of close", CONNECTED, 0, false, 8, EXS_DONTLINGER, NULL, EINVAL, EINVAL},
    {"peek of a send", CONNECTED, 0, false, 8, MSG_PEEK, NULL, EINVAL, 0},
    {"no buffer", CONNECTED, 0, true, 8, 0, NULL, EFAULT, EFAULT},
    {"length wraps", CONNECTED, 0, false, SIZE_MAX, 0, NULL, EINVAL, EINVAL},
    {"invented handle", CONNECTED, 0, false, 8, 0, &invented, EINVAL, EINVAL},
    {"no handle", CONNECTED, 0, false, 8, 0, &invalid, EINVAL, EINVAL},
    {"deregistered", CONNECTED, 0, false, 8, 0, &stale, EINVAL, EINVAL},
    {"behind the registration", CONNECTED, 4096, false, 8, 0, &whole, EFAULT, EFAULT},
    {"one octet too many", CONNECTED, 0, false, 4097, 0, &whole, EFAULT, EFAULT},
    {"NULL in a registration", CONNECTED, 0, true, 8, 0, &whole, EFAULT, EFAULT},
    {"send only", CONNECTED, 0, false, 8, 0, &send_only, 0, EACCES},
    {"packet of 2 GiB", PACKETS, 0, false, (size_t)INT_MAX + 1, 0, NULL, EMSGSIZE, 0},
};

static void test_transfers(void)
{
    for (size_t i = 0; i < sizeof(transfer_rows) / sizeof(transfer_rows[0]); i++) {
        const struct transfer_row *row = &transfer_rows[i];
        exs_mhandle_t mhandle = row->mhandle ? *row->mhandle : M_NOT;
        void *at = row->null ? NULL : memory + row->offset;
        exs_iovec_t pieces[2] = {{memory, 4, M_NOT}, {at, row->length, mhandle}};
        exs_msghdr_t message = {.exs_msg_iov = pieces, .exs_msg_iovlen = 2};
        int fd = fds[row->state];

        check_context(row->name);
        if (row->send) {
            CHECK_ERRNO(row->send, send_to(fd, at, row->length, row->flags, mhandle));
            CHECK_ERRNO(row->send, send_to(fd, at, row->length, row->flags | EXS_BLOCK, mhandle));
            CHECK_ERRNO(row->send, exs_sendmsg(fd, &message, row->flags, queue, NULL));
        }
        if (row->receive) {
            CHECK_ERRNO(row->receive, recv_from(fd, at, row->length, row->flags, mhandle));
            CHECK_ERRNO(row->receive,
                        recv_from(fd, at, row->length, row->flags | EXS_BLOCK, mhandle));
            CHECK_ERRNO(row->receive, exs_recvmsg(fd, &message, row->flags, queue, NULL));
        }
    }
    check_context(NULL);
    CHECK_ERRNO(EINVAL, exs_send(fds[CONNECTED], memory, 8, 0, Q_BAD, NULL, M_NOT));
    CHECK_ERRNO(EINVAL, exs_recv(fds[CONNECTED], memory, 8, 0, Q_BAD, NULL, M_NOT));
    CHECK_ERRNO(EINVAL, exs_send(fds[CONNECTED], memory, 8, 0, EXS_QHANDLE_INVALID, NULL, M_NOT));
    CHECK_ERRNO(EINVAL, exs_recv(fds[CONNECTED], memory, 8, EXS_UNSIGNALED, Q_BAD, NULL, M_NOT));
}

static void test_messages(void)
{
    exs_iovec_t pieces[2] = {{memory, SIZE_MAX / 2, M_NOT}, {memory, SIZE_MAX / 2, M_NOT}};
    exs_msghdr_t message = {.exs_msg_iov = pieces, .exs_msg_iovlen = 2};

    CHECK_ERRNO(EFAULT, exs_sendmsg(fds[CONNECTED], NULL, 0, queue, NULL));
    CHECK_ERRNO(EFAULT, exs_recvmsg(fds[CONNECTED], NULL, 0, queue, NULL));
    CHECK(exs_sendmsg(fds[CONNECTED], &message, 0, queue, NULL) == -1);
    message.exs_msg_iovlen = 1025;
    CHECK_ERRNO(EMSGSIZE, exs_sendmsg(fds[CONNECTED], &message, 0, queue, NULL));
    message = (exs_msghdr_t){.exs_msg_iovlen = 1};
    CHECK_ERRNO(EFAULT, exs_recvmsg(fds[CONNECTED], &message, 0, queue, NULL));
    pieces[0].exs_iov_len = 1;
    message = (exs_msghdr_t){.exs_msg_iov = pieces, .exs_msg_iovlen = 1, .exs_msg_controllen = 8};
    CHECK_ERRNO(EINVAL, exs_sendmsg(fds[CONNECTED], &message, 0, queue, NULL));
}

/* ---- Files ---------------------------------------------------------------------------------- */

static int file_of(size_t length)
{
    int fd = memfd_create("file", MFD_CLOEXEC);

    CHECK(fd >= 0);
    CHECK_STARTS(ftruncate(fd, (off_t)length));
    return fd;
}

static void test_files(void)
{
    int small = file_of(100);
    int path = open("/proc/self/exe", O_PATH | O_CLOEXEC);
    int pipes[2];
    const struct file_row {
        const char *name;
        exs_xferfile_t element;
        int error;
    } rows[] = {
        {"unknown kind", {9, {{memory, 8, M_NOT}}}, EINVAL},
        {"no memory", {EXS_IOVEC, {{NULL, 8, M_NOT}}}, EFAULT},
        {"invented handle", {EXS_IOVEC, {{memory, 8, M_BAD}}}, EINVAL},
        {"no file", {EXS_FDVEC, {.exs_fdv = {-1, 0, 0}}}, EBADF},
        {"a pipe", {EXS_FDVEC, {.exs_fdv = {(CHECK_STARTS(pipe(pipes)), pipes[0]), 0, 0}}}, ESPIPE},
        {"a descriptor that cannot read", {EXS_FDVEC, {.exs_fdv = {path, 0, 0}}}, EBADF},
        {"behind the end", {EXS_FDVEC, {.exs_fdv = {small, 101, 0}}}, EINVAL},
        {"over the end", {EXS_FDVEC, {.exs_fdv = {small, 0, 101}}}, EINVAL},
        {"offset wraps", {EXS_FDVEC, {.exs_fdv = {small, UINT64_MAX, 1}}}, EINVAL},
        {"length wraps", {EXS_FDVEC, {.exs_fdv = {small, 1, UINT64_MAX}}}, EINVAL},
        {"no path", {EXS_PATHVEC, {.exs_pathv = {NULL, 0, 0}}}, EFAULT},
        {"no such path", {EXS_PATHVEC, {.exs_pathv = {"/nowhere/nothing", 0, 0}}}, ENOENT},
        {"a directory", {EXS_PATHVEC, {.exs_pathv = {"/", 0, 0}}}, EISDIR},
    };
    exs_xferfile_t good = {EXS_FDVEC, {.exs_fdv = {small, 0, 0}}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        /* A bad element follows a good one: neither is sent. */
        exs_xferfile_t vector[2] = {good, rows[i].element};

        check_context(rows[i].name);
        CHECK_ERRNO(rows[i].error, exs_sendfile(fds[CONNECTED], vector, 2, 0, queue, NULL));
        CHECK_ERRNO(rows[i].error, exs_sendfile(fds[CONNECTED], vector, 2, EXS_BLOCK, queue, NULL));
    }
    check_context(NULL);
    CHECK_ERRNO(EFAULT, exs_sendfile(fds[CONNECTED], NULL, 1, 0, queue, NULL));
    CHECK_ERRNO(EINVAL, exs_sendfile(fds[CONNECTED], &good, 0, 0, queue, NULL));
    CHECK_ERRNO(EINVAL, exs_sendfile(fds[CONNECTED], &good, 1, MSG_WAITALL, queue, NULL));
    CHECK_ERRNO(EINVAL, exs_sendfile(fds[CONNECTED], &good, 1, 0, Q_BAD, NULL));
    CHECK_ERRNO(ENOTCONN, exs_sendfile(fds[FRESH], &good, 1, 0, queue, NULL));
    CHECK_ERRNO(EPIPE, exs_sendfile(fds[SHUT], &good, 1, 0, queue, NULL));
    (void)close(small);
    (void)close(path);
    (void)close(pipes[0]);
    (void)close(pipes[1]);
}

/* ---- Memory, settings, the rest ------------------------------------------------------------- */

static void register_fails(int error, void *at, size_t length, int flags)
{
    errno = 0;
    CHECK(exs_mregister(at, length, flags) == EXS_MHANDLE_INVALID);
    CHECK_EQ(error, errno);
}

/* Memory that no registration names is looked at, too, and costs no connection. */
static void test_unmapped(int fd)
{
    const size_t length = 1 << 20;
    char *hole = mmap(NULL, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    exs_iovec_t piece = {hole, length, M_NOT};
    exs_msghdr_t message = {.exs_msg_iov = &piece, .exs_msg_iovlen = 1};

    CHECK(hole != MAP_FAILED);
    for (int flags = 0; flags <= EXS_BLOCK; flags += EXS_BLOCK) {
        CHECK_ERRNO(EFAULT, exs_recv(fd, hole, length, flags, queue, NULL, M_NOT));
        CHECK_ERRNO(EFAULT, exs_recvmsg(fd, &message, flags, queue, NULL));
        CHECK_ERRNO(EFAULT, exs_send(fd, hole, length, flags, queue, NULL, M_NOT));
        CHECK_ERRNO(EFAULT, exs_sendmsg(fd, &message, flags, queue, NULL));
    }
    CHECK_RESULT(1, exs_write(fd, memory, 1));
    CHECK_STARTS(munmap(hole, length));
}

static void test_memory(void)
{
    char *hole = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    exs_mhandle_t mhandle;

    CHECK(hole != MAP_FAILED);
    register_fails(EFAULT, NULL, 8, 0);
    register_fails(EINVAL, memory, 0, 0);
    register_fails(EINVAL, memory, SIZE_MAX, 0);
    register_fails(EINVAL, memory, 8, 0x1000);
    register_fails(EFAULT, hole, 4096, 0);
    mhandle = exs_mregister(hole, 4096, EXS_MRF_RECV_DISABLE);
    CHECK(mhandle != EXS_MHANDLE_INVALID);
    CHECK_ERRNO(EFAULT, exs_mmodify(mhandle, hole, 4096, 0));
    CHECK_ERRNO(EINVAL, exs_mmodify(mhandle, hole, 0, 0));
    CHECK_STARTS(exs_mmodify(mhandle, memory, 8, EXS_MRF_SHARED));
    CHECK_ERRNO(EINVAL, exs_mderegister(mhandle, 1));
    CHECK_STARTS(exs_mderegister(mhandle, 0));
    CHECK_ERRNO(EINVAL, exs_mderegister(mhandle, 0));
    CHECK_ERRNO(EINVAL, exs_mmodify(mhandle, memory, 8, 0));
    CHECK_ERRNO(EINVAL, exs_mderegister(M_NOT, 0));
    CHECK_STARTS(munmap(hole, 8192));
}

/* The library's thread moves to that processor and is released again. */
static void test_processor(int fd)
{
    struct threads threads = threads_now();
    cpu_set_t cpus;
    int cpu = 0;
    int only;

    CHECK_STARTS(sched_getaffinity(0, sizeof(cpus), &cpus));
    while (!CPU_ISSET(cpu, &cpus))
        cpu++;
    for (int round = 0; round < 2; round++) {
        only = round == 0;
        CHECK_RESULT(only ? INT_MAX : cpu,
                     exs_fcntl(fd, EXS_F_SETCOMPTHREADCPU, only ? cpu : INT_MAX));
        for (bool there = false; !there; (void)usleep(100))
            for (size_t i = 0; i < threads.count && !there; i++) {
                cpu_set_t its;

                CHECK_STARTS(sched_getaffinity(threads.ids[i], sizeof(its), &its));
                there = threads.ids[i] != getpid() && CPU_ISSET(cpu, &its) &&
                        (CPU_COUNT(&its) == 1) == (only || CPU_COUNT(&cpus) == 1);
            }
    }
}

static void want_much(int fd)
{
    CHECK_RESULT(1 << 20, exs_fcntl(fd, EXS_F_SETSTREAMBUFSIZE, 0xc0000000U));
}

/* A connected socket tells what it has got. */
static void test_granted(void)
{
    struct exs_pair pair;

    exs_pair_open_with(&pair, SOCK_STREAM, want_much);
    CHECK_RESULT(1 << 30, exs_fcntl(pair.client, EXS_F_GETSTREAMBUFSIZE));
    CHECK_RESULT(1 << 30, exs_fcntl(pair.server, EXS_F_GETSTREAMBUFSIZE));
    exs_pair_close(&pair);
}

static void test_fcntl(void)
{
    int fd = fds[FRESH];
    int wide = 0;
    socklen_t length = sizeof(wide);

    CHECK_ERRNO(EINVAL, exs_fcntl(fd, 0));
    CHECK_ERRNO(EINVAL, exs_fcntl(fd, 13, 1));
    CHECK_ERRNO(EINVAL, exs_fcntl(fd, INT_MAX, 1));
    CHECK_ERRNO(EINVAL, exs_fcntl(fd, INT_MIN, 1));
    CHECK_ERRNO(EINVAL, exs_fcntl(fd, EXS_F_SETFLOWCONTROLCREDITS, 0));
    CHECK_ERRNO(EINVAL, exs_fcntl(fd, EXS_F_SETFLOWCONTROLCREDITS, 65536));
    CHECK_ERRNO(EINVAL, exs_fcntl(fd, EXS_F_SETSPMAXSIZE, 100));
    CHECK_ERRNO(EINVAL, exs_fcntl(fd, EXS_F_SETFD, 8));
    CHECK_ERRNO(EINVAL, exs_fcntl(fd, EXS_F_SETCOMPTHREADCPU, 1 << 20));
    CHECK_ERRNO(EINVAL, exs_fcntl(fd, EXS_F_SETSTREAMBUFSIZE, 0xc0000001U));
    CHECK_ERRNO(EISCONN, exs_fcntl(fds[CONNECTED], EXS_F_SETFLOWCONTROLCREDITS, 8));
    CHECK_ERRNO(EISCONN, exs_fcntl(fds[CONNECTED], EXS_F_SETSTREAMBUFSIZE, 8));
    CHECK_RESULT(32, exs_fcntl(fd, EXS_F_GETFLOWCONTROLCREDITS));
    CHECK_RESULT(32, exs_fcntl(fd, EXS_F_SETFLOWCONTROLCREDITS, 7));
    CHECK_RESULT(7, exs_fcntl(fd, EXS_F_GETFLOWCONTROLCREDITS));
    CHECK_RESULT(INT_MAX, exs_fcntl(fd, EXS_F_GETCOMPTHREADCPU));
    CHECK_RESULT(1 << 20, exs_fcntl(fd, EXS_F_GETSTREAMBUFSIZE));
    CHECK_RESULT(1 << 20, exs_fcntl(fd, EXS_F_SETSTREAMBUFSIZE, 0));
    CHECK_RESULT(EXS_FD_NODELAY, exs_fcntl(fd, EXS_F_GETFD));
    CHECK_RESULT(0, exs_fcntl(fd, EXS_F_SETSTREAMBUFSIZE, 0xc0000000U));
    CHECK_RESULT(3L << 30, exs_fcntl(fd, EXS_F_GETSTREAMBUFSIZE));
    CHECK_STARTS(exs_getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &wide, &length));
    CHECK_EQ(INT_MAX, wide);
    CHECK_RESULT(3L << 30, exs_fcntl(fd, EXS_F_SETSTREAMBUFSIZE, 1 << 20));
    CHECK_RESULT(0, exs_fcntl(fds[PACKETS], EXS_F_GETSPMAXSIZE));
    test_processor(fd);
    CHECK(exs_fcntl(fd, EXS_F_SETINLINEMAXSIZE, INT_MAX) > 0);
    CHECK(exs_fcntl(fd, EXS_F_GETINLINEMAXSIZE) < INT_MAX);
}

static void test_options(void)
{
    struct timeval limit = {3, 500000};
    socklen_t length = sizeof(limit);
    int fd = fds[FRESH];
    int value = 1;

    CHECK_ERRNO(EFAULT, exs_setsockopt(fd, SOL_SOCKET, SO_RCVBUF, NULL, 4));
    CHECK_ERRNO(EINVAL, exs_setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &value, 1));
    CHECK_ERRNO(ENOPROTOOPT, exs_setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &value, 4));
    CHECK_ERRNO(ENOPROTOOPT, exs_setsockopt(fd, 99, SO_RCVBUF, &value, 4));
    CHECK_ERRNO(EDOM,
                exs_setsockopt(fd, SOL_SOCKET, SO_ASYNC_SEND_TIMEOUT, &negative, sizeof(negative)));
    CHECK_ERRNO(EINVAL, exs_setsockopt(fd, SOL_SOCKET, SO_ASYNC_RECV_TIMEOUT, &limit, 4));
    CHECK_STARTS(exs_setsockopt(fd, SOL_SOCKET, SO_ASYNC_RECV_TIMEOUT, &limit, sizeof(limit)));
    memset(&limit, 0, sizeof(limit));
    CHECK_STARTS(exs_getsockopt(fd, SOL_SOCKET, SO_ASYNC_RECV_TIMEOUT, &limit, &length));
    CHECK(limit.tv_sec == 3 && limit.tv_usec == 500000);
    CHECK_STARTS(exs_setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &value, sizeof(value)));
    length = sizeof(value);
    value = 0;
    CHECK_STARTS(exs_getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &value, &length));
    CHECK_EQ(1, value);
    CHECK_STARTS(exs_getsockopt(fds[PACKETS], SOL_SOCKET, SO_TYPE, &value, &length));
    CHECK_EQ(SOCK_SEQPACKET, value);
    CHECK_STARTS(exs_getsockopt(fds[LISTENING], SOL_SOCKET, SO_ACCEPTCONN, &value, &length));
    CHECK_EQ(1, value);
    CHECK_ERRNO(EFAULT, exs_getsockopt(fd, SOL_SOCKET, SO_TYPE, &value, NULL));
    CHECK_ERRNO(ENOPROTOOPT, exs_getsockopt(fd, SOL_SOCKET, SO_BROADCAST, &value, &length));
}

/* Options of plain sockets that programs set and read without knowing what is below. */
static void test_plain_options(void)
{
    static const struct {
        int name, value, accepted, refused;
    } fixed[] = {{SO_ASYNC_RECV_ORDERED, 1, 1, 0}, {SO_REUSEADDR, 1, 1, 0}};
    static const struct {
        int name, value;
    } read_only[] = {{SO_TYPE, SOCK_STREAM},
                     {SO_DOMAIN, PF_INET},
                     {SO_PROTOCOL, IPPROTO_TCP},
                     {SO_ACCEPTCONN, 0},
                     {SO_ERROR, 0}};
    int fd = exs_socket(PF_INET, SOCK_STREAM, 0);
    struct {
        int value, behind;
    } got;
    socklen_t length = sizeof(got);
    int value = 70000;

    for (size_t i = 0; i < sizeof(fixed) / sizeof(*fixed); i++) {
        CHECK_STARTS(exs_setsockopt(fd, SOL_SOCKET, fixed[i].name, &fixed[i].accepted, 4));
        CHECK_ERRNO(EINVAL, exs_setsockopt(fd, SOL_SOCKET, fixed[i].name, &fixed[i].refused, 4));
        CHECK_STARTS(exs_getsockopt(fd, SOL_SOCKET, fixed[i].name, &got, &length));
        CHECK_EQ(fixed[i].value, got.value);
    }
    for (size_t i = 0; i < sizeof(read_only) / sizeof(*read_only); i++) {
        got.value = got.behind = 77;
        length = sizeof(got);
        CHECK_STARTS(exs_getsockopt(fd, SOL_SOCKET, read_only[i].name, &got, &length));
        CHECK_EQ(read_only[i].value, got.value);
        CHECK_EQ(77, got.behind);
        CHECK_EQ(sizeof(int), length);
    }
    CHECK_STARTS(exs_setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &value, sizeof(value)));
    CHECK_STARTS(exs_getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &got, &length));
    CHECK_EQ(70000, got.value);
    value = -1;
    CHECK_ERRNO(EINVAL, exs_setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &value, sizeof(value)));
    value = 1;
    CHECK_STARTS(exs_setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &value, sizeof(value)));
    value = 0;
    CHECK_STARTS(exs_setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &value, sizeof(value)));
    CHECK_STARTS(exs_getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &got, &length));
    CHECK_EQ(0, got.value);
    CHECK_ERRNO(ENOPROTOOPT, exs_getsockopt(fd, IPPROTO_TCP, TCP_MAXSEG, &got, &length));
    CHECK_STARTS(exs_blocking_close(fd));
}

static void test_names(void)
{
    struct sockaddr_in name = {0};
    struct sockaddr_in peer = {0};
    socklen_t length = sizeof(name);

    CHECK_ERRNO(ENOTCONN, exs_getpeername(fds[FRESH], address(&name), &length));
    CHECK_ERRNO(EFAULT, exs_getsockname(fds[CONNECTED], NULL, &length));
    CHECK_ERRNO(EFAULT, exs_getpeername(fds[CONNECTED], address(&name), NULL));
    CHECK_STARTS(exs_getsockname(fds[FRESH], address(&name), &length));
    CHECK(name.sin_family == AF_INET && name.sin_port == 0);
    CHECK_STARTS(exs_getpeername(fds[CONNECTED], address(&peer), &length));
    CHECK_EQ(sizeof(peer), length);
    CHECK(peer.sin_family == AF_INET && peer.sin_addr.s_addr == htonl(INADDR_LOOPBACK) &&
          peer.sin_port == here.sin_port);
}

static void test_poll_and_cancel(void)
{
    exs_pollfd_t set = {.exs_fd = fds[CONNECTED], .exs_events = EXS_POLLIN};

    CHECK_ERRNO(EINVAL, exs_poll(&set, 0, 0, NULL, queue, NULL));
    CHECK_ERRNO(EINVAL, exs_poll(&set, 65537, 0, NULL, queue, NULL));
    CHECK_ERRNO(EFAULT, exs_poll(NULL, 1, 0, NULL, queue, NULL));
    CHECK_ERRNO(EINVAL, exs_poll(&set, 1, MSG_PEEK, NULL, queue, NULL));
    CHECK_ERRNO(EINVAL, exs_poll(&set, 1, 0, &negative, queue, NULL));
    CHECK_ERRNO(EINVAL, exs_poll(&set, 1, 0, NULL, Q_BAD, NULL));
    CHECK_ERRNO(EINVAL, exs_cancel(fds[CONNECTED], 0, NULL));
    CHECK_RESULT(0, exs_cancel(fds[CONNECTED], EXS_CAF_FILDES, NULL));
    CHECK_RESULT(0, exs_cancel(fds[FRESH], EXS_CAF_AHANDLE, NULL));
}

int main(void)
{
    struct exs_pair pair;
    struct exs_pair shut;
    struct exs_pair packets;
    int port;

    CHECK_ERRNO(EPERM, exs_socket(PF_INET, SOCK_STREAM, 0));
    CHECK(exs_qcreate(1) == EXS_QHANDLE_INVALID && errno == EPERM);
    register_fails(EPERM, memory, 8, 0);
    CHECK_ERRNO(EBADF, exs_write(0, memory, 1));
    CHECK_ERRNO(EINVAL, exs_init(77));
    CHECK_STARTS(exs_init(EXS_VERSION1));
    CHECK_STARTS(exs_init(EXS_VERSION1));

    exs_pair_open(&pair, SOCK_STREAM);
    exs_pair_open(&shut, SOCK_STREAM);
    exs_pair_open(&packets, SOCK_SEQPACKET);
    queue = exs_qcreate(8);
    whole = exs_mregister(memory, 4096, 0);
    send_only = exs_mregister(memory, 4096, EXS_MRF_RECV_DISABLE);
    stale = exs_mregister(memory, 4096, 0);
    CHECK(whole && send_only && stale);
    CHECK_STARTS(exs_mderegister(stale, 0));
    CHECK_STARTS(exs_shutdown(shut.client, SHUT_WR, EXS_BLOCK, EXS_QHANDLE_INVALID, NULL));
    fds[FRESH] = exs_socket(PF_INET, SOCK_STREAM, 0);
    fds[LISTENING] = exs_kit_listen(SOCK_STREAM, &port);
    here = exs_kit_address(port);
    fds[CONNECTED] = pair.client;
    fds[SHUT] = shut.client;
    fds[PACKETS] = packets.client;
    fds[NONE] = 1000;
    fds[CLOSED] = exs_socket(PF_INET, SOCK_STREAM, 0);
    CHECK_STARTS(exs_blocking_close(fds[CLOSED]));
    fds[KERNEL] = dup(0);

    test_descriptors();
    test_sockets();
    test_connect();
    test_accept();
    test_end();
    test_transfers();
    test_messages();
    test_files();
    test_memory();
    test_unmapped(fds[CONNECTED]);
    test_unmapped(fds[PACKETS]);
    test_fcntl();
    test_granted();
    test_options();
    test_plain_options();
    test_poll_and_cancel();
    {
        socklen_t length = sizeof(here);

        CHECK_STARTS(exs_getpeername(pair.client, address(&here), &length));
        test_names();
    }
    exs_kit_empty(queue);
    CHECK_STARTS(exs_qdelete(queue));
    CHECK_STARTS(exs_mderegister(whole, 0));
    CHECK_STARTS(exs_mderegister(send_only, 0));
    CHECK_STARTS(exs_blocking_close(fds[FRESH]));
    CHECK_STARTS(exs_blocking_close(fds[LISTENING]));
    exs_pair_close(&pair);
    exs_pair_close(&shut);
    exs_pair_close(&packets);
    return 0;
}
