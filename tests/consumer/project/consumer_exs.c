/* SPDX-License-Identifier: BSD-2-Clause */
/* A program of Extended Sockets, against the installed package. */
#include <sys/exs.h>

#include <stdio.h>

int main(void)
{
    exs_qhandle_t queue;

    if (exs_init(EXS_VERSION1) != 0 || (queue = exs_qcreate(1)) == EXS_QHANDLE_INVALID ||
        exs_qdelete(queue) != 0) {
        perror("exs");
        return 1;
    }
    (void)puts("Extended Sockets are there");
    return 0;
}
