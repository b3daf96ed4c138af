/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exs_sendfile: elements of all kinds, order among other sends, sealed files, truncated files,
 * cancelling.
 */
#include "exs_kit.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FILE_OCTETS 3000000
#define HUGE_OCTETS (UINT64_C(5) << 30)

static char *content; /* octets of the file, and more */
static char path[64];
static exs_qhandle_t queue;

static int make_file(size_t length)
{
    int fd = memfd_create("file", MFD_CLOEXEC);

    CHECK(fd >= 0);
    CHECK_RESULT((long)length, write(fd, content, length));
    return fd;
}

/* ---- The receiver --------------------------------------------------------------------------- */

struct reader {
    int fd;
    uint64_t octets; /* octets that are read, then the end of the stream if eof */
    bool eof;
    bool zeros; /* a hole of a file reads as zeros */
    size_t place;
};

static void *read_stream(void *argument)
{
    struct reader *reader = argument;
    size_t room = 1 << 20;
    char *buffer = malloc(room);
    uint64_t total = 0;

    CHECK(buffer);
    while (total < reader->octets) {
        uint64_t rest = reader->octets - total;
        ssize_t got = exs_read(reader->fd, buffer, rest < room ? (size_t)rest : room);

        CHECK(got > 0);
        if (!reader->zeros)
            exs_kit_compare(buffer, (size_t)got, reader->place + (size_t)total);
        else
            CHECK(buffer[0] == 0 && memcmp(buffer, buffer + 1, (size_t)got - 1) == 0);
        total += (uint64_t)got;
    }
    if (reader->eof)
        CHECK_RESULT(0, exs_read(reader->fd, buffer, room));
    free(buffer);
    return NULL;
}

static pthread_t start_reader(struct reader *reader)
{
    pthread_t thread;

    CHECK_EQ(0, pthread_create(&thread, NULL, read_stream, reader));
    return thread;
}

/* ---- Streams -------------------------------------------------------------------------------- */

/*
 * Sends memory, a descriptor, a path and empty elements between them, with a send before and after.
 */
static void test_order(bool registered)
{
    struct exs_pair pair;
    int fd = make_file(FILE_OCTETS);
    exs_mhandle_t mhandle = EXS_MHANDLE_UNREGISTERED;
    exs_xferfile_t vector[6] = {
        {EXS_IOVEC, {{content + 100, 0, mhandle}}},
        {EXS_FDVEC, {.exs_fdv = {fd, 100, 999900}}},
        {EXS_IOVEC, {{content + 1000000, 500000, mhandle}}},
        {EXS_FDVEC, {.exs_fdv = {fd, FILE_OCTETS, 0}}},
        {EXS_PATHVEC, {.exs_pathv = {path, 1500000, 1000000}}},
        {EXS_FDVEC, {.exs_fdv = {fd, 2500000, 0}}},
    };
    struct reader reader = {.octets = FILE_OCTETS + 200, .eof = true};
    exs_event_t event;
    pthread_t thread;

    exs_pair_open(&pair, SOCK_STREAM);
    if (registered)
        mhandle = vector[2].exs_xfvec.exs_iov.exs_iov_mhandle =
            exs_mregister(content, FILE_OCTETS + 1000, 0);
    reader.fd = pair.server;
    thread = start_reader(&reader);
    CHECK_STARTS(exs_send(pair.client, content, 100, 0, queue, NULL, EXS_MHANDLE_UNREGISTERED));
    CHECK_STARTS(exs_sendfile(pair.client, vector, 6, 0, queue, vector));
    CHECK_STARTS(exs_send(pair.client, content + FILE_OCTETS, 200, 0, queue, NULL,
                          EXS_MHANDLE_UNREGISTERED));
    (void)exs_kit_expect(queue, EXS_EVT_SEND, 0);
    event = exs_kit_expect(queue, EXS_EVT_SENDFILE, 0);
    CHECK(event.exs_evt_ahandle == vector && event.exs_evt_socket == pair.client);
    CHECK_EQ(FILE_OCTETS - 100, event.exs_evt_union.exs_evt_xferfile.exs_evt_length);
    CHECK_EQ(6, event.exs_evt_union.exs_evt_xferfile.exs_evt_sendvec_cnt);
    (void)exs_kit_expect(queue, EXS_EVT_SEND, 0);
    CHECK_STARTS(exs_shutdown(pair.client, SHUT_WR, EXS_BLOCK, EXS_QHANDLE_INVALID, NULL));
    CHECK_EQ(0, pthread_join(thread, NULL));
    if (registered)
        CHECK_STARTS(exs_mderegister(mhandle, 0));
    exs_kit_empty(queue);
    exs_pair_close(&pair);
    (void)close(fd);
}

