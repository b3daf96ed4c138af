/* SPDX-License-Identifier: BSD-2-Clause */
/* Gives each test of a file an IA: TestSuite(suite, .init = fixture_init, .fini = fixture_fini). */
#ifndef ITAPI_TESTS_UNIT_FIXTURE_EVD_H
#define ITAPI_TESTS_UNIT_FIXTURE_EVD_H

#include "unit/evd_fixture.h"

static struct fixture fixture;

static inline void fixture_init(void)
{
    fixture_start(&fixture);
}

static inline void fixture_fini(void)
{
    fixture_stop(&fixture);
}

#endif
