/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A live TCP connection over a slow path that loses packets: a mebibyte of plain stream in both
 * directions at once, then both ends convert it, then RDMA in both directions. Every octet is
 * compared. Each end is a process.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "interop/link.h"
#include "interop/pattern.h"
#include "interop/place.h"

#define STREAM   ((size_t)1 << 20)
#define AREA     ((size_t)1 << 20)
#define MESSAGES 40u
#define MESSAGE  3001u
#define LAST     "and from here on RDMA"
#define LAST_LEN (sizeof(LAST) - 1)

/* Seeds of what the initiator's end sends. The other end uses the next seed. */
enum seed {
    STREAMED = 1,
    MOVED = 3
};

struct end {
    bool initiator;
    int sd;
    struct fx_node node;
    it_ep_handle_t ep;
    struct fx_buf source, written, read, inbox, note;
};

static uint32_t seed_of(const struct end *end, enum seed seed, bool own)
{
    return (uint32_t)seed + (end->initiator == own ? 0 : 1);
}

/* ---- Plain TCP ------------------------------------------------------------------------------ */

/* Returns 0 if nothing could be moved now. */
static size_t moved(ssize_t result)
{
    if (result > 0)
        return (size_t)result;
    CHECK(result == -1 && (errno == EAGAIN || errno == EINTR));
    return 0;
}

/* Sends in both directions at once, and reads no octet beyond the stream. */
static void stream(const struct end *end)
{
    static unsigned char out[STREAM];
    static unsigned char in[STREAM];
    size_t sent = 0;
    size_t received = 0;

    pattern_fill(out, STREAM, 0, seed_of(end, STREAMED, true));
    while (sent < STREAM || received < STREAM) {
        struct pollfd pollfd = {
            .fd = end->sd,
            .events = (short)((sent < STREAM ? POLLOUT : 0) | (received < STREAM ? POLLIN : 0))};

        CHECK_EQ(1, poll(&pollfd, 1, FX_PATIENCE_MS));
        if (sent < STREAM)
            sent += moved(send(end->sd, out + sent, STREAM - sent, MSG_DONTWAIT | MSG_NOSIGNAL));
        if (received < STREAM)
            received += moved(recv(end->sd, in + received, STREAM - received, MSG_DONTWAIT));
    }
    pattern_check(in, STREAM, 0, seed_of(end, STREAMED, false));
}

/* ---- Conversion ----------------------------------------------------------------------------- */

/*
 * The responder passes its last streaming message to the conversion call. The initiator reads
 * exactly that message.
 */
