/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who polls. A thread that sends something long polls once in its call, if nobody leads: what waits
 * for the leader is done by this thread. One that sends something short does not. A file that is
 * sent by a blocking call polls all the time, if the socket says so.
 */
#include "exs_kit.h"

#include "support/time_limit.h"

#include "adapter/exs_lead.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define LONG        ((size_t)512 << 10)
#define SHORT       (LONG - 1)
#define TURNS       50
#define LOOKS       1000000u           /* longer than a wait polls before it sleeps */
#define FILE_OCTETS ((size_t)16 << 20) /* more than sockets and rings hold */

static exs_qhandle_t queue;
static exs_mhandle_t handle;
static char *memory; /* LONG octets to send, as many to receive */

struct note {
    struct exs_errand errand; /* its first member */
    pthread_t by;
    _Atomic bool done;
};

static void sign(struct exs_errand *errand)
{
    struct note *note = (struct note *)errand;

    note->by = pthread_self();
    atomic_store(&note->done, true);
}

/* The library's thread leads only a millisecond after the last leader. */
static void free_lead(void)
{
    while (!exs_lead_take(true))
        (void)sched_yield();
    exs_lead_give();
}

static void wait_done(struct note *note)
{
    while (!atomic_load(&note->done))
        if (exs_lead_take(true)) {
            (void)exs_lead_poll();
            exs_lead_give();
        } else
            (void)sched_yield();
}

/* Returns true if this thread does work of the leader during a send of so many octets. */
static bool looks(const struct exs_pair *pair, size_t length)
{
    struct note note = {.errand.run = sign};
    bool here;

    free_lead();
    exs_lead_errand(&note.errand);
    CHECK_STARTS(exs_send(pair->client, memory, length, 0, queue, NULL, handle));
    here = atomic_load(&note.done) && pthread_equal(note.by, pthread_self());
    wait_done(&note);
    CHECK_STARTS(exs_recv(pair->server, memory + LONG, length, MSG_WAITALL, queue, NULL, handle));
    for (int i = 0; i < 2; i++)
        CHECK_EQ(0, exs_kit_event(queue).exs_evt_errno);
    return here;
}

/* ---- A file --------------------------------------------------------------------------------- */

struct sender {
    pthread_t thread;
    int fd;
    int file;
};

static void *send_file(void *argument)
{
    const struct sender *sender = argument;
    exs_xferfile_t whole = {EXS_FDVEC, {.exs_fdv = {sender->file, 0, 0}}};

    CHECK_RESULT((long)FILE_OCTETS,
                 exs_sendfile(sender->fd, &whole, 1, EXS_BLOCK, EXS_QHANDLE_INVALID, NULL));
    return NULL;
}

/* Returns true if the sender leads, and is awake in all looks. */
static bool stays_awake(const struct sender *sender)
{
    struct note note = {.errand.run = sign};
    bool sleeps = false;

    exs_lead_errand(&note.errand);
    while (!atomic_load(&note.done))
        (void)sched_yield();
    for (unsigned i = 0; i < LOOKS && !sleeps; i++)
        sleeps = exs_lead_sleeps();
    return !sleeps && pthread_equal(note.by, sender->thread);
}

static void set_busy(int fd)
{
    CHECK(exs_fcntl(fd, EXS_F_SETFD, EXS_FD_BUSYPOLL) >= 0);
}

static void test_file(void)
{
    time_t limit = time(NULL) + time_limit_ms(20000) / 1000;
    struct sender sender = {.file = memfd_create("file", MFD_CLOEXEC)};
    struct exs_pair pair;
    size_t octets = 0;

    CHECK_STARTS(ftruncate(sender.file, (off_t)FILE_OCTETS));
    exs_pair_open_with(&pair, SOCK_STREAM, set_busy);
    sender.fd = pair.client;
    CHECK_EQ(0, pthread_create(&sender.thread, NULL, send_file, &sender));
    /* In the first turns the file may still be on its way to full sockets. */
    for (int turns = 0; turns < TURNS; turns = stays_awake(&sender) ? turns + 1 : 0)
        CHECK(time(NULL) <= limit);
    while (octets < FILE_OCTETS) {
        ssize_t got = exs_read(pair.server, memory, LONG);

        CHECK(got > 0);
        octets += (size_t)got;
    }
    CHECK_EQ(0, pthread_join(sender.thread, NULL));
    exs_pair_close(&pair);
    (void)close(sender.file);
}

/* ---- A send --------------------------------------------------------------------------------- */

static void test_sends(void)
{
    time_t limit = time(NULL) + time_limit_ms(20000) / 1000;
    struct exs_pair pair;

    exs_pair_open(&pair, SOCK_STREAM);
    for (int i = 0; i < TURNS; i++)
        CHECK(!looks(&pair, SHORT));
    /* On a busy machine the library's thread may be first, or there are events before errands. */
    while (!looks(&pair, LONG))
        CHECK(time(NULL) <= limit);
    exs_pair_close(&pair);
}

int main(void)
{
    memory = calloc(2, LONG);
    CHECK(memory != NULL);
    CHECK_STARTS(exs_init(EXS_VERSION1));
    queue = exs_qcreate(16);
    handle = exs_mregister(memory, 2 * LONG, 0);
    CHECK(queue != EXS_QHANDLE_INVALID && handle != EXS_MHANDLE_INVALID);
    test_sends();
    test_file();
    CHECK_STARTS(exs_mderegister(handle, 0));
    CHECK_STARTS(exs_qdelete(queue));
    free(memory);
    return 0;
}
