/* SPDX-License-Identifier: BSD-2-Clause */
/* Step 1 of the tutorial: an echo of lines over TCP, without the library. */
#include "sockets.h"

#include <stdio.h>

static void serve(int tcp)
{
    char line[LINE_SIZE];

    while (read_line(tcp, line))
        write_line(tcp, line);
}

static void ask(int tcp, char **texts)
{
    char line[LINE_SIZE];

    for (; *texts != NULL; texts++) {
        write_line(tcp, *texts);
        if (!read_line(tcp, line))
            fail("echo", "the server has gone");
        printf("echo by TCP: %s\n", line);
    }
}

int main(int argc, char **argv)
{
    return run(argc, argv, serve, ask);
}
