/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who does the work of connections: one thread at a time, the leader. A thread of the program that
 * waits leads, so a transfer changes no thread; the library's own thread leads when none has waited
 * for a millisecond. The leader may do what others must not see half done: free connections.
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

/* Takes events of an EVD that belongs to the adapter's AEVD and has this as consumer context. */
struct exs_source {
    void (*take)(struct exs_source *source, const it_event_t *events, size_t count);
};

/* What the leader does once there are no events any more. */
struct exs_errand {
    void (*run)(struct exs_errand *errand);
    struct exs_errand *next;
};

/* A thread that waits for something. */
struct exs_sleeper {
    sem_t wake;
    _Atomic bool leads; /* it sleeps as the leader */
    bool candidate;     /* with the candidates' lock, as the next */
    struct exs_sleeper *next;
};

/* With the adapter's opening. 0 or errno. */
int exs_lead_start(it_evd_handle_t aevd, it_evd_handle_t kick_evd);

/*
 * False: another one leads, or nothing is open. If that is the library's thread it is asked to
 * stop, unless this caller will not wait anyway and has not come often.
 */
bool exs_lead_take(bool waits);
/* A sleeper that waits for the lead has it next. To be called by the leader, as all below. */
void exs_lead_give(void);
/* Nothing happens: the library's thread goes on. */
void exs_lead_leave(void);

/* Takes the events that there are. True: there were some. */
bool exs_lead_poll(void);
/* The same, but sleeps until there are some. 0, EINTR, ETIMEDOUT, or EIO: the IA has failed. */
int exs_lead_sleep(uint64_t most_us);

/* ---- From any thread ------------------------------------------------------------------------ */

void exs_sleeper_start(struct exs_sleeper *sleeper);
/* Wakes the thread, or has it not fall asleep the next time. */
void exs_sleeper_wake(struct exs_sleeper *sleeper);
/*
 * Sleeps until it is woken; one who would lead also until the lead is free. UINT64_MAX: no limit. A
 * cancellation point, if cancel, a state of cancellation, says so. 0, EINTR or ETIMEDOUT.
 */
int exs_sleeper_sleep(struct exs_sleeper *sleeper, uint64_t until_ns, bool would_lead, int cancel);
/* The same for the leader. */
int exs_sleeper_lead(struct exs_sleeper *sleeper, uint64_t most_us);

/* A cancellation point, if the state says so. */
void exs_test_cancel(int cancel);

void exs_lead_errand(struct exs_errand *errand);

/* Processors of the library's thread. 0 or errno. */
int exs_lead_pin(const cpu_set_t *cpus);

void exs_lead_forget(void);

#endif /* ITAPI_ULP_EXS_ADAPTER_EXS_LEAD_H */
