/* SPDX-License-Identifier: BSD-2-Clause */
#include "perf_scale.h"

#include <math.h>

/* Shares of an axis that are nothing but the error of a logarithm. */
#define SCALE_CLOSE 1e-9

void perf_scale_include(struct perf_scale *scale, double value)
{
    if (!(value > 0) || !isfinite(value))
        return;
    if (scale->low <= 0 || value < scale->low)
        scale->low = value;
    if (value > scale->high)
        scale->high = value;
}

/* The largest of 1, 2, 5 x 10^n that is not above. */
static double round_down(double value)
{
    double power = pow(10, floor(log10(value) + SCALE_CLOSE));
    double digits = value / power * (1 + SCALE_CLOSE);

    if (digits >= 5)
        return 5 * power;
    return digits >= 2 ? 2 * power : power;
}

double perf_scale_next(double value)
{
    double power = pow(10, floor(log10(value) + SCALE_CLOSE));
    double digits = value / power * (1 + SCALE_CLOSE);

    if (digits >= 5)
        return 10 * power;
    return digits >= 2 ? 5 * power : 2 * power;
}

void perf_scale_round(struct perf_scale *scale)
{
    double high = round_down(scale->high);

    scale->low = round_down(scale->low);
    if (high < scale->high * (1 - SCALE_CLOSE) || high <= scale->low)
        high = perf_scale_next(high);
    scale->high = high;
}

double perf_scale_place(const struct perf_scale *scale, double value)
{
    double share = 0;

    if (value > scale->low)
        share = log(value / scale->low) / log(scale->high / scale->low);
    return scale->begin + (share < 1 ? share : 1) * (scale->end - scale->begin);
}
