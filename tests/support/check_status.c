/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The one check that needs the library. It has a file of its own so that programs without the
 * library can use the other checks.
 */
#include "support/check.h"

bool check_status(const char *file, int line, const char *call, it_status_t want, it_status_t got)
{
    if (want == got)
        return true;
    check_note(file, line, "%s: %s instead of %s", call, itx_status_string(got),
               itx_status_string(want));
    return false;
}
