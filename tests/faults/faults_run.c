/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * faults_run - counts the calls of the scenario, then lets each of them fail, each in a new
 * process.
 *
 * faults_run [--firsts COUNT] [--sample COUNT] [--seed NUMBER] [--only CALL] [--jobs COUNT]
 *     the first calls of each place, and a sample
 * faults_run --all [--only CALL] [--jobs COUNT]
 *     all; the same with ITAPI_FAULTS_ALL set
 * faults_run --one alone|beside CALL KIND PLACE NTH [OCTETS]
 *     runs one case and prints its messages
 */
#include "faults/faults_scenario.h"
#include "support/time_limit.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

struct kind {
    const char *name;
    int error;
    unsigned repeat;
    size_t octets;
};

#define STORM          200u
#define RECEIVES_FIRST 4u   /* in rounds that go on differently */
#define NTH_MAX        400u /* of one place; a busy machine has any number of waits */

#define ONCE(error)                                                                                \
    {                                                                                              \
#error, error, 1, 0                                                                        \
    }
#define STORM_OF(error)                                                                            \
    {                                                                                              \
#error " storm", error, STORM, 0                                                           \
    }
#define FOREVER_OF(error)                                                                          \
    {                                                                                              \
#error " for ever", error, FAULT_FOREVER, 0                                                \
    }
#define SHORT(octets)                                                                              \
    {                                                                                              \
        "short " #octets, FAULT_SHORT, 1, octets                                                   \
    }

#define KINDS 12

/* The failures of each call that the manual pages and the kernel allow. */
static const struct {
    const char *name;
    struct kind kinds[KINDS];
} calls[FAULT_CALLS] = {
    [FAULT_HEAP] = {"heap", {ONCE(ENOMEM), FOREVER_OF(ENOMEM)}},
    [FAULT_THREAD] = {"thread", {ONCE(EAGAIN)}},
    [FAULT_SOCKET] = {"socket", {ONCE(EMFILE), ONCE(ENOBUFS), FOREVER_OF(EMFILE)}},
    [FAULT_BIND] = {"bind", {ONCE(EADDRINUSE), ONCE(ENOMEM)}},
    [FAULT_LISTEN] = {"listen", {ONCE(EADDRINUSE)}},
    [FAULT_CONNECT] = {"connect",
                       {ONCE(ECONNREFUSED), ONCE(ENETUNREACH), ONCE(EADDRNOTAVAIL), ONCE(EINTR)}},
    [FAULT_ACCEPT] = {"accept",
                      {ONCE(EMFILE), ONCE(ENOBUFS), ONCE(ENOMEM), ONCE(EAGAIN), ONCE(EINTR),
                       ONCE(ECONNABORTED), STORM_OF(EINTR)}},
    [FAULT_PEER_NAME] = {"getpeername", {ONCE(ENOTCONN)}},
    [FAULT_SET_OPTION] = {"setsockopt", {ONCE(ENOMEM), ONCE(EINVAL)}},
    [FAULT_GET_OPTION] = {"getsockopt", {ONCE(ENOBUFS)}},
    [FAULT_SEND] = {"send",
                    {ONCE(EAGAIN), STORM_OF(EAGAIN), ONCE(EINTR), STORM_OF(EINTR), ONCE(ECONNRESET),
                     ONCE(EPIPE), ONCE(ENOBUFS), ONCE(ENOMEM), ONCE(ETIMEDOUT), SHORT(1), SHORT(19),
                     SHORT(1000)}},
    [FAULT_RECEIVE] = {"receive",
                       {ONCE(EAGAIN),
                        STORM_OF(EAGAIN),
                        ONCE(EINTR),
                        STORM_OF(EINTR),
                        ONCE(ECONNRESET),
                        ONCE(ENOMEM),
                        ONCE(ETIMEDOUT),
                        {"end", FAULT_END, 1, 0},
                        SHORT(1),
                        SHORT(19),
                        SHORT(1000)}},
    [FAULT_SHUTDOWN] = {"shutdown", {ONCE(ENOTCONN)}},
    [FAULT_CLOSE] = {"close", {ONCE(EINTR), ONCE(EIO)}},
    [FAULT_DUPLICATE] = {"duplicate", {ONCE(EMFILE)}},
    [FAULT_POLL_SET] = {"poll set", {ONCE(EMFILE), ONCE(ENOMEM)}},
    [FAULT_POLL_ADD] = {"poll add", {ONCE(ENOMEM), ONCE(ENOSPC)}},
    [FAULT_POLL_WAIT] = {"poll wait", {ONCE(EINTR), STORM_OF(EINTR)}},
    [FAULT_EVENTFD] = {"eventfd", {ONCE(EMFILE), ONCE(ENOMEM)}},
    [FAULT_READ] = {"read", {ONCE(EAGAIN), ONCE(EINTR)}},
    [FAULT_TIMERFD] = {"timerfd", {ONCE(EMFILE)}},
    [FAULT_RANDOM] = {"random", {ONCE(EINTR), ONCE(ENOSYS)}},
    [FAULT_ADDRESSES] = {"addresses", {ONCE(ENOMEM), ONCE(EMFILE)}},
    [FAULT_OPEN] = {"open", {ONCE(EMFILE), ONCE(ENOENT)}},
    [FAULT_MAP] = {"mmap", {ONCE(ENOMEM)}},
    [FAULT_PAIR] = {"pair", {ONCE(EMFILE)}},
    [FAULT_FILE] = {"file", {ONCE(EIO), ONCE(ENOSPC)}},
    [FAULT_DATAGRAM] = {"datagram", {ONCE(EAGAIN), ONCE(EINTR), ONCE(ENOBUFS), ONCE(ECONNREFUSED)}},
};

