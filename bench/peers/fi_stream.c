/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fi_stream: messages, RDMA Writes and RDMA Reads over libfabric's tcp provider in the patterns of
 * it_perf, with both sides polling. Prints the seconds of the measured run.
 */
#include "fi_link.h"

#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SIZE_MAX_BYTES ((size_t)16 << 20)

/* The first page is for messages about the connection. The data follows it. */
#define CONTROL_ROOM ((size_t)4096)
#define CONTACT_OUT  ((size_t)0)
#define CONTACT_IN   ((size_t)64)
#define WORD_OUT     ((size_t)128)
#define WORD_IN      ((size_t)192)

/* The content of every source. A ping-pong of RDMA Writes changes the last byte. */
#define FILL 0xa5

enum op {
    OP_SEND,
    OP_WRITE,
    OP_READ
};

struct options {
    bool server;
    const char *host;
    const char *port;
    enum op op;
    bool latency;
    size_t size;
    uint64_t iters;
    uint64_t warm_up;
    uint64_t depth;
};

struct bench {
    struct fi_link link;
    const struct options *options;
    uint64_t requested; /* sends, Writes and Reads whose completions are requested */
    uint64_t done;      /* of these */
    uint64_t expected;  /* receives posted */
    uint64_t received;
    unsigned char stamp; /* last byte of the newest RDMA Write of a ping-pong */
};

struct contact {
    uint64_t address;
    uint64_t key;
};

