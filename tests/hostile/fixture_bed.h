/* SPDX-License-Identifier: BSD-2-Clause */
/* Gives each test of a file a bed: Test(suite, name, .init = bed_init, .fini = bed_fini). */
#ifndef ITAPI_TESTS_HOSTILE_FIXTURE_BED_H
#define ITAPI_TESTS_HOSTILE_FIXTURE_BED_H

#include "hostile/hostile_bed.h"

static struct hostile_bed bed;

static void bed_init(void)
{
    bed_open(&bed);
}

static void bed_fini(void)
{
    bed_close(&bed);
    check_done();
}

#endif
