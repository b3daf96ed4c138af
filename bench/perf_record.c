/* SPDX-License-Identifier: BSD-2-Clause */
#include "perf_record.h"

#include <stdlib.h>
#include <string.h>

bool perf_records_add(struct perf_records *records, const struct perf_record *record)
{
    if (records->count == records->room) {
        size_t room = records->room > 0 ? records->room * 2 : 64;
        struct perf_record *larger = realloc(records->records, room * sizeof(*larger));

        if (larger == NULL) {
            complain("out of memory");
            return false;
        }
        records->records = larger;
        records->room = room;
    }
    records->records[records->count++] = *record;
    return true;
}

void perf_records_free(struct perf_records *records)
{
    free(records->records);
    memset(records, 0, sizeof(*records));
}
