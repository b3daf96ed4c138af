/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * soak_run CONNECTIONS MEBIBYTES: years of uptime in short. One IA of a server and one of a client
 * have that many connections, 16 at a time, to many addresses of 127.0.0.0/8, and move that much
 * over the last one. Every octet is checked. Descriptors, threads and memory stay what they are
 * after the first tenth.
 */
#include "soak/soak.h"

#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define SAMPLES      10u
#define ADDRESSES    65521u /* a prime: ports and addresses pair up in a new way each time */
#define HEAP_SLACK   ((size_t)64 << 10)
#define MEMORY_SLACK ((size_t)4 << 10) /* KiB */
#define MEBIBYTE     ((uint64_t)1 << 20)

static struct soak_side side;
static uint16_t port;
static int control;
static uint64_t next; /* connection */
static struct fx_buf bulk_out, bulk_in;

/* ---- One connection -------------------------------------------------------------------------- */

/* 127.1.0.1 and so on. */
static void start(struct soak_conn *conn, uint32_t number)
{
    uint32_t place = number % ADDRESSES;
    it_net_addr_t address = {.addr_type = IT_IPV4,
                             .addr.ipv4.s_addr =
                                 htonl(0x7f010000u + (place / 250u) * 256u + place % 250u + 1u)};
    it_path_t path = fx_path_to(&side.node, &address);
    it_conn_qual_t qual = {.type = IT_IANA_PORT, .conn_qual.port = port};

    soak_prepare(&side, conn);
    conn->number = number;
    CHECK_OK(it_ep_connect(conn->ep, &path, NULL, &qual, IT_CONNECT_FLAG_TWO_WAY, NULL, 0));
}

/* Reads what the server has answered with. */
static void take_answer(struct soak_conn *conn, uint32_t length)
{
    struct soak_header header = soak_check(conn, length);
    it_lmr_triplet_t segment = fx_seg(&conn->in, 0, length);

    CHECK_EQ(conn->number, header.number);
    conn->peer = header;
    memset(conn->in.data, 0, length);
    CHECK_OK(it_post_rdma_read(conn->ep, &segment, 1, 0, FX_SIGNAL, header.address,
                               (it_rmr_context_t)header.key));
}

static void end(struct soak_conn *conn)
{
    switch (soak_end_of(conn->number)) {
    case SOAK_CLIENT_DISCONNECTS:
        CHECK_OK(it_ep_disconnect(conn->ep, NULL, 0));
        break;
    case SOAK_CLIENT_FREES:
        soak_free(&side, conn);
        break;
    default:
        soak_send(conn, conn->number, &conn->out);
        break;
    }
}

static void take_event(const it_event_t *event)
{
    struct soak_conn *conn = soak_conn_of(&side, event);

    if (!conn || (event->event_number == IT_DTO_RC_RECV_CMPL_EVENT &&
                  event->dto_cmpl.dto_status == IT_DTO_ERR_FLUSHED))
        return;
    switch (event->event_number) {
    case IT_CM_MSG_CONN_ESTABLISHED_EVENT:
        soak_send(conn, conn->number, &conn->out);
        break;
    case IT_DTO_RC_RECV_CMPL_EVENT:
        CHECK_EQ(IT_DTO_SUCCESS, event->dto_cmpl.dto_status);
        take_answer(conn, event->dto_cmpl.transferred_length);
        break;
    case IT_DTO_RDMA_READ_CMPL_EVENT:
        CHECK_EQ(IT_DTO_SUCCESS, event->dto_cmpl.dto_status);
        (void)soak_check(conn, conn->peer.length);
        end(conn);
        break;
    default:
        CHECK_EQ(IT_CM_MSG_CONN_DISCONNECT_EVENT, event->event_number);
        soak_renew(&side, conn);
        break;
    }
}

/* Runs connections until this number has ended. */
static void run_until(uint64_t number)
{
    struct fx_patience patience = fx_patience_start("connections to go on");
    uint64_t before = side.ended;
    it_event_t event;

    while (side.ended < number) {
        for (unsigned i = 0; i < side.conn_count && next < number; i++) {
            if (!side.conns[i].busy)
                start(&side.conns[i], (uint32_t)next++);
        }
        if (soak_event(&side, &event))
            take_event(&event);
        if (side.ended != before)
            patience = fx_patience_start("connections to go on");
        before = side.ended;
        fx_patience_check(&patience);
    }
}

/* ---- Samples --------------------------------------------------------------------------------- */

struct samples {
    struct soak_sample client, server;
};

static struct samples take_samples(size_t descriptors)
{
    struct samples samples;

    soak_free_all(&side);
    fx_fd_settle(descriptors);
    samples.client = soak_sample();
    CHECK_EQ(1, write(control, "s", 1));
    CHECK_EQ((ssize_t)sizeof(samples.server),
             recv(control, &samples.server, sizeof(samples.server), MSG_WAITALL));
    return samples;
}

static void compare(const char *who, const struct soak_sample *first, const struct soak_sample *now)
{
    check_context(who);
    CHECK_EQ(first->descriptors, now->descriptors);
    CHECK_EQ(first->threads, now->threads);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* they keep freed memory */
    CHECK(now->heap <= first->heap + HEAP_SLACK);
    CHECK(now->resident <= first->resident + MEMORY_SLACK);
#endif
}