static double clock_seconds(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Data moves from the source of one side to the target of the other. */
static size_t source(void)
{
    return CONTROL_ROOM;
}

static size_t target(const struct bench *bench)
{
    return CONTROL_ROOM + bench->options->size;
}

/* Takes completions, if there are any. This also moves the data on either side. */
static bool progress(struct bench *bench)
{
    struct fi_cq_msg_entry entries[32];
    ssize_t count = fi_cq_read(bench->link.cq, entries, 32);

    if (count == -FI_EAVAIL) {
        struct fi_cq_err_entry failed = {0};

        (void)fi_cq_readerr(bench->link.cq, &failed, 0);
        return fi_link_complain("a request", -failed.err);
    }
    if (count < 0 && count != -FI_EAGAIN)
        return fi_link_complain("fi_cq_read", (long)count);
    for (ssize_t i = 0; i < count; i++) {
        uint64_t *tally = entries[i].op_context;

        ++*tally;
    }
    return true;
}

static bool await(struct bench *bench, const uint64_t *tally, uint64_t wanted)
{
    while (*tally < wanted)
        if (!progress(bench))
            return false;
    return true;
}

/* Returns true if a post that found the queue full should be repeated. */
static bool again(struct bench *bench, ssize_t status, bool *good)
{
    if (status == -FI_EAGAIN && progress(bench))
        return true;
    *good = status == 0 || (status != -FI_EAGAIN && fi_link_complain("posting", (long)status));
    return false;
}

static bool post_receive(struct bench *bench, size_t offset, size_t length)
{
    struct fi_link *link = &bench->link;
    bool good;
    ssize_t status;

    do {
        status = fi_recv(link->ep, link->memory + offset, length, fi_mr_desc(link->mr),
                         FI_ADDR_UNSPEC, &bench->received);
    } while (again(bench, status, &good));
    bench->expected++;
    return good;
}

static bool post_send(struct bench *bench, size_t offset, size_t length)
{
    struct fi_link *link = &bench->link;
    bool good;
    ssize_t status;

    do {
        status = fi_send(link->ep, link->memory + offset, length, fi_mr_desc(link->mr),
                         FI_ADDR_UNSPEC, &bench->done);
    } while (again(bench, status, &good));
    bench->requested++;
    return good;
}

/* Posts an RDMA Write to the peer's target or a Read of its source, of the whole size. */
static bool post_rdma(struct bench *bench)
{
    struct fi_link *link = &bench->link;
    const size_t size = bench->options->size;
    void *description = fi_mr_desc(link->mr);
    bool good;
    ssize_t status;

    do {
        if (bench->options->op == OP_WRITE)
            status = fi_write(link->ep, link->memory + source(), size, description, FI_ADDR_UNSPEC,
                              link->remote_address + target(bench), link->remote_key, &bench->done);
        else
            status =
                fi_read(link->ep, link->memory + target(bench), size, description, FI_ADDR_UNSPEC,
                        link->remote_address + source(), link->remote_key, &bench->done);
    } while (again(bench, status, &good));
    bench->requested++;
    return good;
}

static bool post_data(struct bench *bench)
{
    if (bench->options->op == OP_SEND)
        return post_send(bench, source(), bench->options->size);
    return post_rdma(bench);
}

static bool post_target(struct bench *bench)
{
    return post_receive(bench, target(bench), bench->options->size);
}

/*
 * Like it_perf, posts a receive while the answer to the last message is in transit: there are two.
 */
static bool send_ping_pong(struct bench *bench, uint64_t iters)
{
    const bool server = bench->options->server;
    const uint64_t first = bench->received;

    if (!post_target(bench))
        return false;
    for (uint64_t i = 0; i < iters; i++) {
        if (!server && !post_data(bench))
            return false;
        if (i + 1 < iters && (!server || i == 0) && !post_target(bench))
            return false;
        if (!await(bench, &bench->received, first + i + 1))
            return false;
        if (server && !post_data(bench))
            return false;
        if (server && i + 2 < iters && !post_target(bench))
            return false;
    }
    return await(bench, &bench->done, bench->requested);
}

/* Waits for the last byte, which arrives when all bytes have. */
static bool await_stamp(struct bench *bench)
{
    const unsigned char *last = bench->link.memory + target(bench) + bench->options->size - 1;

    while (*last != bench->stamp)
        if (!progress(bench))
            return false;
    return true;
}

/* Changes the source only when the earlier Write has left it. */
static bool write_stamp(struct bench *bench)
{
    if (!await(bench, &bench->done, bench->requested))
        return false;
    bench->link.memory[source() + bench->options->size - 1] = bench->stamp;
    return post_rdma(bench);
}

static bool write_ping_pong(struct bench *bench, uint64_t iters)
{
    const bool server = bench->options->server;

    for (uint64_t i = 0; i < iters; i++) {
        bench->stamp++;
        if ((!server && !write_stamp(bench)) || !await_stamp(bench) ||
            (server && !write_stamp(bench)))
            return false;
    }
    return await(bench, &bench->done, bench->requested);
}

/* Keeps as many requests open as the depth allows. */
static bool stream(struct bench *bench, uint64_t iters)
{
    const uint64_t depth = bench->options->latency ? 1 : bench->options->depth;

    for (uint64_t i = 0; i < iters; i++) {
        if (bench->requested - bench->done >= depth &&
            !await(bench, &bench->done, bench->requested - depth + 1))
            return false;
        if (!post_data(bench))
            return false;
    }
    return await(bench, &bench->done, bench->requested);
}

static bool take_stream(struct bench *bench, uint64_t iters)
{
    const uint64_t first = bench->received;

    for (uint64_t i = 0; i < iters && i < bench->options->depth; i++)
        if (!post_target(bench))
            return false;
    while (bench->received - first < iters) {
        if (!progress(bench))
            return false;
        while (bench->expected - bench->received < bench->options->depth &&
               bench->expected - first < iters)
            if (!post_target(bench))
                return false;
    }
    return true;
}

static bool say_word(struct bench *bench)
{
    return post_send(bench, WORD_OUT, 1) && await(bench, &bench->done, bench->requested);
}

static bool hear_word(struct bench *bench)
{
    return post_receive(bench, WORD_IN, 1) && await(bench, &bench->received, bench->expected);
}

/* A stream ends when the server says that it has arrived. A message follows the RDMA operations. */
static bool run_stream(struct bench *bench, uint64_t iters)
{
    const bool rdma = bench->options->op != OP_SEND;

    if (!bench->options->server)
        return stream(bench, iters) && (!rdma || say_word(bench)) && hear_word(bench);
    return (rdma ? hear_word(bench) : take_stream(bench, iters)) && say_word(bench);
}

static bool run(struct bench *bench, uint64_t iters)
{
    if (!bench->options->latency || bench->options->op == OP_READ)
        return run_stream(bench, iters);
    return bench->options->op == OP_SEND ? send_ping_pong(bench, iters)
                                         : write_ping_pong(bench, iters);
}

/* Both sides tell where their memory is. The client sends first. */
static bool exchange(struct bench *bench)
{
    struct fi_link *link = &bench->link;
    struct contact contact = {fi_link_address(link), fi_mr_key(link->mr)};
    bool client = !bench->options->server;

    memcpy(link->memory + CONTACT_OUT, &contact, sizeof(contact));
    if (!post_receive(bench, CONTACT_IN, sizeof(contact)) ||
        (client && !post_send(bench, CONTACT_OUT, sizeof(contact))) ||
        !await(bench, &bench->received, bench->expected) ||
        (!client && !post_send(bench, CONTACT_OUT, sizeof(contact))) ||
        !await(bench, &bench->done, bench->requested))
        return false;
    memcpy(&contact, link->memory + CONTACT_IN, sizeof(contact));
    link->remote_address = contact.address;
    link->remote_key = contact.key;
    return true;
}

/* Returns whether this side has the right data, if it receives any. */
static bool intact(const struct bench *bench)
{
    const struct options *options = bench->options;
    const unsigned char *data = bench->link.memory + target(bench);
    const bool ping_pong = options->latency && options->op != OP_READ;
    const bool stamped = ping_pong && options->op == OP_WRITE;

    if (!ping_pong && options->server == (options->op == OP_READ))
        return true;
    for (size_t i = 0; i + 1 < options->size; i++)
        if (data[i] != FILL)
            return fi_link_complain("other data than was sent", -FI_EIO);
    return data[options->size - 1] == (stamped ? bench->stamp : FILL) ||
           fi_link_complain("other data than was sent", -FI_EIO);
}

static bool measure(struct bench *bench)
{
    const struct options *options = bench->options;
    double started;

    memset(bench->link.memory + source(), FILL, options->size);
    if (!exchange(bench) || !run(bench, options->warm_up))
        return false;
    started = clock_seconds();
    if (!run(bench, options->iters))
        return false;
    started = clock_seconds() - started;
    if (!intact(bench))
        return false;
    /* The connection stays until the server's last message has arrived. */
    if (!(options->server ? hear_word(bench) : say_word(bench)))
        return false;
    if (!options->server)
        (void)printf("seconds %.9f\n", started);
    return true;
}

static bool connect_sides(struct bench *bench, struct options *options)
{
    const size_t length = CONTROL_ROOM + 2 * options->size;
    struct fi_link *link = &bench->link;

    if (options->server ? !fi_link_listen(link, options->port) || !fi_link_accept(link, length)
                        : !fi_link_connect(link, options->host, options->port, length))
        return false;
    if (options->depth > fi_link_depth(link))
        options->depth = fi_link_depth(link);
    return true;
}

static bool parse_count(const char *text, uint64_t most, uint64_t *value)
{
    char *end;

    errno = 0;
    *value = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && *end == '\0' && errno == 0 && *value > 0 &&
           *value <= most;
}

static bool parse_op(const char *text, enum op *op)
{
    static const char *const names[] = {"send", "write", "read"};

    for (unsigned int i = 0; i < 3; i++) {
        if (strcmp(text, names[i]) == 0) {
            *op = (enum op)i;
            return true;
        }
    }
    return false;
}

/* Parses the arguments, which are the same on both sides: words follow the port. */
static bool parse(int argc, char *argv[], struct options *options)
{
    char **words;
    uint64_t size;

    options->server = argc == 9 && strcmp(argv[1], "server") == 0;
    if (!options->server && (argc != 10 || strcmp(argv[1], "client") != 0))
        return false;
    words = argv + (options->server ? 2 : 3);
    options->host = options->server ? NULL : argv[2];
    options->port = words[0];
    options->latency = strcmp(words[2], "lat") == 0;
    if (!parse_op(words[1], &options->op) || (!options->latency && strcmp(words[2], "bw") != 0) ||
        !parse_count(words[3], SIZE_MAX_BYTES, &size) ||
        !parse_count(words[4], UINT32_MAX, &options->iters) ||
        !parse_count(words[5], UINT32_MAX, &options->warm_up) ||
        !parse_count(words[6], UINT32_MAX, &options->depth))
        return false;
    options->size = (size_t)size;
    return true;
}

int main(int argc, char *argv[])
{
    struct options options;
    struct bench bench;
    bool good;

    memset(&options, 0, sizeof(options));
    memset(&bench, 0, sizeof(bench));
    if (!parse(argc, argv, &options)) {
        (void)fputs("fi_stream server PORT OP MEASURE SIZE ITERS WARM_UP DEPTH\n"
                    "fi_stream client HOST PORT OP MEASURE SIZE ITERS WARM_UP DEPTH\n"
                    "OP: send, write, read; MEASURE: lat, bw\n",
                    stderr);
        return 2;
    }
    bench.options = &options;
    good = connect_sides(&bench, &options) && measure(&bench);
    fi_link_close(&bench.link);
    return good ? 0 : 1;
}