static const char *const mode_names[FAULT_MODES] = {"alone", "beside"};

static const char every_length[] = "short always";

struct fault_case {
    enum fault_mode mode;
    struct fault_plan plan;
    const char *kind;
};

#define POOLED 16

/* The results of a child for its parent. */
struct outcome {
    struct fault_record record;
    struct fault_findings findings;
    struct find_resources resources; /* after the last run */
    const void *pooled[POOLED];      /* of a reference: places whose memory grows without faults */
    unsigned pooled_count;
    char stage[64];
};

static struct outcome *reference[FAULT_MODES];
static struct fault_case *cases;
static size_t case_count;

static bool is_pooled(const void *caller)
{
    for (enum fault_mode mode = 0; mode < FAULT_MODES; mode++) {
        for (unsigned i = 0; reference[mode] && i < reference[mode]->pooled_count; i++) {
            if (reference[mode]->pooled[i] == caller)
                return true;
        }
    }
    return false;
}

static void *shared(size_t octets)
{
    void *memory = mmap(NULL, octets, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED) {
        perror("faults_run: mmap");
        exit(2);
    }
    return memory;
}

/* ---- One case -------------------------------------------------------------------------------- */

static struct outcome *outcome; /* of this process */

static void on_alarm(int signal)
{
    (void)signal;
    (void)snprintf(outcome->stage, sizeof(outcome->stage), "%s", scenario_stage());
    abort();
}

/* Returns the object and the offset in it, in the form that addr2line takes. */
static const char *place(const void *caller)
{
    static char text[256];
    Dl_info in;

    if (!caller || dladdr(caller, &in) == 0)
        return "anywhere";
    (void)snprintf(text, sizeof(text), "%s+0x%zx", strrchr(in.dli_fname, '/') + 1,
                   (size_t)((const char *)caller - (const char *)in.dli_fbase) - 1);
    return text;
}

static const struct fault_site *heap_site(const struct fault_record *record, const void *caller)
{
    for (unsigned i = 0; i < record->site_count; i++) {
        if (record->sites[i].caller == caller && record->sites[i].call == FAULT_HEAP)
            return &record->sites[i];
    }
    return NULL;
}