/* A close waits until a file was sent. */
static void test_close(void)
{
    struct exs_pair pair;
    exs_xferfile_t whole = {EXS_PATHVEC, {.exs_pathv = {path, 0, 0}}};
    struct reader reader = {.octets = FILE_OCTETS, .eof = true};
    pthread_t thread;

    exs_pair_open(&pair, SOCK_STREAM);
    CHECK_STARTS(exs_sendfile(pair.client, &whole, 1, 0, queue, NULL));
    CHECK_STARTS(exs_close(pair.client, 0, queue, NULL));
    reader.fd = pair.server;
    thread = start_reader(&reader);
    (void)exs_kit_expect(queue, EXS_EVT_SENDFILE, 0);
    (void)exs_kit_expect(queue, EXS_EVT_CLOSE, 0);
    CHECK_EQ(0, pthread_join(thread, NULL));
    CHECK_STARTS(exs_blocking_close(pair.server));
    CHECK_STARTS(exs_blocking_close(pair.listener));
    exs_kit_empty(queue);
}

/* More than 4 GiB from a file that is one hole. Only ITAPI_TEST_LONG sends all of it. */
static void test_huge(void)
{
    uint64_t octets = getenv("ITAPI_TEST_LONG") ? HUGE_OCTETS : UINT64_C(64) << 20;
    int fd = memfd_create("huge", MFD_CLOEXEC);
    exs_xferfile_t hole = {EXS_FDVEC, {.exs_fdv = {fd, HUGE_OCTETS - octets, 0}}};
    struct reader reader = {.octets = octets, .zeros = true};
    struct exs_pair pair;
    exs_event_t event;
    pthread_t thread;

    CHECK_STARTS(ftruncate(fd, (off_t)HUGE_OCTETS));
    exs_pair_open(&pair, SOCK_STREAM);
    reader.fd = pair.server;
    thread = start_reader(&reader);
    CHECK_STARTS(exs_sendfile(pair.client, &hole, 1, 0, queue, NULL));
    /* All of it takes longer than a wait for an event may. */
    CHECK_EQ(0, pthread_join(thread, NULL));
    event = exs_kit_expect(queue, EXS_EVT_SENDFILE, 0);
    CHECK_EQ(octets, event.exs_evt_union.exs_evt_xferfile.exs_evt_length);
    exs_pair_close(&pair);
    (void)close(fd);
}

/* ---- Sealed files --------------------------------------------------------------------------- */

static atomic_uint reads; /* calls of pread */

/* Stands in for libc's. */
ssize_t pread(int fd, void *buffer, size_t length, off_t offset)
{
    (void)atomic_fetch_add(&reads, 1);
    return syscall(SYS_pread64, fd, buffer, length, offset);
}

