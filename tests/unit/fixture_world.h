/* SPDX-License-Identifier: BSD-2-Clause */
/* Gives each test of a file a world: TestSuite(suite, .init = world_init, .fini = world_fini). */
#ifndef ITAPI_TESTS_UNIT_FIXTURE_WORLD_H
#define ITAPI_TESTS_UNIT_FIXTURE_WORLD_H

#include "unit/fake_provider.h"

static struct fake_world world;

static inline void world_init(void)
{
    fake_setup();
    fake_world_open(&world);
}

static inline void world_fini(void)
{
    fake_world_close(&world);
}

#endif