/* Returns whether the site has more live allocations than in `with` and `more` together. */
static bool is_more(const struct fault_site *site, const struct fault_record *with, int more)
{
    const struct fault_site *allowed = heap_site(with, site->caller);

    return site->call == FAULT_HEAP && site->live > more + (allowed ? allowed->live : 0);
}

static bool has_more(const struct fault_record *with, int more)
{
    faults_live(&outcome->record);
    for (unsigned i = 0; i < outcome->record.site_count; i++) {
        if (is_more(&outcome->record.sites[i], with, more) &&
            !is_pooled(outcome->record.sites[i].caller))
            return true;
    }
    return false;
}

/* Threads of the library may still free something. */
static bool has_more_for_long(const struct fault_record *with, int more)
{
    uint64_t end_us = find_now_us() + find_limit_us() / 20;

    while (has_more(with, more)) {
        if (find_now_us() > end_us)
            return true;
        (void)usleep(1000);
    }
    return false;
}

/* Reports places with more live allocations than in `with`, and than `more` beyond that. */
static void compare_heap(const struct fault_record *with, int more)
{
    if (!has_more_for_long(with, more))
        return;
    for (unsigned i = 0; i < outcome->record.site_count; i++) {
        const struct fault_site *site = &outcome->record.sites[i];

        if (is_more(site, with, more) && !is_pooled(site->caller))
            find_say("%d allocations more than %d of %s are left", site->live, more,
                     place(site->caller));
    }
}

/* Without a fault, or with one that the library has to hide, each step has to succeed. */
static bool is_harmless(const struct fault_plan *plan)
{
    if (plan->error == 0)
        return true;
    return scenario_repeats && (plan->call == FAULT_SEND || plan->call == FAULT_RECEIVE) &&
           (plan->error == EAGAIN || plan->error == EINTR || plan->error == FAULT_SHORT);
}

static void run_once(const struct fault_case *one, const struct fault_plan *plan)
{
    scenario_run(one->mode, plan, is_harmless(plan), &outcome->findings);
}

#define GROWTHS 4

/*
 * Runs the plan several times, and as often again, and gets what there was in between. What a run
 * leaks has grown then.
 */
static void run_often(const struct fault_case *one, struct fault_record *before)
{
    static struct fault_record apart;

    for (unsigned i = 0; i < 2 * GROWTHS; i++) {
        memset(&apart, 0, sizeof(apart)); /* the nth call of each run fails */
        faults_record(&apart);
        run_once(one, &one->plan);
        if (i == GROWTHS - 1)
            faults_live(before);
    }
}

#define GROWTH_ROUNDS 12

/* A pool stops growing when it has its limit; a leak never does. */
static void find_growth(const struct fault_case *one)
{
    static struct fault_record before;

    for (unsigned round = 1; round < GROWTH_ROUNDS; round++) {
        run_often(one, &before);
        if (!has_more_for_long(&before, GROWTHS - 2))
            return;
    }
    run_often(one, &before);
    compare_heap(&before, GROWTHS - 2);
}

/* Without a fault: pools that have not reached their limit grow, too. */
static void find_pools(const struct fault_case *one)
{
    static struct fault_record before;

    run_often(one, &before);
    if (!has_more_for_long(&before, 0))
        return;
    for (unsigned i = 0; i < outcome->record.site_count; i++) {
        const struct fault_site *site = &outcome->record.sites[i];

        if (is_more(site, &before, 0) && outcome->pooled_count < POOLED)
            outcome->pooled[outcome->pooled_count++] = site->caller;
    }
}

/* Some libraries keep descriptors and threads: as many as after runs without a fault. */
static void compare_resources(const struct outcome *with)
{
    if (with)
        find_left(&with->resources);
    outcome->resources = find_resources();
}

