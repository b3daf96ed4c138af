/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The lead: one thread at a time, the leader, does the work of all connections. A thread of the
 * program that waits takes the lead, so a transfer needs no thread switch. The library's own thread
 * leads when no thread has waited for a millisecond. Work that other threads must not see half
 * done, such as freeing connections, is left to the leader.
 */
#ifndef ITAPI_ULP_EXS_ADAPTER_EXS_LEAD_H
#define ITAPI_ULP_EXS_ADAPTER_EXS_LEAD_H

#include <it_api.h>

#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Takes the events of one EVD, which belongs to the adapter's AEVD and has this as its consumer
 * context.
 */
struct exs_source {
    void (*take)(struct exs_source *source, const it_event_t *events, size_t count);
};

/* Work for the leader, which does it when there are no events any more. */
struct exs_errand {
    void (*run)(struct exs_errand *errand);
    struct exs_errand *next;
};

/* A thread that waits for something. */
struct exs_sleeper {
    sem_t wake;
    _Atomic bool leads; /* it sleeps as the leader */
    bool candidate;     /* it is in the list of candidates; guarded by that list's lock */
    struct exs_sleeper *next;
};

/*
 * Called when the adapter opens. alone_allowed: if only one connection is busy, its EVD may be
 * polled in place of the AEVD. Returns 0 or errno.
 */
int exs_lead_start(it_evd_handle_t aevd, it_evd_handle_t kick_evd, bool alone_allowed);

/*
 * Takes the lead. Returns false if another thread leads, or nothing is open. If the library's
 * thread leads, it is asked to stop, unless this caller does not wait and has called only a few
 * times.
 */
bool exs_lead_take(bool waits);
/*
 * Gives the lead to a sleeper that waits for it. Only the leader may call this and the functions
 * below.
 */
void exs_lead_give(void);
/* Gives up the lead because there are no events; the library's thread takes it. */
void exs_lead_leave(void);

/* Takes the queued events. Returns true if there were any. */
bool exs_lead_poll(void);
/*
 * The same, but sleeps until there are events. Returns 0, EINTR, ETIMEDOUT, or EIO if the IA has
 * failed.
 */
int exs_lead_sleep(uint64_t most_us);
/* The EVD, which has had completions, is about to be freed. */
void exs_lead_forget_evd(it_evd_handle_t evd);

/* ---- From any thread ------------------------------------------------------------------------ */

void exs_sleeper_start(struct exs_sleeper *sleeper);
/* Wakes the thread, or keeps it from falling asleep the next time. */
void exs_sleeper_wake(struct exs_sleeper *sleeper);
/*
 * Sleeps until the sleeper is woken; with would_lead also until the lead is free. UINT64_MAX: no
 * limit. A cancellation point if the cancellation state cancel allows it. Returns 0, EINTR or
 * ETIMEDOUT.
 */
int exs_sleeper_sleep(struct exs_sleeper *sleeper, uint64_t until_ns, bool would_lead, int cancel);
/* The same for the leader, which goes on taking events. */
int exs_sleeper_lead(struct exs_sleeper *sleeper, uint64_t most_us);

/* A cancellation point if the cancellation state cancel allows it. */
void exs_test_cancel(int cancel);

void exs_lead_errand(struct exs_errand *errand);
/* Returns true if the leader sleeps, so that an errand would have to wake it. */
bool exs_lead_sleeps(void);

/*
 * Polls once, unless a thread leads. Without this, a program that sends for milliseconds before it
 * waits for events would lose the lead to the library's thread each time, and take it back
 * afterwards.
 */
void exs_lead_look(void);

/* Pins the library's thread to these processors. Returns 0 or errno. */
int exs_lead_pin(const cpu_set_t *cpus);

void exs_lead_forget(void);

#endif /* ITAPI_ULP_EXS_ADAPTER_EXS_LEAD_H */
