/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rdma_rw: the classic pair of programs. They connect with the connection management of the API and
 * send each other the key of some of their memory. Then each reads the other's memory or writes
 * into it and reports that, and the client disconnects.
 *
 * Each side chooses its action (read or write) independently of the other one: the memory has a
 * text to read and room for a text to write.
 */
#include "common/address.h"
#include "common/rdma.h"

#include <itx_api.h>

#include <arpa/inet.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_SIZE 128

/* The memory that the peer may use: a text to read, and after it room to write. */
#define SHELF_AT    0
#define INBOX_AT    TEXT_SIZE
#define SHARED_SIZE ((size_t)2 * TEXT_SIZE)

/* The action on the peer's memory. It is sent in the detail of MESSAGE_DONE. */
enum action {
    ACTION_READ = 1,
    ACTION_WRITE = 2,
};

struct options {
    const char *ia;
    const char *side; /* "server" or "client", also used in texts */
    enum action action;
    const char *host;
    uint16_t port; /* host byte order */
};

static void usage(FILE *stream)
{
    (void)fputs(
        "rdma_rw server read|write [HOST] PORT   waits for one client\n"
        "rdma_rw client read|write HOST PORT     connects to a server\n"
        "\n"
        "Both sides tell each other where a piece of their memory is. Then each one reads\n"
        "the other's memory, or writes into it, as the second argument says.\n"
        "\n"
        "  --ia NAME   Interface Adapter, " RDMA_DEFAULT_IA " by default\n"
        "  --help      this text\n"
        "\n"
        "A server listens on all addresses of its Interface Adapter, whatever HOST says; with\n"
        "PORT 0 on a port of the library's choice, which it prints.\n"
        "Exit status: 0 all went well, 1 something failed, 2 wrong usage.\n",
        stream);
}

/* ---- Connecting --------------------------------------------------------------------------- */

static bool wait_request(it_evd_handle_t evd, it_event_t *event)
{
    if (!rdma_wait_event(evd, event))
        return false;
    if (event->event_number == IT_CM_REQ_CONN_REQUEST_EVENT)
        return true;
    complain("unexpected: %s", itx_event_string(event->event_number));
    return false;
}

/* Listens until a request arrives, and accepts it with the endpoint. */
static bool accept_client(struct rdma *rdma, uint16_t port)
{
    it_conn_qual_t qualifier = {.type = IT_IANA_PORT};
    it_listen_flags_t flags = port != 0 ? IT_LISTEN_CONN_QUAL_INPUT : IT_LISTEN_NO_FLAG;
    it_evd_handle_t requests;
    it_listen_handle_t listener;
    it_event_t event;
    bool connected;

    qualifier.conn_qual.port = htons(port);
    if (!succeeded(it_evd_create(rdma->ia, IT_CM_REQ_EVENT_STREAM, IT_EVD_OVERFLOW_DEFAULT, 4,
                                 IT_THRESHOLD_DISABLE, NULL, &requests, NULL),
                   "it_evd_create") ||
        !succeeded(it_listen_create(rdma->ia, rdma->spigot, requests, flags, &qualifier, &listener),
                   "it_listen_create"))
        return false;
    (void)printf("listening on port %u\n", (unsigned int)ntohs(qualifier.conn_qual.port));
    (void)fflush(stdout);
    connected =
        wait_request(requests, &event) &&
        succeeded(it_ep_accept(rdma->ep, event.conn_req.cn_est_id, NULL, 0), "it_ep_accept") &&
        rdma_wait_connected(rdma);
    /* One client is enough. The connection does not need its listen point any more. */
    return succeeded(it_listen_free(listener), "it_listen_free") && connected;
}

/* Finds the path to the first address of the host that can be reached. */
static bool look_up_path(struct rdma *rdma, const char *host, it_path_t *path)
{
    it_net_addr_t list[ADDRESS_ROOM];
    size_t listed;

    if (!address_look_up(host, list, &listed))
        return false;
    for (size_t i = 0; i < listed; i++) {
        size_t count = 1;
        size_t total = 0;

        if (!succeeded(it_get_pathinfo(rdma->ia, rdma->spigot, &list[i], &count, &total, path),
                       "it_get_pathinfo"))
            return false;
        if (count > 0)
            return true;
    }
    complain("no path leads to the server");
    return false;
}

