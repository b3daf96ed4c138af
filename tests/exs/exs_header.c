/* SPDX-License-Identifier: BSD-2-Clause */
/* The header alone in plain C11, with the names of earlier drafts. */
#include <exs.h>

_Static_assert(EXS_ACCESS_ALL ==
                   (EXS_LOCAL_READ | EXS_LOCAL_WRITE | EXS_REMOTE_READ | EXS_REMOTE_WRITE),
               "names of drafts");

int exs_header_c(void);

int exs_header_c(void)
{
    return exs_init(EXS_VERSION1);
}
