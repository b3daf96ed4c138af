/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Step 5 of the tutorial: the text does not travel in messages. The client sends the address of its
 * text; the server reads it from there by RDMA, and writes the echo over it, in capitals. The
 * client's program does nothing for that.
 */
#include "convert.h"
#include "sockets.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* What a peer needs to use memory; in network byte order, since it is sent in a message. */
struct place {
    uint64_t address;
    uint64_t key;
    uint64_t length;
};

/* Offset of the text in either program's memory, after OUT_AT and IN_AT, where the messages are. */
#define TEXT_AT (OUT_AT + sizeof(struct place))

#define TOLD (IT_COMPLETION_FLAG | IT_NOTIFY_FLAG)

static void send_out(struct rdma *rdma, size_t length)
{
    it_lmr_triplet_t piece = rdma_piece(rdma, OUT_AT, length);

    check(it_post_send(rdma->ep, &piece, 1, 0, TOLD), "it_post_send");
    if (!rdma_completed(rdma->requests, NULL))
        fail("send", "the connection has ended");
}

static void echo_there(struct rdma *rdma, const struct place *place)
{
    it_rdma_addr_t address = it_ntoh64(place->address);
    it_rmr_context_t key = it_ntoh64(place->key);
    size_t length = it_ntoh64(place->length);
    it_lmr_triplet_t piece;

    if (length > IN_AT - TEXT_AT)
        fail("echo", "the client's text is too long");
    piece = rdma_piece(rdma, TEXT_AT, length);
    check(it_post_rdma_read(rdma->ep, &piece, 1, 0, TOLD, address, key), "it_post_rdma_read");
    if (!rdma_completed(rdma->requests, NULL))
        fail("read", "the connection has ended");
    for (char *octet = rdma->memory + TEXT_AT; length > 0; octet++, length--)
        *octet = (char)toupper((unsigned char)*octet);
    /* No completion of a success is needed: the message after it informs both sides. */
    check(it_post_rdma_write(rdma->ep, &piece, 1, 0, 0, address, key), "it_post_rdma_write");
}

static void serve(int tcp)
{
    struct rdma rdma;
    struct place place;
    uint32_t length;

    rdma_open(&rdma);
    if (convert_as_server(tcp, &rdma)) {
        while (rdma_completed(rdma.receives, &length) && length == sizeof(place)) {
            memcpy(&place, rdma.memory + IN_AT, sizeof(place));
            rdma_post_receive(&rdma);
            echo_there(&rdma, &place);
            send_out(&rdma, 0); /* "done": when it is there, so is what was written before it */
        }
        end_as_server(&rdma);
    }
    rdma_close(&rdma);
}

static void ask(int tcp, char **texts)
{
    struct rdma rdma;

    rdma_open(&rdma);
    convert_as_client(tcp, &rdma);
    for (; *texts != NULL; texts++) {
        char *text = rdma.memory + TEXT_AT;
        int length = snprintf(text, IN_AT - TEXT_AT, "%s", *texts);
        struct place place = {.address = it_hton64((uint64_t)(uintptr_t)text),
                              .key = it_hton64(rdma.key),
                              .length = it_hton64((uint64_t)strnlen(text, (size_t)length))};

        memcpy(rdma.memory + OUT_AT, &place, sizeof(place));
        send_out(&rdma, sizeof(place));
        if (!rdma_completed(rdma.receives, NULL))
            fail("echo", "the connection has ended");
        printf("echo in this program's memory: %s\n", text);
        rdma_post_receive(&rdma);
    }
    end_as_client(&rdma);
    rdma_close(&rdma);
}

int main(int argc, char **argv)
{
    return run(argc, argv, serve, ask);
}
