/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The runner. For every parameter of every call it tries: a null, freed or foreign handle, one of
 * each wrong kind, no object at all; NULL; every unknown bit; two wrong parameters at once; then
 * the rows; then a lack of memory and of descriptors, and an IA that has failed. A failed call must
 * change nothing, and one refused for a value must say so in one line of the log. At the end every
 * documented status was seen or is known never to occur, and no other was seen.
 */
#include "status/status_run.h"

#include "base/base_log.h"
#include "evd/queue/evd.h"
#include "evd/calls/evd_calls.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ROOM 4096u

struct status_call_site {
    union status_value values[STATUS_PARAMS];
    unsigned char rooms[STATUS_PARAMS][ROOM];
    unsigned char before[STATUS_PARAMS][ROOM];
};

struct run {
    const struct status_table *table;
    struct status_world world;
    const struct status_call *call;
    struct status_call_site site;
    bool seen[STATUS_CODES];
    unsigned tries;
};

static char about[256];

/* ---- One call ------------------------------------------------------------------------------- */

static void run_say(const struct run *run, const char *what, unsigned number)
{
    (void)snprintf(about, sizeof(about), "%s: %s %u", run->call->name, what, number);
    check_context(about);
}

static void site_point(struct status_call_site *site, unsigned param, const void *at, size_t size)
{
    CHECK(size <= ROOM);
    memset(site->rooms[param], 0xd7, ROOM);
    if (at != NULL)
        memcpy(site->rooms[param], at, size);
    site->values[param].p = site->rooms[param];
}

static void run_good(struct run *run)
{
    for (unsigned i = 0; i < STATUS_PARAMS; i++) {
        const struct status_param *param = &run->call->params[i];
        union status_value *value = &run->site.values[i];

        value->n = 0;
        if (param->kind == PARAM_HANDLE)
            value->p = run->world.slot[param->slot];
        else if (param->kind == PARAM_POINTER && param->as_is)
            memcpy(&value->p, &param->at, sizeof(value->p));
        else if (param->kind == PARAM_POINTER)
            site_point(&run->site, i, param->at, param->size);
        else
            value->n = param->number;
    }
}

static void run_change(struct run *run, const struct status_change *change)
{
    const struct status_param *param = &run->call->params[change->param];
    union status_value *value = &run->site.values[change->param];

    switch (change->way) {
    case CHANGE_NUMBER:
        value->n = change->number;
        break;
    case CHANGE_SLOT:
        value->p = run->world.slot[change->slot];
        break;
    case CHANGE_AT:
        site_point(&run->site, change->param, change->at, change->size);
        break;
    case CHANGE_MEMBER:
        CHECK(change->offset + change->size <= param->size);
        CHECK(change->size <= sizeof(change->number)); /* little endian */
        memcpy(run->site.rooms[change->param] + change->offset, &change->number, change->size);
        break;
    case CHANGE_NONE:
    default:
        break;
    }
}

/* ---- The log -------------------------------------------------------------------------------- */

/* The text written to stderr during a call. */
static int log_file = -1;
static int log_stderr = -1;

static void log_begin(void)
{
    if (log_file < 0) {
        log_file = memfd_create("log", MFD_CLOEXEC);
        log_stderr = dup(STDERR_FILENO);
        CHECK(log_file >= 0 && log_stderr >= 0);
    }
    CHECK(ftruncate(log_file, 0) == 0 && lseek(log_file, 0, SEEK_SET) == 0);
    CHECK(dup2(log_file, STDERR_FILENO) == STDERR_FILENO);
    atomic_store(&base_log_level, BASE_LOG_DEBUG);
}

/* Returns the number of lines that begin with the name of the call. */
static unsigned log_end(const char *name)
{
    static char text[65536];
    char begin[80];
    unsigned lines = 0;
    ssize_t length;

    atomic_store(&base_log_level, BASE_LOG_NONE);
    CHECK(dup2(log_stderr, STDERR_FILENO) == STDERR_FILENO);
    length = pread(log_file, text, sizeof(text) - 1, 0);
    CHECK(length >= 0);
    text[length] = '\0';
    (void)snprintf(begin, sizeof(begin), "itapi debug: %s: ", name);
    for (const char *line = text; line; line = (line = strchr(line, '\n')) ? line + 1 : NULL)
        lines += strncmp(line, begin, strlen(begin)) == 0;
    return lines;
}

