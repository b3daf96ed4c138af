/* SPDX-License-Identifier: BSD-2-Clause */
#include "perf_matrix.h"

#include "common/output.h"
#include "perf_adapter.h"
#include "perf_interrupt.h"
#include "perf_progress.h"
#include "perf_session.h"
#include "perf_table.h"

#include <stdio.h>
#include <string.h>

/* ---- Points ------------------------------------------------------------------------------- */

static const char *refuse(const struct perf_options *options, const struct perf_point *point)
{
    bool uses_tcp = options->all || options->reference || options->transport == PERF_TCP;
    bool uses_itapi = options->all || options->transport == PERF_ITAPI;

    if (point->size == 0 && (point->measure == PERF_BW || uses_tcp))
        return "there is nothing to measure with --size 0";
    if (point->op == PERF_WRITE && point->measure == PERF_LAT && uses_itapi &&
        (options->params.mode != PERF_POLL || point->size == 0))
        return "an RDMA Write wakes no thread: its latency needs --mode poll and at least one byte";
    if (uses_tcp && options->params.mode == PERF_CLIENT_POLLS)
        return "--mode client is not for TCP";
    if (point->measure != PERF_LAT && options->percentiles && !options->matrix)
        return "--percentiles are those of --measure lat";
    return NULL;
}

size_t perf_matrix_points(const struct perf_options *options, struct perf_point *points,
                          const char **refusal)
{
    static const enum perf_op ops[] = {PERF_SEND, PERF_WRITE, PERF_READ};
    static const enum perf_measure measures[] = {PERF_LAT, PERF_BW};
    bool every_op = options->matrix && !options->given['o'];
    bool every_measure = options->matrix && !options->given['m'];
    size_t op_count = every_op ? sizeof(ops) / sizeof(ops[0]) : 1;
    size_t measure_count = every_measure ? sizeof(measures) / sizeof(measures[0]) : 1;
    size_t count = 0;

    *refusal = NULL;
    for (size_t m = 0; m < measure_count; m++) {
        for (size_t o = 0; o < op_count; o++) {
            for (size_t s = 0; s < options->size_count; s++) {
                struct perf_point *point = &points[count];
                const char *reason;

                point->op = every_op ? ops[o] : options->params.op;
                point->measure = every_measure ? measures[m] : options->params.measure;
                point->size = options->sizes[s];
                reason = refuse(options, point);
                if (reason != NULL)
                    *refusal = reason;
                else
                    count++;
            }
        }
    }
    return count;
}

/* ---- Measuring ---------------------------------------------------------------------------- */

/* Sets the carriers in the order of measurement. */
static void choose_carriers(const struct perf_options *options, struct perf_params *params)
{
    struct perf_carrier *carriers = params->carriers;

    params->carrier_count = 0;
    params->server_choice = !options->all;
    if (options->all) {
        /* One entry is kept for TCP. */
        params->carrier_count = perf_adapter_list(carriers, PERF_CARRIERS_MAX - 1);
    } else if (options->transport == PERF_ITAPI) {
        carriers[0].transport = PERF_ITAPI;
        (void)snprintf(carriers[0].ia, sizeof(carriers[0].ia), "%s", options->ia);
        params->carrier_count = 1;
    }
    if (options->all || options->reference || options->transport == PERF_TCP) {
        struct perf_carrier *tcp = &carriers[params->carrier_count++];

        memset(tcp, 0, sizeof(*tcp));
        tcp->transport = PERF_TCP;
    }
}

static struct perf_params params_of(const struct perf_options *options,
                                    const struct perf_params *common,
                                    const struct perf_point *point)
{
    static const uint64_t depths[] = {64, 16, 512};
    struct perf_params params = *common;

    params.op = point->op;
    params.measure = point->measure;
    params.size = point->size;
    if (options->params.depth == 0)
        params.depth = depths[point->measure];
    return params;
}

/* A carrier that was absent once is not tried and reported again. */
static void drop_absent(struct perf_params *params, const struct perf_results *results)
{
    unsigned int kept = 0;

    for (unsigned int i = 0; i < params->carrier_count; i++)
        if (results->series[i].count > 0)
            params->carriers[kept++] = params->carriers[i];
    params->carrier_count = kept;
}

static bool add_results(struct perf_records *records, const struct perf_params *params,
                        const struct perf_options *options, struct perf_results *results)
{
    bool good;

    perf_interrupt_hold();
    good = perf_records_add_results(records, params, options->runs, results);
    perf_interrupt_release();
    return good;
}

static bool measure_points(struct perf_session *session, const struct perf_options *options,
                           const char *host, const char *port, struct perf_records *records)
{
    static struct perf_point points[PERF_POINTS_MAX];
    static struct perf_results results;
    struct perf_params common = options->params;
    const char *refusal;
    size_t count = perf_matrix_points(options, points, &refusal);

    choose_carriers(options, &common);
    for (size_t i = 0; i < count; i++) {
        struct perf_params params = params_of(options, &common, &points[i]);
        size_t from = records->count;

        perf_progress_point(&params, i + 1, count);
        if (!perf_client_measure(session, options, host, port, &params, &results) ||
            !add_results(records, &params, options, &results))
            return false;
        perf_progress_clear();
        if (records->count == from) {
            complain("nothing is there that could be measured");
            return false;
        }
        drop_absent(&common, &results);
        if (!options->json)
            perf_table_print(records, from);
        /* Nobody would see the rest. */
        if (!output_is_good())
            return false;
    }
    return true;
}

bool perf_matrix_run(const struct perf_options *options, const char *host, const char *port,
                     struct perf_records *records)
{
    static struct perf_session session;
    bool good;

    if (!perf_client_open(&session, host, port))
        return false;
    good = measure_points(&session, options, host, port, records);
    perf_progress_clear();
    perf_client_close(&session, good);
    return good;
}
