/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * place.h - where the two sides of a test are. "same": both have one address of the guest, and the
 * traffic uses lo. "veth": the library is in the root namespace, the peer in another one behind a
 * veth pair.
 */
#ifndef ITAPI_TESTS_INTEROP_PLACE_H
#define ITAPI_TESTS_INTEROP_PLACE_H

#include "support/it_fixture.h"

struct place {
    const char *name;          /* "same", "veth", "same6", "veth6" */
    const char *net_namespace; /* namespace of the peer; NULL: the same */
    const char *ours;          /* addresses */
    const char *theirs;
    const char *nobody; /* an address of the subnet that no host has; NULL without a subnet */
};

/* The table ends with a record without a name. */
extern const struct place places[];

/* Returns the place with this name. Ends the test if there is none. */
const struct place *place_named(const char *name);

/* Returns the first path to this address that the library finds. */
it_path_t place_path(const struct fx_node *node, const char *to);

#endif /* ITAPI_TESTS_INTEROP_PLACE_H */
