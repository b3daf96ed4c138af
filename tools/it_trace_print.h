/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef ITAPI_TOOLS_IT_TRACE_PRINT_H
#define ITAPI_TOOLS_IT_TRACE_PRINT_H

#include "it_trace_snapshot.h"

/* before: an earlier snapshot, for rates; NULL: none. */
void trace_print_text(const struct snapshot *now, const struct snapshot *before);
void trace_print_json(const struct snapshot *now, const struct snapshot *before);

#endif