static void show(uint64_t count, const struct samples *samples, uint64_t start_us)
{
    printf("%9lu connections, %6.1f s; client: %zu octets of heap, %zu KiB resident, %zu "
           "descriptors, %zu threads; server: %zu, %zu, %zu, %zu\n",
           (unsigned long)count, (double)(fx_now_us() - start_us) / 1e6, samples->client.heap,
           samples->client.resident, samples->client.descriptors, samples->client.threads,
           samples->server.heap, samples->server.resident, samples->server.descriptors,
           samples->server.threads);
    (void)fflush(stdout);
}

/* ---- Octets ---------------------------------------------------------------------------------- */

static void take_completion(struct soak_conn *conn, it_event_type_t number)
{
    struct fx_patience patience = fx_patience_start("a large transfer");
    it_event_t event;

    while (!soak_event(&side, &event))
        fx_patience_check(&patience);
    CHECK_EQ(number, event.event_number);
    if ((number & IT_EVENT_STREAM_MASK) == IT_DTO_EVENT_STREAM) {
        CHECK(event.dto_cmpl.ep == conn->ep);
        CHECK_EQ(IT_DTO_SUCCESS, event.dto_cmpl.dto_status);
    }
}

/* Writes a block and reads it back. Each round has other octets at both ends of the block. */
static void move_block(struct soak_conn *conn, uint64_t round)
{
    it_lmr_triplet_t out = fx_seg(&bulk_out, 0, SOAK_BULK);
    it_lmr_triplet_t in = fx_seg(&bulk_in, 0, SOAK_BULK);
    it_rmr_context_t key = (it_rmr_context_t)conn->peer.key;

    memcpy(bulk_out.data, &round, sizeof(round));
    memcpy(bulk_out.data + SOAK_BULK - sizeof(round), &round, sizeof(round));
    CHECK_OK(it_post_rdma_write(conn->ep, &out, 1, 0, FX_QUIET, conn->peer.address, key));
    CHECK_OK(it_post_rdma_read(conn->ep, &in, 1, 0, FX_SIGNAL, conn->peer.address, key));
    take_completion(conn, IT_DTO_RDMA_READ_CMPL_EVENT);
    CHECK(memcmp(bulk_out.data, bulk_in.data, SOAK_BULK) == 0);
}

static void move_octets(uint64_t octets)
{
    struct soak_conn *conn = &side.conns[0];
    uint64_t start_us = fx_now_us();

    if (octets == 0)
        return;
    bulk_out = fx_buf_make(&side.node, SOAK_BULK);
    bulk_in = fx_buf_make(&side.node, SOAK_BULK);
    fx_fill(bulk_out.data, SOAK_BULK, 1);
    start(conn, SOAK_BULK_NUMBER);
    take_completion(conn, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    soak_send(conn, SOAK_BULK_NUMBER, &conn->out);
    take_completion(conn, IT_DTO_RC_RECV_CMPL_EVENT);
    memcpy(&conn->peer, conn->in.data, sizeof(conn->peer));
    for (uint64_t round = 0; round * 2 * SOAK_BULK < octets; round++)
        move_block(conn, round);
    soak_free(&side, conn);
    fx_buf_free(&bulk_out);
    fx_buf_free(&bulk_in);
    printf("%lu MiB in %.1f s\n", (unsigned long)(octets / MEBIBYTE),
           (double)(fx_now_us() - start_us) / 1e6);
}

/* ---- All ------------------------------------------------------------------------------------- */

static void soak(uint64_t connections, uint64_t octets)
{
    uint64_t start_us = fx_now_us();
    struct samples first = {0}, now;
    size_t descriptors;

    soak_open(&side, SOAK_SLOTS);
    descriptors = fx_fd_count();
    for (unsigned i = 1; i <= SAMPLES; i++) {
        run_until(connections * i / SAMPLES);
        now = take_samples(descriptors);
        show(side.ended, &now, start_us);
        if (i == 1)
            first = now;
        compare("client", &first.client, &now.client);
        compare("server", &first.server, &now.server);
    }
    move_octets(octets);
    now = take_samples(descriptors);
    compare("client, behind all octets", &first.client, &now.client);
    compare("server, behind all octets", &first.server, &now.server);
    CHECK_OK(it_ia_free(side.node.ia));
}

int main(int argc, char **argv)
{
    uint64_t connections = argc == 3 ? strtoull(argv[1], NULL, 10) : 0;
    uint64_t octets = argc == 3 ? strtoull(argv[2], NULL, 10) * MEBIBYTE : 0;
    int sockets[2], status;
    pid_t server;

    if (connections < SAMPLES || connections >= SOAK_BULK_NUMBER) {
        fprintf(stderr, "usage: soak_run CONNECTIONS MEBIBYTES\n");
        return 2;
    }
    CHECK_EQ(0, socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets));
    server = fork();
    if (server == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)close(sockets[0]);
        soak_serve(sockets[1]);
        _exit(0);
    }
    (void)close(sockets[1]);
    control = sockets[0];
    CHECK_EQ(2, recv(control, &port, 2, MSG_WAITALL));
    soak(connections, octets);
    (void)close(control);
    CHECK(waitpid(server, &status, 0) == server && status == 0);
    puts("soak_run: ok");
    return 0;
}
