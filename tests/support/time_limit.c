/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/time_limit.h"

#include <limits.h>
#include <stdlib.h>

static int factor(void)
{
    const char *text = getenv("ITAPI_TIME_FACTOR");
    long number = text != NULL ? strtol(text, NULL, 10) : 1;

    if (number < 1)
        return 1;
    return number < 1000 ? (int)number : 1000;
}

int time_limit_ms(int milliseconds)
{
    int by = factor();

    return milliseconds <= INT_MAX / by ? milliseconds * by : INT_MAX;
}