/* Runs the case, then the same without a fault, which must succeed in the same process. */
static void run_child(const struct fault_case *one, const struct outcome *with)
{
    static const struct fault_plan nothing;
    static struct fault_record apart;
    const struct itimerval limit = {.it_value.tv_sec = time_limit_ms(60000) / 1000};

    (void)signal(SIGALRM, on_alarm);
    (void)setitimer(ITIMER_REAL, &limit, NULL);
    faults_record(&outcome->record);
    run_once(one, &one->plan);
    faults_record(&apart); /* the counts of the next run do not belong to the case */
    run_once(one, &nothing);
    compare_resources(with);
    if (!with && scenario_pools)
        find_pools(one);
    else if (!with)
        faults_live(&outcome->record);
    else if (!scenario_pools)
        compare_heap(&with->record, 0);
    else if (has_more_for_long(&with->record, 0))
        find_growth(one);
    /* What the library does at exit is no part of a case, but keeps the counts of lines. */
    if (getenv("ITAPI_COUNT_LINES"))
        exit(0);
    _exit(0);
}

static bool run_case(const struct fault_case *one, const struct outcome *with)
{
    int status = 0;
    pid_t child;

    memset(outcome, 0, sizeof(*outcome));
    (void)fflush(stdout);
    child = fork();
    if (child == 0)
        run_child(one, with);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    if (child < 0 || status != 0) {
        struct fault_findings *findings = &outcome->findings;

        findings->count++;
        (void)snprintf(findings->said + findings->length, sizeof(findings->said) - findings->length,
                       "%s 0x%x [%s]\n", outcome->stage[0] ? "hangs:" : "ends with status",
                       (unsigned)status, outcome->stage);
    }
    return outcome->findings.count == 0;
}

#define SLOW_US 3000000u /* not wrong, but somebody should know why */

static void say_case(const struct fault_case *one, uint64_t took_us)
{
    printf("--one %s '%s' '%s' %s %u %zu%s\n%s", mode_names[one->mode], calls[one->plan.call].name,
           one->kind, place(one->plan.caller), one->plan.nth, one->plan.octets,
           took_us > SLOW_US ? " is slow" : "", outcome->findings.said);
    (void)fflush(stdout);
}

/* ---- All cases ------------------------------------------------------------------------------- */

static void add_case(const struct fault_case *one)
{
    static size_t room;

    if (case_count == room) {
        room = room ? 2 * room : 1024;
        cases = realloc(cases, room * sizeof(*cases));
        if (!cases)
            exit(2);
    }
    cases[case_count++] = *one;
}

static struct fault_case make_case(enum fault_mode mode, enum fault_call call,
                                   const struct kind *kind, const void *caller, unsigned nth)
{
    return (struct fault_case){
        mode, {call, kind->error, caller, nth, kind->repeat, kind->octets}, kind->name};
}

static void add_every_length(enum fault_mode mode)
{
    static const enum fault_call moves[2] = {FAULT_SEND, FAULT_RECEIVE};

    for (unsigned i = 0; i < 2; i++) {
        for (size_t octets = 1; octets <= 128; octets++) {
            struct kind all = {every_length, FAULT_SHORT, FAULT_FOREVER, octets};
            struct fault_case one = make_case(mode, moves[i], &all, NULL, 1);

            add_case(&one);
        }
    }
}

static void add_site(enum fault_mode mode, const struct fault_site *site)
{
    for (unsigned i = 0; i < KINDS && calls[site->call].kinds[i].name; i++) {
        for (unsigned nth = 1; nth <= site->calls && nth <= NTH_MAX; nth++) {
            struct fault_case one =
                make_case(mode, site->call, &calls[site->call].kinds[i], site->caller, nth);

            add_case(&one);
        }
    }
}

static bool is_wanted(const struct fault_site *site, const char *only)
{
    return !only || strcmp(calls[site->call].name, only) == 0;
}

/* only: the name of a call, or NULL. */
static void make_cases(const char *only)
{
    for (enum fault_mode mode = 0; mode < FAULT_MODES; mode++) {
        for (unsigned i = 0; i < reference[mode]->record.site_count; i++)
            if (is_wanted(&reference[mode]->record.sites[i], only))
                add_site(mode, &reference[mode]->record.sites[i]);
        if (!only)
            add_every_length(mode);
    }
}

