/* SPDX-License-Identifier: BSD-2-Clause */
/* Gives each test of a file a pair: Test(suite, name, .init = pair_init, .fini = pair_fini). */
#ifndef ITAPI_TESTS_SUPPORT_FIXTURE_PAIR_H
#define ITAPI_TESTS_SUPPORT_FIXTURE_PAIR_H

#include "support/it_fixture.h"

static struct fx_pair pair;

static inline void pair_init(void)
{
    fx_pair_open(&pair);
}

static inline void pair_fini(void)
{
    fx_pair_close(&pair);
    check_done();
}

#endif
