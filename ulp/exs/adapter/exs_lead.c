/* SPDX-License-Identifier: BSD-2-Clause */
#include "adapter/exs_lead.h"

#include "adapter/exs_thread.h"

#include <errno.h>
#include <itx_api.h>
#include <pthread.h>
#include <time.h>

#ifdef __SANITIZE_ADDRESS__
void __asan_handle_no_return(void);
#endif

#define BATCH       32u
#define REST_NS     1000000 /* the library's thread leads after so long without a leader */
#define LONG_REST   4u      /* times as long where the program leads as often as this: */
#define BUSY_TURNS  64u     /* turns in a rest */
#define NS_PER_S    UINT64_C(1000000000)
#define LOOKLESS    4u
#define VAIN_POLLS  8u  /* non-waiting polls in vain after which the thread should lead */
#define ALONE_TURNS 8u  /* turns of one EVD in a row, without a sleep, after which it is alone */
#define ALONE_POLLS 32u /* one in this number of polls asks the AEVD although an EVD is alone */

enum {
    CLOSED,
    NOBODY,
    PROGRAM,
    SERVICE
};

static it_evd_handle_t aevd; /* both immutable once the adapter is open */
static it_evd_handle_t kick_evd;
static pthread_t service;

/*
 * If only one EVD has had completions for a while, the leader polls that EVD in place of the AEVD.
 * As long as it does, the EVD is disabled: its events are not passed on to the AEVD. Used by the
 * leader only.
 */
static bool may_be_alone;     /* immutable like the above */
static it_evd_handle_t alone; /* NULL: none */
static struct exs_source *alone_source;
static it_evd_handle_t latest;
static unsigned latest_turns;
static unsigned alone_polls;

static _Atomic int leader;
static _Atomic unsigned turns; /* times that threads of the program have taken the lead */
static _Atomic unsigned vain;
static _Atomic bool asleep; /* the leader sleeps in the AEVD */
static _Atomic bool stop;   /* SERVICE shall give up the lead */
static _Atomic bool parked; /* the library's thread waits for the lead */
static _Atomic bool handed; /* the lead has been given to the library's thread */
static sem_t service_wake;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* innermost; guards the lists */
static struct exs_sleeper *candidates;
static _Atomic unsigned candidate_count;
static struct exs_errand *errands; /* newest first */
static _Atomic bool any_errand;

/* Wakes the leader, or keeps it from falling asleep. */
static void kick(void)
{
    /* If the queue is full, its events wake the leader anyway. */
    (void)it_evd_post_se(kick_evd, NULL);
}

/* ---- Taking and giving ---------------------------------------------------------------------- */

bool exs_lead_take(bool waits)
{
    int expected = NOBODY;

    if (atomic_compare_exchange_strong(&leader, &expected, PROGRAM)) {
        (void)atomic_fetch_add_explicit(&turns, 1, memory_order_relaxed);
        atomic_store_explicit(&vain, 0, memory_order_relaxed);
        return true;
    }
    if (expected == SERVICE &&
        (waits || atomic_fetch_add_explicit(&vain, 1, memory_order_relaxed) >= VAIN_POLLS) &&
        !atomic_exchange(&stop, true) && atomic_load(&asleep))
        kick();
    return false;
}

static void promote(void)
{
    struct exs_sleeper *next;

    if (atomic_load(&candidate_count) == 0)
        return;
    (void)pthread_mutex_lock(&lock);
    next = candidates;
    if (next) {
        candidates = next->next;
        next->candidate = false;
        (void)atomic_fetch_sub(&candidate_count, 1);
        (void)sem_post(&next->wake);
    }
    (void)pthread_mutex_unlock(&lock);
}

void exs_lead_give(void)
{
    atomic_store(&leader, NOBODY);
    promote();
    if (atomic_load(&parked) && atomic_exchange(&parked, false))
        (void)sem_post(&service_wake);
}

void exs_lead_leave(void)
{
    atomic_store(&handed, true);
    exs_lead_give();
    (void)sem_post(&service_wake);
}

/* ---- Errands -------------------------------------------------------------------------------- */