static void shuffle(unsigned seed)
{
    uint64_t state = seed * 2u + 1u;

    for (size_t i = case_count; i > 1; i--) {
        struct fault_case one = cases[i - 1];
        size_t other;

        state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
        other = (size_t)(state >> 33) % i;
        cases[i - 1] = cases[other];
        cases[other] = one;
    }
}

/* Whether the plan fails one of the first calls of its place, with an error. */
static bool is_first(const struct fault_plan *plan, unsigned firsts)
{
    unsigned least = plan->call == FAULT_RECEIVE ? RECEIVES_FIRST : 1;

    /* A failure for ever from a later call on differs less from one from the first on. */
    if (plan->repeat > 1)
        firsts = 1;
    return plan->error > 0 && plan->nth <= (firsts > least ? firsts : least);
}

/*
 * Moves the first calls of each place with each error, in mode `alone`, to the front of every
 * sample. Returns their number.
 */
static size_t put_firsts_first(unsigned firsts)
{
    size_t count = 0;

    for (size_t i = 0; i < case_count; i++) {
        if (cases[i].mode == FAULT_ALONE && is_first(&cases[i].plan, firsts)) {
            struct fault_case one = cases[i];

            cases[i] = cases[count];
            cases[count++] = one;
        }
    }
    return count;
}

struct tally {
    unsigned run[FAULT_CALLS];
    unsigned failed[FAULT_CALLS];
    unsigned found;
};

static void run_share(unsigned share, unsigned shares, struct tally *tally)
{
    outcome = shared(sizeof(*outcome));
    for (size_t i = share; i < case_count; i += shares) {
        const struct fault_case *one = &cases[i];
        uint64_t begun_us = find_now_us();
        bool good = run_case(one, reference[one->mode]);

        tally->run[one->plan.call]++;
        tally->failed[one->plan.call] += outcome->record.hits != 0;
        if (!good)
            tally->found++;
        if (!good || find_now_us() - begun_us > SLOW_US)
            say_case(one, find_now_us() - begun_us);
        if (i / 1000 != (i + shares) / 1000)
            fprintf(stderr, "%zu of %zu\n", i, case_count);
    }
    (void)fflush(stdout);
    _exit(0);
}

static unsigned run_cases(unsigned shares)
{
    struct tally *tallies = shared(shares * sizeof(*tallies));
    struct tally sum = {.found = 0};

    (void)fflush(stdout);
    for (unsigned i = 0; i < shares; i++) {
        if (fork() == 0)
            run_share(i, shares, &tallies[i]);
    }
    while (wait(NULL) > 0)
        continue;
    for (unsigned i = 0; i < shares; i++) {
        sum.found += tallies[i].found;
        for (unsigned call = 0; call < FAULT_CALLS; call++) {
            sum.run[call] += tallies[i].run[call];
            sum.failed[call] += tallies[i].failed[call];
        }
    }
    printf("%-16s %8s %8s %8s %8s\n", "call", "alone", "beside", "run", "failed");
    for (unsigned call = 0; call < FAULT_CALLS; call++)
        printf("%-16s %8u %8u %8u %8u\n", calls[call].name,
               reference[FAULT_ALONE]->record.count[call],
               reference[FAULT_BESIDE]->record.count[call], sum.run[call], sum.failed[call]);
    printf("cases %zu, found %u\n", case_count, sum.found);
    return sum.found;
}

static void make_references(void)
{
    for (enum fault_mode mode = 0; mode < FAULT_MODES; mode++) {
        struct fault_case nothing = {.mode = mode, .kind = "nothing"};

        reference[mode] = shared(sizeof(*reference[mode]));
        outcome = reference[mode];
        if (!run_case(&nothing, NULL)) {
            printf("without a fault:\n%s", outcome->findings.said);
            exit(1);
        }
        for (unsigned i = 0; i < outcome->pooled_count; i++)
            printf("%s grows without a fault, too\n", place(outcome->pooled[i]));
    }
}

