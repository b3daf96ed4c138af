/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * place.h - where the two sides of a test are. "same": both on one address of the guest, and the
 * traffic goes over lo. "veth": we in the root namespace, the peer behind a veth pair in another
 * one.
 */
#ifndef ITAPI_TESTS_INTEROP_PLACE_H
#define ITAPI_TESTS_INTEROP_PLACE_H

#include "support/it_fixture.h"

struct place {
    const char *name;          /* "same", "veth", "same6", "veth6" */
    const char *net_namespace; /* of the peer; NULL: ours */
    const char *ours;          /* addresses */
    const char *theirs;
    const char
        *nobody; /* an address of the subnet that no host has; NULL where there is no subnet */
};

/* Ends with a record without a name. */
extern const struct place places[];

/* By name; ends the test if there is none. */
const struct place *place_named(const char *name);

/* A path to this address; the first that the library finds. */
it_path_t place_path(const struct fx_node *node, const char *to);

#endif /* ITAPI_TESTS_INTEROP_PLACE_H */