void exs_lead_errand(struct exs_errand *errand)
{
    (void)pthread_mutex_lock(&lock);
    errand->next = errands;
    errands = errand;
    (void)pthread_mutex_unlock(&lock);
    atomic_store(&any_errand, true);
    if (atomic_load(&asleep))
        kick();
}

bool exs_lead_sleeps(void)
{
    return atomic_load_explicit(&asleep, memory_order_relaxed);
}

/* Runs the errands in the order in which they were added. */
static bool run_errands(void)
{
    struct exs_errand *list = NULL;
    struct exs_errand *errand;

    if (!atomic_load_explicit(&any_errand, memory_order_relaxed))
        return false;
    atomic_store(&any_errand, false);
    (void)pthread_mutex_lock(&lock);
    while ((errand = errands) != NULL) {
        errands = errand->next;
        errand->next = list;
        list = errand;
    }
    (void)pthread_mutex_unlock(&lock);
    while ((errand = list) != NULL) {
        list = errand->next;
        errand->run(errand);
    }
    return true;
}

/* ---- An EVD that is alone ------------------------------------------------------------------- */

static void enable(it_evd_handle_t evd, it_boolean_t enabled)
{
    const it_evd_param_t params = {.evd_enabled = enabled};

    (void)it_evd_modify(evd, IT_EVD_PARAM_ENABLED, &params);
}

/* The AEVD has all events again. */
static void rejoin(void)
{
    if (alone)
        enable(alone, IT_TRUE);
    alone = latest = NULL;
}

void exs_lead_forget_evd(it_evd_handle_t evd)
{
    if (evd == alone || evd == latest)
        rejoin();
}

static bool is_completion(const it_event_t *event)
{
    return (event->event_number & IT_EVENT_STREAM_MASK) == IT_DTO_EVENT_STREAM &&
           event->dto_cmpl.dto_status == IT_DTO_SUCCESS;
}

/* The AEVD had these events, and no others. */
static void learn(const it_event_t *events, size_t count)
{
    it_evd_handle_t evd = events->any.evd;
    it_context_t context;

    if (evd != latest || alone)
        rejoin();
    if (!may_be_alone || events[count - 1].any.evd != evd || !is_completion(events))
        return;
    latest_turns = latest ? latest_turns + 1 : 1;
    latest = evd;
    if (latest_turns < ALONE_TURNS)
        return;
    if (it_get_consumer_context((it_handle_t)evd, &context) != IT_SUCCESS)
        return;
    alone = evd;
    alone_source = context.ptr;
    alone_polls = 0;
    enable(alone, IT_FALSE);
}

/* ---- Events --------------------------------------------------------------------------------- */

static void dispatch(const it_event_t *events, size_t count)
{
    it_context_t context;
    size_t same;

    for (; count > 0; events += same, count -= same) {
        for (same = 1; same < count && events[same].any.evd == events->any.evd; same++) {
        }
        if (events->any.evd != kick_evd &&
            it_get_consumer_context((it_handle_t)events->any.evd, &context) == IT_SUCCESS)
            ((struct exs_source *)context.ptr)->take(context.ptr, events, same);
    }
}

static bool take_events(void)
{
    it_event_t events[BATCH];
    size_t count;

    if (alone && ++alone_polls % ALONE_POLLS != 0) {
        if (itx_evd_dequeue_n(alone, BATCH, events, &count) != IT_SUCCESS)
            return false;
        /* The next poll asks the AEVD: mostly it comes before the peer's answer. */
        alone_polls = ALONE_POLLS - 1;
        alone_source->take(alone_source, events, count);
        return true;
    }
    if (itx_evd_dequeue_n(aevd, BATCH, events, &count) != IT_SUCCESS)
        return false;
    learn(events, count);
    dispatch(events, count);
    return true;
}

/*
 * uiwarp reads its sockets only when it finds the EVDs empty. Completions of this side's Sends may
 * be so frequent that they never are. So after LOOKLESS rounds with events this function asks a
 * second time.
 */