/* Returns true for statuses that are not about an argument's value, which need no line. */
static bool log_is_silent(it_status_t status)
{
    static const it_status_t silent[] = {
        IT_SUCCESS,       IT_ERR_RESOURCES,       IT_ERR_IA_CATASTROPHE, IT_ERR_QUEUE_EMPTY,
        IT_ERR_INTERRUPT, IT_ERR_TIMEOUT_EXPIRED, IT_ERR_ABORT,
    };

    for (size_t i = 0; i < sizeof(silent) / sizeof(silent[0]); i++)
        if (silent[i] == status)
            return true;
    return false;
}

/* Makes the call. A failed one must write nothing and log one line. */
static it_status_t run_make(struct run *run)
{
    it_status_t status;

    memcpy(run->site.before, run->site.rooms, sizeof(run->site.before));
    log_begin();
    status = run->call->make(run->site.values);
    EXPECT_EQ(log_is_silent(status) ? 0 : 1, log_end(run->call->name));
    run->tries++;
    CHECK((size_t)status < STATUS_CODES);
    run->seen[status] = true;
    if (status != IT_SUCCESS && !(run->call->tells && status == run->call->at_best))
        EXPECT(memcmp(run->site.before, run->site.rooms, sizeof(run->site.before)) == 0);
    return status;
}

static void run_expect(struct run *run, it_status_t want)
{
    it_status_t got = run_make(run);

    if (want == got)
        return;
    check_note(__FILE__, __LINE__, "%s instead of %s", itx_status_string(got),
               itx_status_string(want));
    if (got == IT_SUCCESS) /* later steps would mean little */
        check_done();
}

/* ---- Wrong in the usual ways ---------------------------------------------------------------- */

static void run_handle(struct run *run, unsigned i)
{
    static uint64_t garbage[2][64];
    const struct status_param *param = &run->call->params[i];

    memset(garbage[1], 0xa5, sizeof(garbage[1]));
    for (int object = 0; object < OBJECTS; object++) {
        bool fits = param->of_any_kind || object == (int)param->object ||
                    (param->or_else != OBJECT_IA && object == (int)param->or_else);

        run_good(run);
        run_say(run, "a freed handle", (unsigned)object);
        run->site.values[i].p = run->world.stale[object];
        run_expect(run, param->bad);
        if (!fits) {
            run_say(run, "a handle of another kind", (unsigned)object);
            run->site.values[i].p = run->world.live[object];
            run_expect(run, param->bad);
        }
    }
    for (unsigned which = 0; which < 2; which++) {
        run_say(run, "no object at all", which);
        run->site.values[i].p = garbage[which];
        run_expect(run, param->bad);
    }
    if (!param->optional) {
        run_say(run, "no handle", i);
        run->site.values[i].p = NULL;
        run_expect(run, param->bad);
    }
    if (param->foreign != IT_SUCCESS) {
        run_say(run, "a handle of another IA", i);
        run->site.values[i].p = run->world.foreign[param->object];
        run_expect(run, param->foreign);
    }
}

static void run_bits(struct run *run, unsigned i)
{
    const struct status_param *param = &run->call->params[i];

    for (unsigned bit = 0; bit < 32; bit++) {
        uint64_t value = UINT64_C(1) << bit;

        if ((param->known & value) != 0)
            continue;
        run_say(run, "an unknown bit", bit);
        run_good(run);
        run->site.values[i].n = param->number | value;
        run_expect(run, param->bad);
        run->site.values[i].n = value;
        run_expect(run, param->bad);
    }
}

/*
 * Breaks one parameter. Returns how early the fault is found, or 0 if the parameter cannot be
 * broken.
 */