static void convert(const struct end *end)
{
    unsigned char last[LAST_LEN];

    if (end->initiator) {
        CHECK_EQ(LAST_LEN, recv(end->sd, last, LAST_LEN, MSG_WAITALL));
        CHECK(memcmp(last, LAST, LAST_LEN) == 0);
        CHECK_OK(it_socket_convert(end->sd, end->ep, IT_SC_DEFAULT, NULL, 0));
    } else {
        memcpy(last, LAST, LAST_LEN);
        CHECK_OK(it_socket_convert(end->sd, end->ep, IT_SC_DEFAULT, last, LAST_LEN));
    }
    (void)close(end->sd);
    fx_conn(end->node.conn_evd, end->ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
}

/* ---- RDMA ----------------------------------------------------------------------------------- */

struct note {
    uint64_t written_address, source_address;
    uint32_t written_key, source_key;
};

static void open_end(struct end *end)
{
    it_ep_attributes_t attr = fx_ep_attr();

    attr.max_recv_dtos = MESSAGES + 2;
    fx_node_open(&end->node);
    end->ep = fx_ep(&end->node, &attr);
    end->source = fx_buf_make(&end->node, AREA);
    end->written = fx_buf_make(&end->node, AREA);
    end->read = fx_buf_make(&end->node, AREA);
    end->inbox = fx_buf_make(&end->node, (size_t)MESSAGES * MESSAGE);
    end->note = fx_buf_make(&end->node, 2 * sizeof(struct note));
    pattern_fill(end->source.data, AREA, 0, seed_of(end, MOVED, true));
    fx_recv(end->ep, &end->note, sizeof(struct note), sizeof(struct note), 0);
    for (unsigned i = 0; i < MESSAGES; i++)
        fx_recv(end->ep, &end->inbox, (size_t)i * MESSAGE, MESSAGE, 1 + i);
    CHECK_OK(it_post_recv(end->ep, NULL, 0, MESSAGES + 1, FX_SIGNAL));
}

/* Each end tells the other one the address of its memory. */
static struct note exchange_notes(const struct end *end)
{
    struct note note = {.written_address = fx_addr(&end->written, 0),
                        .source_address = fx_addr(&end->source, 0),
                        .written_key = end->written.key,
                        .source_key = end->source.key};

    memcpy(end->note.data, &note, sizeof(note));
    fx_send(end->ep, &end->note, 0, sizeof(note), 100, FX_SIGNAL);
    fx_done_len(end->node.request_evd, end->ep, IT_DTO_SEND_CMPL_EVENT, 100, sizeof(note));
    fx_done_len(end->node.recv_evd, end->ep, IT_DTO_RC_RECV_CMPL_EVENT, 0, sizeof(note));
    memcpy(&note, end->note.data + sizeof(note), sizeof(note));
    return note;
}

static void transfer(const struct end *end)
{
    struct note far = exchange_notes(end);
    it_lmr_triplet_t segment = fx_seg(&end->source, 0, AREA);

    CHECK_OK(it_post_rdma_write(end->ep, &segment, 1, 200, FX_SIGNAL, far.written_address,
                                far.written_key));
    for (unsigned i = 0; i < MESSAGES; i++)
        fx_send(end->ep, &end->source, (size_t)i * MESSAGE, MESSAGE, 300 + i, FX_SIGNAL);
    segment = fx_seg(&end->read, 0, AREA);
    CHECK_OK(it_post_rdma_read(end->ep, &segment, 1, 400, FX_SIGNAL, far.source_address,
                               far.source_key));
    fx_done_len(end->node.request_evd, end->ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, 200, AREA);
    for (unsigned i = 0; i < MESSAGES; i++)
        fx_done_len(end->node.request_evd, end->ep, IT_DTO_SEND_CMPL_EVENT, 300 + i, MESSAGE);
    fx_done_len(end->node.request_evd, end->ep, IT_DTO_RDMA_READ_CMPL_EVENT, 400, AREA);
    for (unsigned i = 0; i < MESSAGES; i++)
        fx_done_len(end->node.recv_evd, end->ep, IT_DTO_RC_RECV_CMPL_EVENT, 1 + i, MESSAGE);
    pattern_check(end->inbox.data, (size_t)MESSAGES * MESSAGE, 0, seed_of(end, MOVED, false));
    pattern_check(end->written.data, AREA, 0, seed_of(end, MOVED, false));
    pattern_check(end->read.data, AREA, 0, seed_of(end, MOVED, false));
}

/* An empty message each way says that a side has all it wants. No side leaves before. */
static void part(const struct end *end)
{
    CHECK_OK(it_post_send(end->ep, NULL, 0, 500, FX_SIGNAL));
    fx_done_len(end->node.request_evd, end->ep, IT_DTO_SEND_CMPL_EVENT, 500, 0);
    fx_done_len(end->node.recv_evd, end->ep, IT_DTO_RC_RECV_CMPL_EVENT, MESSAGES + 1, 0);
    if (end->initiator)
        CHECK_OK(it_ep_disconnect(end->ep, NULL, 0));
    fx_conn(end->node.conn_evd, end->ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
}

static void close_end(struct end *end)
{
    struct fx_buf *bufs[] = {&end->source, &end->written, &end->read, &end->inbox, &end->note};

    CHECK_OK(it_ep_free(end->ep));
    for (size_t i = 0; i < sizeof(bufs) / sizeof(bufs[0]); i++)
        fx_buf_free(bufs[i]);
    fx_node_close(&end->node);
}

static void run(bool initiator, int sd)
{
    struct end end = {.initiator = initiator, .sd = sd};

    check_context(initiator ? "Initiator" : "Responder");
    stream(&end);
    open_end(&end);
    convert(&end);
    transfer(&end);
    part(&end);
    close_end(&end);
    check_done();
}

/* ---- Two processes -------------------------------------------------------------------------- */

static struct sockaddr_in far_address(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET};

    address.sin_addr = fx_address_from(place_named("veth")->theirs).addr.ipv4;
    return address;
}

static void responder(int port_pipe)
{
    struct sockaddr_in address = far_address();
    socklen_t length = sizeof(address);
    int listener;
    int sd;

    link_go_far();
    listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(listener != -1);
    CHECK_EQ(0, bind(listener, (struct sockaddr *)&address, sizeof(address)));
    CHECK_EQ(0, listen(listener, 1));
    CHECK_EQ(0, getsockname(listener, (struct sockaddr *)&address, &length));
    CHECK_EQ(sizeof(address.sin_port),
             write(port_pipe, &address.sin_port, sizeof(address.sin_port)));
    sd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    CHECK(sd != -1);
    (void)close(listener);
    run(false, sd);
}

static void initiator(int port_pipe)
{
    struct sockaddr_in address = far_address();
    int sd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    CHECK(sd != -1);
    CHECK_EQ(sizeof(address.sin_port),
             read(port_pipe, &address.sin_port, sizeof(address.sin_port)));
    CHECK_EQ(0, connect(sd, (struct sockaddr *)&address, sizeof(address)));
    run(true, sd);
}

int main(void)
{
    int pipes[2];
    int status = 0;
    pid_t child;

    if (!link_impair(30, 1)) {
        fprintf(stderr, "skipped: the kernel has no netem\n");
        return 77;
    }
    CHECK_EQ(0, pipe(pipes));
    child = fork();
    CHECK(child != -1);
    if (child == 0) {
        responder(pipes[1]);
        _exit(0); /* the other process restores the link's settings */
    }
    (void)close(pipes[1]); /* a child that fails early then ends this process's read */
    initiator(pipes[0]);
    CHECK_EQ(child, waitpid(child, &status, 0));
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return 0;
}