bool exs_lead_poll(void)
{
    static unsigned without_a_look; /* used by the leader only */

    if (!take_events()) {
        without_a_look = 0;
        return run_errands();
    }
    if (++without_a_look >= LOOKLESS && !take_events()) {
        without_a_look = 0;
        (void)run_errands();
    }
    return true;
}

void exs_lead_look(void)
{
    if (!exs_lead_take(false))
        return;
    (void)exs_lead_poll();
    exs_lead_give();
}

/*
 * A thread that needs the leader first publishes its request and then checks whether the leader
 * sleeps.
 */
static bool is_needed(void)
{
    return atomic_load(&any_errand) || (atomic_load(&leader) == SERVICE && atomic_load(&stop));
}

int exs_lead_sleep(uint64_t most_us)
{
    it_event_t events[BATCH];
    it_status_t status = IT_SUCCESS;
    size_t count = 0;

    if (run_errands())
        return 0;
    rejoin();
    atomic_store(&asleep, true);
    if (!is_needed())
        status = itx_evd_wait_n(aevd, most_us, BATCH, events, &count, NULL);
    atomic_store_explicit(&asleep, false, memory_order_relaxed);
    if (status == IT_SUCCESS)
        dispatch(events, count);
    switch ((int)status) {
    case IT_SUCCESS:
        return 0;
    case IT_ERR_INTERRUPT:
        return EINTR;
    case IT_ERR_TIMEOUT_EXPIRED:
        return ETIMEDOUT;
    default:
        return EIO;
    }
}

/* ---- Sleepers ------------------------------------------------------------------------------- */

void exs_sleeper_start(struct exs_sleeper *sleeper)
{
    (void)sem_init(&sleeper->wake, 0, 0);
    atomic_init(&sleeper->leads, false);
    sleeper->candidate = false;
}

void exs_sleeper_wake(struct exs_sleeper *sleeper)
{
    (void)sem_post(&sleeper->wake);
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load(&sleeper->leads))
        kick();
}

int exs_sleeper_lead(struct exs_sleeper *sleeper, uint64_t most_us)
{
    int error = 0;

    atomic_store(&sleeper->leads, true);
    if (sem_trywait(&sleeper->wake) != 0)
        error = exs_lead_sleep(most_us);
    atomic_store(&sleeper->leads, false);
    return error;
}

static void enlist(struct exs_sleeper *sleeper)
{
    struct exs_sleeper **link = &candidates;

    (void)pthread_mutex_lock(&lock);
    while (*link)
        link = &(*link)->next;
    *link = sleeper;
    sleeper->next = NULL;
    sleeper->candidate = true;
    (void)atomic_fetch_add(&candidate_count, 1);
    (void)pthread_mutex_unlock(&lock);
}

static void delist(void *argument)
{
    struct exs_sleeper *sleeper = argument;
    struct exs_sleeper **link = &candidates;

    (void)pthread_mutex_lock(&lock);
    if (sleeper->candidate) {
        while (*link != sleeper)
            link = &(*link)->next;
        *link = sleeper->next;
        sleeper->candidate = false;
        (void)atomic_fetch_sub(&candidate_count, 1);
    }
    (void)pthread_mutex_unlock(&lock);
}

/* AddressSanitizer would keep its marks for the stack frames that a cancelled thread leaves. */
static void leave_frames(void *unused)
{
    (void)unused;
#ifdef __SANITIZE_ADDRESS__
    __asan_handle_no_return();
#endif
}

void exs_test_cancel(int cancel)
{
    int state;

    if (cancel != PTHREAD_CANCEL_ENABLE)
        return;
    pthread_cleanup_push(leave_frames, NULL);
    (void)pthread_setcancelstate(cancel, &state);
    pthread_testcancel();
    (void)pthread_setcancelstate(state, NULL);
    pthread_cleanup_pop(0);
}

