/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Step 3 of the tutorial: an echo over TCP, as before; then the same connection is converted
 * (convert.c), and ends.
 */
#include "convert.h"
#include "sockets.h"

#include <stdio.h>

static void serve(int tcp)
{
    struct rdma rdma;

    rdma_open(&rdma);
    if (convert_as_server(tcp, &rdma))
        end_as_server(&rdma);
    rdma_close(&rdma);
}

static void ask(int tcp, char **texts)
{
    char line[LINE_SIZE];
    struct rdma rdma;

    rdma_open(&rdma);
    for (; *texts != NULL; texts++) {
        write_line(tcp, *texts);
        if (!read_line(tcp, line))
            fail("echo", "the server has gone");
        printf("echo by TCP: %s\n", line);
    }
    convert_as_client(tcp, &rdma);
    printf("the connection is RDMA now\n");
    end_as_client(&rdma);
    rdma_close(&rdma);
}

int main(int argc, char **argv)
{
    return run(argc, argv, serve, ask);
}