static bool connect_to_server(struct rdma *rdma, const char *host, uint16_t port)
{
    it_conn_qual_t qualifier = {.type = IT_IANA_PORT};
    it_path_t path;

    qualifier.conn_qual.port = htons(port);
    return look_up_path(rdma, host, &path) &&
           succeeded(
               it_ep_connect(rdma->ep, &path, NULL, &qualifier, IT_CONNECT_FLAG_TWO_WAY, NULL, 0),
               "it_ep_connect") &&
           rdma_wait_connected(rdma);
}

/* ---- Reading and writing ------------------------------------------------------------------ */

static bool read_shelf(struct rdma *rdma, const struct region *scratch, const struct remote *remote)
{
    it_lmr_triplet_t segment = region_segment(scratch, 0, TEXT_SIZE);

    if (!succeeded(it_post_rdma_read(rdma->ep, &segment, 1, 0, IT_COMPLETION_FLAG | IT_NOTIFY_FLAG,
                                     remote->address + SHELF_AT, remote->key),
                   "it_post_rdma_read") ||
        !rdma_wait_request(rdma))
        return false;
    scratch->memory[TEXT_SIZE - 1] = '\0';
    (void)printf("read from the peer's memory: \"%s\"\n", (const char *)scratch->memory);
    return true;
}

static bool write_inbox(struct rdma *rdma, const struct region *scratch,
                        const struct remote *remote, const char *side)
{
    char *text = (char *)scratch->memory;
    it_lmr_triplet_t segment = region_segment(scratch, 0, TEXT_SIZE);

    (void)snprintf(text, TEXT_SIZE, "the %s, process %ld, was here", side, (long)getpid());
    if (!succeeded(it_post_rdma_write(rdma->ep, &segment, 1, 0, IT_COMPLETION_FLAG | IT_NOTIFY_FLAG,
                                      remote->address + INBOX_AT, remote->key),
                   "it_post_rdma_write") ||
        !rdma_wait_request(rdma))
        return false;
    (void)printf("wrote to the peer's memory: \"%s\"\n", text);
    return true;
}

/*
 * Each side sends the address of its memory. The client sends first: on iWARP the side that
 * accepted may not send before it has received a message.
 */
static bool exchange_keys(struct rdma *rdma, const struct region *shared, bool client,
                          struct remote *remote)
{
    struct message message;

    if (client && !rdma_advertise(rdma, shared, SHARED_SIZE))
        return false;
    if (!rdma_receive(rdma, MESSAGE_BUFFER, &message))
        return false;
    if (!client && !rdma_advertise(rdma, shared, SHARED_SIZE))
        return false;
    if (message.length != SHARED_SIZE) {
        complain("the peer's memory has another size than expected");
        return false;
    }
    remote->key = message.key;
    remote->address = message.address;
    remote->length = message.length;
    (void)printf("the peer's memory: key 0x%llx, address 0x%llx\n", (unsigned long long)remote->key,
                 (unsigned long long)remote->address);
    return true;
}

/*
 * Each side reports when it has finished with the other's memory. Only then may the memory be
 * freed.
 */
static bool say_and_hear_done(struct rdma *rdma, const struct region *shared, enum action action)
{
    struct message message = {.kind = MESSAGE_DONE, .detail = (uint32_t)action};
    char *inbox = (char *)shared->memory + INBOX_AT;

    if (!rdma_send(rdma, &message) || !rdma_receive(rdma, MESSAGE_DONE, &message))
        return false;
    inbox[TEXT_SIZE - 1] = '\0';
    if (message.detail == ACTION_WRITE)
        (void)printf("the peer says it has written: \"%s\"\n", inbox);
    else
        (void)printf("the peer says it has read\n");
    return true;
}

