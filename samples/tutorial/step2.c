/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Step 2 of the tutorial: the same echo over TCP. The program also creates all objects that RDMA
 * needs (objects.c), and lines already lie in registered memory.
 */
#include "objects.h"
#include "sockets.h"

#include <stdio.h>

static void serve(int tcp)
{
    struct rdma rdma;

    rdma_open(&rdma);
    while (read_line(tcp, rdma.memory + IN_AT))
        write_line(tcp, rdma.memory + IN_AT);
    rdma_close(&rdma);
}

static void ask(int tcp, char **texts)
{
    struct rdma rdma;

    rdma_open(&rdma);
    printf("%d octets are registered; a peer would need key 0x%llx and address %p\n", MEMORY_SIZE,
           (unsigned long long)rdma.key, (void *)rdma.memory);
    for (; *texts != NULL; texts++) {
        write_line(tcp, *texts);
        if (!read_line(tcp, rdma.memory + IN_AT))
            fail("echo", "the server has gone");
        printf("echo by TCP: %s\n", rdma.memory + IN_AT);
    }
    rdma_close(&rdma);
}

int main(int argc, char **argv)
{
    return run(argc, argv, serve, ask);
}
