/* SPDX-License-Identifier: BSD-2-Clause */
/* The arithmetic of atomic operations (RFC 7306 5.1), in host order. */
#ifndef ITAPI_TDI_IWARP_IW_ATOMIC_H
#define ITAPI_TDI_IWARP_IW_ATOMIC_H

#include "tdi/iwarp/iw.h"

/* Returns true for a code of enum iw_atomic_code; others have no result. */
bool iw_atomic_is_known(const struct iw_atomic_request *request);

/* Returns the value that the operation stores in place of `original`. Needs a known code. */
uint64_t iw_atomic_result(const struct iw_atomic_request *request, uint64_t original);

#endif