static bool use_connection(struct rdma *rdma, const struct options *options,
                           const struct region *shared, const struct region *scratch)
{
    bool client = strcmp(options->side, "client") == 0;
    struct remote remote;
    bool done;

    (void)printf("connected\n");
    if (!exchange_keys(rdma, shared, client, &remote))
        return false;
    if (options->action == ACTION_READ)
        done = read_shelf(rdma, scratch, &remote);
    else
        done = write_inbox(rdma, scratch, &remote, options->side);
    if (!done || !say_and_hear_done(rdma, shared, options->action))
        return false;
    done = client ? rdma_disconnect(rdma) : rdma_wait_disconnected(rdma);
    if (done)
        (void)printf("disconnected\n");
    return done;
}

/* ---- The whole ---------------------------------------------------------------------------- */

static bool run_with_regions(struct rdma *rdma, const struct options *options,
                             const struct region *shared, const struct region *scratch)
{
    bool connected;

    (void)snprintf((char *)shared->memory + SHELF_AT, TEXT_SIZE, "greetings from the %s",
                   options->side);
    if (strcmp(options->side, "server") == 0)
        connected = accept_client(rdma, options->port);
    else
        connected = connect_to_server(rdma, options->host, options->port);
    return connected && use_connection(rdma, options, shared, scratch);
}

static bool run_with_adapter(struct rdma *rdma, const struct options *options,
                             unsigned char *memory)
{
    struct region shared;
    struct region scratch;
    bool done = false;

    if (!region_create(&shared, rdma->pz, memory, SHARED_SIZE, IT_PRIV_LOCAL | IT_PRIV_REMOTE))
        return false;
    if (region_create(&scratch, rdma->pz, memory + SHARED_SIZE, TEXT_SIZE, rdma->sink_privileges)) {
        done = run_with_regions(rdma, options, &shared, &scratch);
        region_free(&scratch);
    }
    region_free(&shared);
    return done;
}

static int run(const struct options *options)
{
    unsigned char *memory = memory_allocate(SHARED_SIZE + TEXT_SIZE);
    struct rdma rdma;
    bool done = false;

    if (memory == NULL) {
        complain("out of memory");
        return EXIT_FAILED;
    }
    if (rdma_open(&rdma, options->ia)) {
        done = run_with_adapter(&rdma, options, memory);
        rdma_close(&rdma);
    }
    free(memory);
    return done ? EXIT_FINE : EXIT_FAILED;
}

/* Parses the arguments that are no options. A server may omit HOST. */
static bool parse_arguments(int count, char *const arguments[], struct options *options)
{
    bool server = count > 0 && strcmp(arguments[0], "server") == 0;
    unsigned long port;
    char *end;

    if (count != 4 && !(server && count == 3))
        return false;
    if (!server && strcmp(arguments[0], "client") != 0)
        return false;
    if (strcmp(arguments[1], "read") != 0 && strcmp(arguments[1], "write") != 0)
        return false;
    port = strtoul(arguments[count - 1], &end, 10);
    if (end == arguments[count - 1] || *end != '\0' || port > UINT16_MAX || (!server && port == 0))
        return false;
    options->side = arguments[0];
    options->action = strcmp(arguments[1], "read") == 0 ? ACTION_READ : ACTION_WRITE;
    options->host = arguments[2];
    options->port = (uint16_t)port;
    return true;
}

int main(int argc, char *argv[])
{
    static const struct option known[] = {
        {"ia", required_argument, NULL, 'i'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    struct options options = {.ia = RDMA_DEFAULT_IA};
    int letter;

    report_program("rdma_rw");
    while ((letter = getopt_long(argc, argv, "h", known, NULL)) != -1) {
        if (letter == 'i') {
            options.ia = optarg;
            continue;
        }
        usage(letter == 'h' ? stdout : stderr);
        return letter == 'h' ? EXIT_FINE : EXIT_USAGE;
    }
    if (!parse_arguments(argc - optind, argv + optind, &options)) {
        usage(stderr);
        return EXIT_USAGE;
    }
    return run(&options);
}
