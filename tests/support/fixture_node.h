/* SPDX-License-Identifier: BSD-2-Clause */
/* Gives each test of a file a node: Test(suite, name, .init = node_init, .fini = node_fini). */
#ifndef ITAPI_TESTS_SUPPORT_FIXTURE_NODE_H
#define ITAPI_TESTS_SUPPORT_FIXTURE_NODE_H

#include "support/it_fixture.h"

static struct fx_node node;

static inline void node_init(void)
{
    fx_node_open(&node);
}

static inline void node_fini(void)
{
    fx_node_close(&node);
    check_done();
}

#endif