static unsigned run_break(struct run *run, unsigned i, it_status_t *status)
{
    const struct status_param *param = &run->call->params[i];

    *status = param->bad;
    switch (param->kind) {
    case PARAM_HANDLE:
        run->site.values[i].p = run->world.stale[param->object % OBJECTS];
        return 1;
    case PARAM_POINTER:
        *status = IT_ERR_FAULT;
        run->site.values[i].p = NULL;
        return param->optional ? 0 : 2;
    case PARAM_BITS:
        run->site.values[i].n = 0x40000000u;
        return (param->known & 0x40000000u) != 0 ? 0 : 3;
    case PARAM_NUMBER:
    case PARAM_NONE:
    default:
        return 0;
    }
}

/* Two wrong parameters: handles are checked before pointers, pointers before flags and masks. */
static void run_pair(struct run *run, unsigned i, unsigned k)
{
    it_status_t status[2];
    unsigned rank[2];

    run_good(run);
    rank[0] = run_break(run, i, &status[0]);
    rank[1] = run_break(run, k, &status[1]);
    if (rank[0] == 0 || rank[1] == 0 || rank[0] == rank[1])
        return;
    run_say(run, "two faults", i * 16 + k);
    run_expect(run, status[rank[0] < rank[1] ? 0 : 1]);
}

static void run_usual(struct run *run)
{
    for (unsigned i = 0; i < STATUS_PARAMS; i++) {
        const struct status_param *param = &run->call->params[i];

        if (param->kind == PARAM_HANDLE)
            run_handle(run, i);
        else if (param->kind == PARAM_BITS)
            run_bits(run, i);
        run_good(run);
        if (param->kind == PARAM_POINTER && !param->optional) {
            run_say(run, "NULL", i);
            run->site.values[i].p = NULL;
            run_expect(run, IT_ERR_FAULT);
        }
        for (unsigned k = 0; k < i; k++)
            run_pair(run, k, i);
    }
}

/* ---- Rows and shortages --------------------------------------------------------------------- */

static void run_world(struct run *run)
{
    check_context(NULL);
    status_world_open(&run->world);
    if (run->table->prepare)
        run->table->prepare(&run->world);
}

static bool cannot_be_shown;

void status_cannot_be_shown(void)
{
    cannot_be_shown = true;
}

static void run_row(struct run *run, const struct status_row *row)
{
    run_say(run, row->what, 0);
    run_good(run);
    for (unsigned i = 0; i < STATUS_CHANGES; i++)
        run_change(run, &row->change[i]);
    if (row->scene)
        row->scene(&run->world, run->site.values);
    if (!cannot_be_shown)
        run_expect(run, row->want);
    run->seen[row->want] = true;
    cannot_be_shown = false;
}

static void run_rows(struct run *run, bool scenes)
{
    for (const struct status_row *row = run->call->rows; row && row->what; row++) {
        bool own = row->scene || row->want == IT_SUCCESS;

        if (own != scenes)
            continue;
        if (own)
            run_world(run);
        run_row(run, row);
        if (own)
            status_world_close(&run->world);
    }
}

static it_status_t run_make_all(struct run *run)
{
    it_status_t status;
    unsigned count = 0;

    do {
        status = run_make(run);
    } while (run->call->pooled && status == IT_SUCCESS && ++count < 5000);
    return status;
}

/* Repeats the call until it succeeds without the missing resource. */
static void run_shortage(struct run *run, const struct status_shortage *shortage)
{
    for (unsigned nth = 0;; nth++) {
        it_status_t status;
        bool hit;

        run_world(run);
        run_good(run);
        run_say(run, shortage->what, nth);
        shortage->begin(nth);
        status = nth == 0 && shortage->drains ? run_make_all(run) : run_make(run);
        hit = shortage->end();
        if (status != IT_SUCCESS) {
            EXPECT_STATUS(run->call->when_short ? run->call->when_short : IT_ERR_RESOURCES, status);
            status_world_check(&run->world);
            run_good(run);
            EXPECT_STATUS(IT_SUCCESS, run_make(run)); /* now there is enough again */
        }
        status_world_close(&run->world);
        if (status == IT_SUCCESS && !hit)
            return;
        CHECK(nth < 200);
    }
}

