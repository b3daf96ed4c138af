/* SPDX-License-Identifier: BSD-2-Clause */
/* An IA on the stub device with two endpoints, and short forms of the posting calls. */
#ifndef ITAPI_TESTS_VERBS_STUB_NODE_H
#define ITAPI_TESTS_VERBS_STUB_NODE_H

#include "support/check.h"
#include "support/it_fixture.h"
#include "verbs/stub_device.h"

#define NODE_MEMORY 65536u

struct stub_node {
    struct fx_node fx; /* has no Spigot address */
    it_ep_handle_t a, b;
    struct fx_buf buf;
};

struct stub_shape {
    size_t requests, receives; /* 0: 16 */
    size_t events;             /* size of each completion EVD; 0: 64 */
    size_t threshold;
    it_evd_flags_t flags;
    it_evd_handle_t aevd; /* made by the caller; NULL: none */
};

/* Opens everything except the endpoints. */
void stub_node_open(struct stub_node *node, const struct stub_shape *shape);
it_ep_handle_t stub_node_ep(const struct stub_node *node, const struct stub_shape *shape);
/* Opens the node with two connected endpoints. */
void stub_node_pair(struct stub_node *node, const struct stub_shape *shape);
/* Returns when the IA's thread has finished all its work. */
void stub_settle(const struct stub_node *node);
/* Frees everything. Fails if objects of the device are left. */
void stub_node_close(struct stub_node *node);

#endif
