/* SPDX-License-Identifier: BSD-2-Clause */
/* adapter.h - whether this process has an IA: it then has a thread with a name of its own. */
#ifndef ITAPI_TESTS_SUPPORT_ADAPTER_H
#define ITAPI_TESTS_SUPPORT_ADAPTER_H

#include <stdbool.h>

bool adapter_is_open(void);

#endif