/* ---- All of a table ------------------------------------------------------------------------- */

static const struct status_documented *documented_of(const char *name)
{
    const struct status_documented *documented = status_documented;

    while (documented->name != NULL && strcmp(documented->name, name) != 0)
        documented++;
    CHECK(documented->name != NULL);
    return documented;
}

static bool is_documented(const char *name, it_status_t wanted)
{
    const it_status_t *status = documented_of(name)->statuses;

    while (*status != IT_SUCCESS && *status != wanted)
        status++;
    return *status == wanted;
}

static bool never(const char *name, it_status_t status)
{
    if (status == IT_ERR_RESOURCES && !status_shortages[0].begin)
        return true;
    for (const struct status_never *row = status_never; row->why; row++)
        if (row->status == status && (row->name == NULL || strcmp(row->name, name) == 0))
            return true;
    return false;
}

/*
 * uiwarp's IA never fails by itself, so the test marks it as failed. Frees and queries still work.
 */
static void run_failed(struct run *run)
{
    bool may = is_documented(run->call->name, IT_ERR_IA_CATASTROPHE);
    bool must = may && !never(run->call->name, IT_ERR_IA_CATASTROPHE) &&
                !never(run->call->name, IT_SUCCESS);
    it_status_t got;

    run_say(run, "the IA has failed", 0);
    run_world(run);
    evd_ia_fail((struct evd_ia *)(void *)run->world.node.ia);
    run_good(run);
    run_say(run, "the IA has failed", 0);
    got = run_make(run);
    if (must || (may && got == IT_ERR_IA_CATASTROPHE))
        EXPECT_STATUS(IT_ERR_IA_CATASTROPHE, got);
    else
        EXPECT_STATUS(run->call->at_best, got);
    status_world_close(&run->world);
}

/* Every documented status was seen or cannot occur, and no other one was seen. */
static void run_compare(struct run *run)
{
    const struct status_documented *documented = documented_of(run->call->name);
    bool listed[STATUS_CODES] = {true}; /* IT_SUCCESS */
    unsigned seen = 0;
    unsigned count = 0;

    for (const it_status_t *status = documented->statuses; *status != IT_SUCCESS; status++) {
        bool excused = never(run->call->name, *status);

        listed[*status] = true;
        count++;
        seen += run->seen[*status];
        if (!run->seen[*status] && !excused && !never(run->call->name, IT_SUCCESS))
            check_note(__FILE__, __LINE__, "never saw %s", itx_status_string(*status));
        if (run->seen[*status] && excused && *status != IT_ERR_RESOURCES)
            check_note(__FILE__, __LINE__, "saw %s after all", itx_status_string(*status));
    }
    for (unsigned i = 0; i < STATUS_CODES; i++)
        if (run->seen[i] && !listed[i])
            check_note(__FILE__, __LINE__, "%s is not documented",
                       itx_status_string((it_status_t)i));
    (void)printf("%-36s %2u of %2u statuses, %u calls\n", run->call->name, seen, count, run->tries);
}

static void run_call(struct run *run)
{
    memset(run->seen, 0, sizeof(run->seen));
    run->tries = 0;
    run_world(run);
    run_usual(run);
    run_rows(run, false);
    run_say(run, "afterwards", 0);
    status_world_check(&run->world);
    status_world_close(&run->world);
    run_rows(run, true);
    run_say(run, "with everything right", 0);
    run_world(run);
    run_good(run);
    run_expect(run, run->call->at_best);
    status_world_close(&run->world);
    for (const struct status_shortage *shortage = status_shortages; shortage->what; shortage++)
        if (run->call->at_best == IT_SUCCESS && shortage->begin)
            run_shortage(run, shortage);
    run_failed(run);
    run_say(run, "in the end", 0);
    run_compare(run);
    check_context(NULL);
}

void status_run(const struct status_table *table)
{
    static struct run run;

    run.table = table;
    for (run.call = table->calls; run.call->name != NULL; run.call++)
        run_call(&run);
    check_done();
}