static int sleep_cancellable(struct exs_sleeper *sleeper, uint64_t until_ns, int cancel)
{
    const struct timespec until = {.tv_sec = (time_t)(until_ns / NS_PER_S),
                                   .tv_nsec = (long)(until_ns % NS_PER_S)};
    volatile int error = 0;
    int state;

    pthread_cleanup_push(leave_frames, NULL);
    (void)pthread_setcancelstate(cancel, &state);
    if (until_ns == UINT64_MAX ? sem_wait(&sleeper->wake)
                               : sem_clockwait(&sleeper->wake, CLOCK_MONOTONIC, &until))
        error = errno;
    (void)pthread_setcancelstate(state, NULL);
    pthread_cleanup_pop(0);
    return error;
}

static int sleep_as_candidate(struct exs_sleeper *sleeper, uint64_t until_ns, int cancel)
{
    int error;

    enlist(sleeper);
    pthread_cleanup_push(delist, sleeper);
    error = atomic_load(&leader) == NOBODY ? 0 : sleep_cancellable(sleeper, until_ns, cancel);
    pthread_cleanup_pop(1);
    return error;
}

int exs_sleeper_sleep(struct exs_sleeper *sleeper, uint64_t until_ns, bool would_lead, int cancel)
{
    return would_lead ? sleep_as_candidate(sleeper, until_ns, cancel)
                      : sleep_cancellable(sleeper, until_ns, cancel);
}

/* ---- The library's thread ------------------------------------------------------------------- */

static void lead(void)
{
    int expected = NOBODY;

    if (!atomic_compare_exchange_strong(&leader, &expected, SERVICE))
        return;
    atomic_store(&vain, 0);
    while (!atomic_load(&stop) && exs_lead_sleep(IT_TIMEOUT_INFINITE) != EIO) {
    }
    atomic_store(&stop, false);
    exs_lead_give();
}

/* A thread of the program has led for a while, or sleeps in the lead. */
static void park(void)
{
    atomic_store(&parked, true);
    if (atomic_load(&leader) == PROGRAM)
        (void)sem_wait(&service_wake);
    atomic_store(&parked, false);
}

/*
 * Returns the end of the next rest. Each look at the turns costs the program's thread a switch on
 * its processor, so there are fewer of them while it leads all the time.
 */
static struct timespec rest_end(unsigned turns_before)
{
    bool busy = atomic_load(&turns) - turns_before >= BUSY_TURNS;
    struct timespec end;

    (void)clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_nsec += REST_NS * (busy ? LONG_REST : 1);
    if (end.tv_nsec >= (long)NS_PER_S) {
        end.tv_nsec -= (long)NS_PER_S;
        end.tv_sec++;
    }
    return end;
}

static void rest(void)
{
    unsigned seen = atomic_load(&turns);
    unsigned before = seen;
    struct timespec end;
    unsigned now;

    while (!atomic_exchange(&handed, false)) {
        end = rest_end(before);
        (void)sem_clockwait(&service_wake, CLOCK_MONOTONIC, &end);
        now = atomic_load(&turns);
        if (now == seen && atomic_load(&leader) == NOBODY)
            return;
        if (now == seen)
            park();
        before = seen;
        seen = now;
    }
}

static void *serve(void *unused)
{
    (void)unused;
    for (;;) {
        lead();
        rest();
    }
    return NULL;
}

int exs_lead_start(it_evd_handle_t all, it_evd_handle_t kicks, bool alone_allowed)
{
    int error;

    aevd = all;
    kick_evd = kicks;
    may_be_alone = alone_allowed;
    (void)sem_init(&service_wake, 0, 0);
    atomic_store(&leader, NOBODY);
    error = exs_thread_start(&service, serve, NULL);
    if (error != 0)
        atomic_store(&leader, CLOSED);
    return error;
}

int exs_lead_pin(const cpu_set_t *cpus)
{
    return pthread_setaffinity_np(service, sizeof(*cpus), cpus);
}

void exs_lead_forget(void)
{
    (void)pthread_mutex_init(&lock, NULL);
    atomic_store(&leader, CLOSED);
    atomic_store(&asleep, false);
    atomic_store(&stop, false);
    atomic_store(&parked, false);
    atomic_store(&handed, false);
    atomic_store(&candidate_count, 0);
    atomic_store(&any_errand, false);
    candidates = NULL;
    errands = NULL;
    alone = latest = NULL;
}