static bool may_be_unreached(enum fault_call call)
{
    const enum fault_call *one = scenario_unreached;

    while (*one != FAULT_CALLS && *one != call)
        one++;
    return *one == call;
}

/* A row without any call tests nothing: the library now uses another call. */
static bool all_are_reached(void)
{
    bool all = true;

    for (enum fault_call call = 0; call < FAULT_CALLS; call++) {
        if (reference[FAULT_ALONE]->record.count[call] == 0 && !may_be_unreached(call)) {
            printf("%s: the scenario does not reach it\n", calls[call].name);
            all = false;
        }
    }
    return all;
}

static const struct kind *find_kind(enum fault_call call, const char *name, const char *octets)
{
    static struct kind every = {every_length, FAULT_SHORT, FAULT_FOREVER, 0};

    every.octets = octets ? (size_t)atoi(octets) : 0;
    if (every.octets > 0 && strcmp(name, every_length) == 0)
        return &every;
    for (unsigned i = 0; i < KINDS && calls[call].kinds[i].name; i++) {
        if (strcmp(calls[call].kinds[i].name, name) == 0)
            return &calls[call].kinds[i];
    }
    return NULL;
}

/* words: mode, call, kind, place, nth, octets, as say_case() writes them. */
static struct fault_case find_case(char **words)
{
    enum fault_mode mode =
        strcmp(words[0], mode_names[FAULT_ALONE]) == 0 ? FAULT_ALONE : FAULT_BESIDE;
    const struct fault_record *record = &reference[mode]->record;

    for (unsigned i = 0; i < record->site_count; i++) {
        const struct fault_site *site = &record->sites[i];
        const struct kind *kind = find_kind(site->call, words[2], words[5]);
        bool anybody = strcmp(words[3], place(NULL)) == 0;

        if (kind && strcmp(calls[site->call].name, words[1]) == 0 &&
            (anybody || strcmp(place(site->caller), words[3]) == 0))
            return make_case(mode, site->call, kind, anybody ? NULL : site->caller,
                             (unsigned)atoi(words[4]));
    }
    return (struct fault_case){.kind = NULL};
}

static int run_one(char **words)
{
    struct fault_case one = find_case(words);
    bool good;

    if (!one.kind) {
        fprintf(stderr, "faults_run: no such call, kind or place\n");
        return 2;
    }
    outcome = shared(sizeof(*outcome));
    good = run_case(&one, reference[one.mode]);
    say_case(&one, 0);
    return good ? 0 : 1;
}

int main(int argc, char **argv)
{
    unsigned first = 1, sample = 40, seed = 1, jobs = 4;
    const char *only = NULL;
    size_t firsts;
    bool all = getenv("ITAPI_FAULTS_ALL") != NULL;

    make_references();
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--one") == 0 && i + 5 < argc)
            return run_one(argv + i + 1);
        if (strcmp(argv[i], "--all") == 0)
            all = true;
        else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc)
            only = argv[++i];
        else if (strcmp(argv[i], "--firsts") == 0 && i + 1 < argc)
            first = (unsigned)atoi(argv[++i]);
        else if (strcmp(argv[i], "--sample") == 0 && i + 1 < argc)
            sample = (unsigned)atoi(argv[++i]);
        else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc)
            seed = (unsigned)atoi(argv[++i]);
        else if (strcmp(argv[i], "--jobs") == 0 && i + 1 < argc)
            jobs = (unsigned)atoi(argv[++i]);
    }
    if (!all_are_reached())
        return 1;
    make_cases(only);
    shuffle(seed);
    firsts = put_firsts_first(first);
    printf("%zu cases, %zu firsts", case_count, firsts);
    if (!all && case_count > firsts + sample) {
        printf(": run are the firsts and %u with seed %u", sample, seed);
        case_count = firsts + sample;
    }
    printf("\n");
    return run_cases(jobs ? jobs : 1) == 0 ? 0 : 1;
}
