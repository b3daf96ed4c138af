/* SPDX-License-Identifier: BSD-2-Clause */
/* The stub device, between its files. */
#ifndef ITAPI_TESTS_VERBS_STUB_PRIVATE_H
#define ITAPI_TESTS_VERBS_STUB_PRIVATE_H

#include "verbs/stub_device.h"

#include <stdatomic.h>

extern _Atomic uint32_t stub_numbers; /* of QPs and keys */

/* Zeroed, and counted in stub_objects. */
void *stub_new(size_t size);
int stub_delete(void *object); /* 0 */

/* The segment lies in memory of that PD which is registered just now under its key. */
bool stub_is_memory(const struct ibv_pd *pd, const struct ibv_sge *sge);

#endif
