/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Gives each test of a file an IA. Test(suite, name, .init = stub_pair, .fini = stub_close), or
 * stub_open for an IA without endpoints. A test that needs another shape opens the IA itself.
 */
#ifndef ITAPI_TESTS_VERBS_FIXTURE_STUB_H
#define ITAPI_TESTS_VERBS_FIXTURE_STUB_H

#include "verbs/stub_node.h"

static const struct stub_shape usual = {.events = 0};
static struct stub_node n;

static inline void stub_open(void)
{
    stub_node_open(&n, &usual);
}

static inline void stub_pair(void)
{
    stub_node_pair(&n, &usual);
}

static inline void stub_close(void)
{
    stub_node_close(&n);
}

#endif
