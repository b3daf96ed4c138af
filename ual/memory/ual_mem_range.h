/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether a range of memory can be registered: is it there, and may it be used that way. */
#ifndef ITAPI_UAL_MEMORY_UAL_MEM_RANGE_H
#define ITAPI_UAL_MEMORY_UAL_MEM_RANGE_H

#include "it_api.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * IT_ERR_FAULT: some octet of [start, start + length) is not mapped, or the range wraps.
 * IT_ERR_ACCESS: pages do not allow reading (or writing) though it is asked for. Takes time by the
 * number of mappings of the process, not by the length. IT_SUCCESS where the system has no /proc.
 */
it_status_t ual_mem_range_check(uintptr_t start, uint64_t length, bool reads, bool writes);

#endif
