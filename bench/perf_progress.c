/* SPDX-License-Identifier: BSD-2-Clause */
#include "perf_progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

static char title[128];
static bool shown;

void perf_progress_point(const struct perf_params *params, size_t number, size_t count)
{
    (void)snprintf(title, sizeof(title), "%zu/%zu %s %s, %" PRIu64 " bytes", number, count,
                   perf_op_name(params->op), perf_measure_name(params->measure), params->size);
}

void perf_progress_run(const struct perf_carrier *carrier, unsigned int number, unsigned int runs)
{
    const char *name =
        carrier->ia[0] != '\0' ? carrier->ia : perf_transport_name(carrier->transport);

    if (!isatty(STDERR_FILENO))
        return;
    shown = true;
    if (number == 0)
        (void)fprintf(stderr, "\r%s: %s, a trial\033[K", title, name);
    else
        (void)fprintf(stderr, "\r%s: %s, run %u of %u\033[K", title, name, number, runs);
}

void perf_progress_clear(void)
{
    if (shown)
        (void)fputs("\r\033[K", stderr);
    shown = false;
}
