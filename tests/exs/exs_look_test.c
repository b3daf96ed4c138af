/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A thread that sends something long polls once in its call, if nobody leads: what waits for the
 * leader is done by this thread. One that sends something short does not.
 */
#include "exs_kit.h"

#include "support/time_limit.h"

#include "adapter/exs_lead.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#define LONG  ((size_t)512 << 10)
#define SHORT (LONG - 1)
#define TURNS 50

static exs_qhandle_t queue;
static exs_mhandle_t handle;
static char *memory;

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
    CHECK_STARTS(exs_recv(pair->server, memory, length, MSG_WAITALL, queue, NULL, handle));
    for (int i = 0; i < 2; i++)
        CHECK_EQ(0, exs_kit_event(queue).exs_evt_errno);
    return here;
}

int main(void)
{
    time_t limit = time(NULL) + time_limit_ms(20000) / 1000;
    struct exs_pair pair;

    memory = calloc(1, LONG);
    CHECK(memory != NULL);
    CHECK_STARTS(exs_init(EXS_VERSION1));
    queue = exs_qcreate(16);
    handle = exs_mregister(memory, LONG, 0);
    CHECK(queue != EXS_QHANDLE_INVALID && handle != EXS_MHANDLE_INVALID);
    exs_pair_open(&pair, SOCK_STREAM);
    for (int i = 0; i < TURNS; i++)
        CHECK(!looks(&pair, SHORT));
    /* On a busy machine the library's thread may be first, or there are events before errands. */
    while (!looks(&pair, LONG))
        CHECK(time(NULL) <= limit);
    exs_pair_close(&pair);
    CHECK_STARTS(exs_mderegister(handle, 0));
    CHECK_STARTS(exs_qdelete(queue));
    free(memory);
    return 0;
}
