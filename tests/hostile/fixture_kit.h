/* SPDX-License-Identifier: BSD-2-Clause */
/* Gives each test of a file a kit: Test(suite, name, .init = kit_init, .fini = kit_fini). */
#ifndef ITAPI_TESTS_HOSTILE_FIXTURE_KIT_H
#define ITAPI_TESTS_HOSTILE_FIXTURE_KIT_H

#include "hostile/hostile_kit.h"

static struct hk kit;

static void kit_init(void)
{
    hk_open(&kit);
}

static void kit_fini(void)
{
    hk_close(&kit);
    check_done();
}

#endif
