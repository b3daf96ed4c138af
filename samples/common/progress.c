/* SPDX-License-Identifier: BSD-2-Clause */
#include "common/progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define BAR_WIDTH 50

double clock_seconds(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

void progress_start(struct progress *progress, const char *what, uint64_t total)
{
    progress->what = what;
    progress->total = total;
    progress->last_mark = 0;
    progress->terminal = isatty(STDOUT_FILENO) == 1;
    progress->started = clock_seconds();
}

void progress_show(struct progress *progress, uint64_t done)
{
    double share = progress->total > 0 ? (double)done / (double)progress->total : 1.0;
    unsigned int mark = (unsigned int)(share * BAR_WIDTH);

    if (!progress->terminal || mark == progress->last_mark)
        return;
    progress->last_mark = mark;
    (void)printf("\r[%-*.*s] %3.0f %%", BAR_WIDTH, (int)mark,
                 "##################################################", share * 100.0);
    (void)fflush(stdout);
}

void progress_finish(struct progress *progress)
{
    double seconds = clock_seconds() - progress->started;

    if (progress->terminal)
        (void)printf("\r%*s\r", BAR_WIDTH + 8, "");
    (void)printf("%llu bytes %s in %.3f s", (unsigned long long)progress->total, progress->what,
                 seconds);
    if (seconds > 0 && progress->total > 0)
        (void)printf(": %.1f MB/s", (double)progress->total / 1e6 / seconds);
    (void)putchar('\n');
    (void)fflush(stdout);
}