static int make_sealed_file(size_t hole, int seals)
{
    int fd = memfd_create("sealed", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    CHECK(fd >= 0);
    CHECK_RESULT((long)(FILE_OCTETS - hole), write(fd, content, FILE_OCTETS - hole));
    CHECK_STARTS(ftruncate(fd, FILE_OCTETS));
    CHECK_STARTS(fcntl(fd, F_ADD_SEALS, seals));
    return fd;
}

/* Sends the file from this place on, in two elements. Returns how often it was read. */
static unsigned send_sealed(int fd, size_t from, bool zeros)
{
    exs_xferfile_t vector[2] = {{EXS_FDVEC, {.exs_fdv = {fd, from, 700001}}},
                                {EXS_FDVEC, {.exs_fdv = {fd, from + 700001, 0}}}};
    struct reader reader = {.octets = FILE_OCTETS - from, .zeros = zeros, .place = from};
    struct exs_pair pair;
    pthread_t thread;

    exs_pair_open(&pair, SOCK_STREAM);
    reader.fd = pair.server;
    thread = start_reader(&reader);
    atomic_store(&reads, 0);
    CHECK_RESULT((long)(FILE_OCTETS - from),
                 exs_sendfile(pair.client, vector, 2, EXS_BLOCK, EXS_QHANDLE_INVALID, NULL));
    CHECK_EQ(0, pthread_join(thread, NULL));
    exs_pair_close(&pair);
    (void)close(fd);
    return atomic_load(&reads);
}

/* A device would pin the whole file. */
static bool is_read_always(void)
{
    const char *interface = getenv("ITAPI_EXS_INTERFACE");

    return interface && strncmp(interface, "uiwarp", 6) != 0;
}

/*
 * A file that nobody can change or cut is sent from where it is. All others are read: they may be
 * cut, or change behind their CRC, and a hole may find no memory.
 */
static void test_sealed(void)
{
    const int sealed = F_SEAL_SHRINK | F_SEAL_WRITE;

    CHECK_EQ(is_read_always(), send_sealed(make_sealed_file(0, sealed), 0, false) > 0);
    CHECK_EQ(is_read_always(), send_sealed(make_sealed_file(0, sealed), 4097, false) > 0);
    CHECK(send_sealed(make_sealed_file(0, F_SEAL_SHRINK), 0, false) > 0);
    CHECK(send_sealed(make_sealed_file(0, F_SEAL_WRITE), 0, false) > 0);
    CHECK(send_sealed(make_sealed_file(1000000, sealed), FILE_OCTETS - 900000, true) > 0);
}

static void test_sealed_packet(void)
{
    int fd = make_sealed_file(0, F_SEAL_SHRINK | F_SEAL_WRITE);
    exs_xferfile_t vector[2] = {{EXS_FDVEC, {.exs_fdv = {fd, 5, 300000}}},
                                {EXS_FDVEC, {.exs_fdv = {fd, FILE_OCTETS - 10, 0}}}};
    char *buffer = malloc(FILE_OCTETS);
    struct exs_pair pair;

    CHECK(buffer);
    exs_pair_open(&pair, SOCK_SEQPACKET);
    atomic_store(&reads, 0);
    CHECK_STARTS(exs_sendfile(pair.client, vector, 2, EXS_UNSIGNALED, queue, NULL));
    CHECK_RESULT(300000, exs_read(pair.server, buffer, FILE_OCTETS));
    exs_kit_compare(buffer, 300000, 5);
    CHECK_RESULT(10, exs_read(pair.server, buffer, FILE_OCTETS));
    exs_kit_compare(buffer, 10, FILE_OCTETS - 10);
    CHECK_EQ(is_read_always(), atomic_load(&reads) > 0);
    exs_kit_empty(queue);
    exs_pair_close(&pair);
    (void)close(fd);
    free(buffer);
}

/* ---- Trouble -------------------------------------------------------------------------------- */

/*
 * A file is truncated while it is sent: EIO, never a signal. The stream continues after the octets
 * that were sent.
 */
static void test_cut(void)
{
    static char mark[100]; /* the file contains no such octets */
    int fd = make_file(FILE_OCTETS);
    exs_xferfile_t vector[2] = {{EXS_FDVEC, {.exs_fdv = {fd, 0, 0}}},
                                {EXS_IOVEC, {{content, 100, EXS_MHANDLE_UNREGISTERED}}}};
    char *got = malloc(FILE_OCTETS);
    size_t octets = 0;
    struct exs_pair pair;
    exs_event_t event;

    CHECK(got);
    exs_pair_open(&pair, SOCK_STREAM);
    /* Nobody reads, so the whole file cannot have left. */
    CHECK_STARTS(exs_sendfile(pair.client, vector, 2, 0, queue, NULL));
    CHECK_STARTS(ftruncate(fd, 1000));
    CHECK_STARTS(
        exs_send(pair.client, mark, sizeof(mark), 0, queue, mark, EXS_MHANDLE_UNREGISTERED));
    while (octets < 200 || memcmp(got + octets - 100, mark, sizeof(mark)) != 0) {
        ssize_t part = exs_read(pair.server, got + octets, FILE_OCTETS - octets);

        CHECK(part > 0);
        octets += (size_t)part;
    }
    exs_kit_compare(got, octets - sizeof(mark), 0);
    event = exs_kit_expect(queue, EXS_EVT_SENDFILE, EIO);
    CHECK_EQ(octets - sizeof(mark), event.exs_evt_union.exs_evt_xferfile.exs_evt_length);
    event = exs_kit_expect(queue, EXS_EVT_SEND, 0);
    CHECK(event.exs_evt_ahandle == mark);
    exs_kit_empty(queue);
    exs_pair_close(&pair);
    (void)close(fd);
    free(got);
}

/* A path that is gone, or that of a FIFO, once the call gets to its element. */
static void test_replaced(bool fifo)
{
    char name[] = "/tmp/exs_file_test_XXXXXX";
    int fd = mkstemp(name);
    exs_xferfile_t vector[2] = {{EXS_PATHVEC, {.exs_pathv = {path, 0, 0}}},
                                {EXS_PATHVEC, {.exs_pathv = {name, 0, 0}}}};
    struct reader reader = {.octets = FILE_OCTETS};
    struct exs_pair pair;
    pthread_t thread;

    check_context(fifo ? "a FIFO in place of a file" : "a file that is gone");
    CHECK(fd >= 0);
    CHECK_RESULT(100, write(fd, content, 100));
    exs_pair_open(&pair, SOCK_STREAM);
    /* Nobody reads, so the call cannot have got to the second element. */
    CHECK_STARTS(exs_sendfile(pair.client, vector, 2, 0, queue, NULL));
    CHECK_STARTS(unlink(name));
    if (fifo)
        CHECK_STARTS(mkfifo(name, 0600));
    reader.fd = pair.server;
    thread = start_reader(&reader);
    CHECK_EQ(
        FILE_OCTETS,
        exs_kit_expect(queue, EXS_EVT_SENDFILE, EIO).exs_evt_union.exs_evt_xferfile.exs_evt_length);
    CHECK_EQ(0, pthread_join(thread, NULL));
    exs_pair_close(&pair);
    (void)unlink(name);
    (void)close(fd);
    check_context(NULL);
}

/* Cancels a file while the peer does not read, or cuts off its connection. */
static void test_cancel(bool cut)
{
    exs_xferfile_t whole = {EXS_PATHVEC, {.exs_pathv = {path, 0, 0}}};
    struct exs_pair pair;
    exs_event_t event;

    exs_pair_open(&pair, SOCK_STREAM);
    CHECK_STARTS(exs_sendfile(pair.client, &whole, 1, 0, queue, &whole));
    if (cut)
        CHECK_STARTS(exs_close(pair.server, EXS_BLOCK | EXS_DONTLINGER, EXS_QHANDLE_INVALID, NULL));
    else
        CHECK_RESULT(1, exs_cancel(pair.client, EXS_CAF_AHANDLE, &whole));
    event = exs_kit_expect(queue, EXS_EVT_SENDFILE, cut ? ECONNRESET : ECANCELED);
    CHECK(event.exs_evt_union.exs_evt_xferfile.exs_evt_length < FILE_OCTETS);
    exs_kit_empty(queue);
    if (!cut) {
        exs_pair_close(&pair);
        return;
    }
    CHECK_STARTS(exs_close(pair.client, EXS_BLOCK | EXS_DONTLINGER, EXS_QHANDLE_INVALID, NULL));
    CHECK_STARTS(exs_blocking_close(pair.listener));
}

/* The event of a close is the last one, also behind a file that the close cuts. */
static void test_close_last(void)
{
    exs_xferfile_t whole = {EXS_PATHVEC, {.exs_pathv = {path, 0, 0}}};
    struct exs_pair pair;

    for (int i = 0; i < 10; i++) {
        exs_pair_open(&pair, SOCK_STREAM);
        CHECK_STARTS(exs_sendfile(pair.client, &whole, 1, 0, queue, NULL));
        CHECK_STARTS(exs_close(pair.client, EXS_DONTLINGER, queue, NULL));
        CHECK_EQ(EXS_EVT_SENDFILE, exs_kit_event(queue).exs_evt_type);
        (void)exs_kit_expect(queue, EXS_EVT_CLOSE, 0);
        CHECK_STARTS(exs_close(pair.server, EXS_BLOCK | EXS_DONTLINGER, EXS_QHANDLE_INVALID, NULL));
        CHECK_STARTS(exs_blocking_close(pair.listener));
    }
}

/* ---- Packets -------------------------------------------------------------------------------- */

/* Each element is one packet, even an empty one. */
static void test_packets(void)
{
    exs_xferfile_t vector[3] = {{EXS_PATHVEC, {.exs_pathv = {path, 0, 300000}}},
                                {EXS_IOVEC, {{NULL, 0, EXS_MHANDLE_UNREGISTERED}}},
                                {EXS_IOVEC, {{content + 5, 10, EXS_MHANDLE_UNREGISTERED}}}};
    char *buffer = malloc(FILE_OCTETS);
    struct exs_pair pair;

    CHECK(buffer);
    exs_pair_open(&pair, SOCK_SEQPACKET);
    CHECK_STARTS(exs_sendfile(pair.client, vector, 3, EXS_UNSIGNALED, queue, NULL));
    CHECK_RESULT(300000, exs_read(pair.server, buffer, FILE_OCTETS));
    exs_kit_compare(buffer, 300000, 0);
    CHECK_RESULT(0, exs_read(pair.server, buffer, FILE_OCTETS));
    CHECK_RESULT(10, exs_read(pair.server, buffer, FILE_OCTETS));
    exs_kit_compare(buffer, 10, 5);
    exs_kit_empty(queue);
    exs_pair_close(&pair);
    free(buffer);
}

int main(void)
{
    int fd;

    content = malloc(FILE_OCTETS + 1000);
    CHECK(content);
    exs_kit_fill(content, FILE_OCTETS + 1000, 0);
    fd = make_file(FILE_OCTETS);
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    CHECK_STARTS(exs_init(EXS_VERSION1));
    queue = exs_qcreate(16);
    test_order(false);
    test_order(true);
    test_close();
    test_huge();
    test_sealed();
    test_sealed_packet();
    test_cut();
    test_replaced(false);
    test_replaced(true);
    test_cancel(false);
    test_cancel(true);
    test_close_last();
    test_packets();
    CHECK_STARTS(exs_qdelete(queue));
    (void)close(fd);
    free(content);
    return 0;
}
