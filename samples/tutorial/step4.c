/* SPDX-License-Identifier: BSD-2-Clause */
/* Step 4 of the tutorial: the echo goes over the converted connection, by Send and receive. */
#include "convert.h"
#include "sockets.h"

#include <stdio.h>
#include <string.h>

static void send_out(struct rdma *rdma, size_t length)
{
    it_lmr_triplet_t piece = rdma_piece(rdma, OUT_AT, length);

    check(it_post_send(rdma->ep, &piece, 1, 0, IT_COMPLETION_FLAG | IT_NOTIFY_FLAG),
          "it_post_send");
    if (!rdma_completed(rdma->requests, NULL))
        fail("send", "the connection has ended");
}

static void serve(int tcp)
{
    struct rdma rdma;
    uint32_t length;

    rdma_open(&rdma);
    if (convert_as_server(tcp, &rdma)) {
        /* The end of the connection flushes the posted receive, which ends this loop. */
        while (rdma_completed(rdma.receives, &length)) {
            memcpy(rdma.memory + OUT_AT, rdma.memory + IN_AT, length);
            rdma_post_receive(&rdma); /* before the answer, which may make the client send */
            send_out(&rdma, length);
        }
        end_as_server(&rdma);
    }
    rdma_close(&rdma);
}

static void ask(int tcp, char **texts)
{
    struct rdma rdma;
    uint32_t length;

    rdma_open(&rdma);
    convert_as_client(tcp, &rdma);
    for (; *texts != NULL; texts++) {
        (void)snprintf(rdma.memory + OUT_AT, LINE_SIZE, "%s", *texts);
        send_out(&rdma, strlen(rdma.memory + OUT_AT));
        if (!rdma_completed(rdma.receives, &length))
            fail("echo", "the connection has ended");
        printf("echo by RDMA: %.*s\n", (int)length, rdma.memory + IN_AT);
        rdma_post_receive(&rdma);
    }
    end_as_client(&rdma);
    rdma_close(&rdma);
}

int main(int argc, char **argv)
{
    return run(argc, argv, serve, ask);
}
