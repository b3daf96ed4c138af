/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * convert: a program that speaks TCP and changes to RDMA in the middle of the conversation.
 *
 * Server and client first talk in lines of text (convert_dialogue.h). Then both turn the same
 * connection into an RDMA connection with it_socket_convert, and the client moves a file into the
 * server's memory and back (convert_transfer.h).
 */
#include "common/rdma.h"
#include "convert_dialogue.h"
#include "convert_transfer.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define DEFAULT_PORT "7471"

struct options {
    const char *ia;
    const char *address;
    const char *port;
    bool once;
};

static void usage(FILE *stream)
{
    (void)fputs("convert server [OPTIONS]            waits for clients, one after the other\n"
                "convert client HOST PORT FILE       sends a file to a server's memory by RDMA,\n"
                "                                    reads it back, and compares\n"
                "\n"
                "  --port P      server: TCP port, " DEFAULT_PORT
                " by default; 0: any, it is printed\n"
                "  --bind ADDR   server: local address, all by default\n"
                "  --once        server: one client, whose outcome is the exit status\n"
                "  --ia NAME     Interface Adapter, " RDMA_DEFAULT_IA " by default\n"
                "  --help        this text\n"
                "\n"
                "Exit status: 0 the file arrived whole, 1 it did not, 2 wrong usage.\n",
                stream);
}

/* ---- Server ------------------------------------------------------------------------------- */

/* A client may not ask for more than half of this machine's memory. */
static uint64_t largest_file(void)
{
    long pages = sysconf(_SC_PHYS_PAGES);
    long size = sysconf(_SC_PAGESIZE);

    return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size / 2 : SIZE_MAX / 2;
}

static bool serve_with_memory(int sd, const char *ia, const struct offer *offer,
                              unsigned char *memory)
{
    struct rdma rdma;
    bool done;

    if (!rdma_open(&rdma, ia)) {
        dialogue_refuse_offer(sd, "no RDMA here");
        return false;
    }
    done =
        dialogue_accept_offer(sd, offer) && transfer_serve(sd, &rdma, memory, (size_t)offer->size);
    rdma_close(&rdma);
    return done;
}

static bool serve_client(int sd, const char *ia)
{
    struct offer offer;
    unsigned char *memory = NULL;
    bool done;

    if (!dialogue_receive_offer(sd, &offer))
        return false;
    if (offer.size <= largest_file())
        memory = memory_allocate((size_t)offer.size);
    if (memory == NULL) {
        dialogue_refuse_offer(sd, "not enough memory for that file");
        return false;
    }
    done = serve_with_memory(sd, ia, &offer, memory);
    free(memory);
    return done;
}

static int serve(int listener, const struct options *options)
{
    bool done;

    do {
        int sd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

        if (sd < 0 && (errno == EINTR || errno == ECONNABORTED))
            continue;
        if (sd < 0) {
            complain_errno("accept");
            return EXIT_FAILED;
        }
        (void)printf("a client connects\n");
        done = serve_client(sd, options->ia);
        (void)close(sd);
        (void)printf("%s\n\n", done ? "the client has been served" : "that went wrong");
        (void)fflush(stdout);
        if (options->once)
            return done ? EXIT_FINE : EXIT_FAILED;
    } while (true);
}

static int run_server(const struct options *options)
{
    int listener = tcp_listen(options->address, options->port);
    int status;

    if (listener < 0)
        return EXIT_FAILED;
    (void)printf("listening on port %u\n", tcp_local_port(listener));
    (void)fflush(stdout);
    status = serve(listener, options);
    (void)close(listener);
    return status;
}

/* ---- Client ------------------------------------------------------------------------------- */

/* Enlarges the memory when it is full. */
static bool grow(unsigned char **memory, size_t *room, size_t used)
{
    unsigned char *larger;

    if (used < *room)
        return true;
    larger = realloc(*memory, *room + *room / 2);
    if (larger == NULL)
        return false;
    *memory = larger;
    *room += *room / 2;
    return true;
}

/* Reads to the end, whatever the length: pipes do not have a known size. */
static bool read_all(int fd, unsigned char **memory, size_t *size)
{
    off_t told = lseek(fd, 0, SEEK_END);
    size_t room = told > 0 ? (size_t)told + 1 : RDMA_CHUNK;
    ssize_t count;

    if (told > 0)
        (void)lseek(fd, 0, SEEK_SET);
    *size = 0;
    *memory = malloc(room);
    if (*memory == NULL)
        return false;
    do {
        if (!grow(memory, &room, *size))
            return false;
        count = read(fd, *memory + *size, room - *size);
        if (count > 0)
            *size += (size_t)count;
    } while (count > 0 || (count < 0 && errno == EINTR));
    return count == 0;
}

static unsigned char *load_file(const char *path, struct offer *offer)
{
    const char *slash = strrchr(path, '/');
    unsigned char *memory = NULL;
    size_t size = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0 || !read_all(fd, &memory, &size)) {
        complain_errno(path);
        free(memory);
        memory = NULL;
    }
    if (fd >= 0)
        (void)close(fd);
    offer->size = size;
    (void)snprintf(offer->name, sizeof(offer->name), "%s", slash != NULL ? slash + 1 : path);
    return memory;
}

static bool talk_and_send(const char *host, const char *port, struct rdma *rdma,
                          const struct offer *offer, unsigned char *file, unsigned char *copy)
{
    int sd = tcp_connect(host, port);
    bool done;

    if (sd < 0)
        return false;
    done =
        dialogue_make_offer(sd, offer) && transfer_send(sd, rdma, file, copy, (size_t)offer->size);
    (void)close(sd);
    return done;
}

/* Does everything that takes time before the dialogue, during which the server has to wait. */
static int run_client(const struct options *options, char *const arguments[])
{
    struct offer offer;
    struct rdma rdma;
    unsigned char *file = load_file(arguments[2], &offer);
    unsigned char *copy = file != NULL ? memory_allocate((size_t)offer.size) : NULL;
    bool done = false;

    if (file != NULL && copy == NULL)
        complain("not enough memory for the file and its copy");
    if (copy != NULL && rdma_open(&rdma, options->ia)) {
        done = talk_and_send(arguments[0], arguments[1], &rdma, &offer, file, copy);
        rdma_close(&rdma);
    }
    free(copy);
    free(file);
    return done ? EXIT_FINE : EXIT_FAILED;
}

/* ---- Arguments ---------------------------------------------------------------------------- */

/* Returns -1 to continue, or the exit status. */
static int parse_options(int argc, char *argv[], struct options *options)
{
    static const struct option known[] = {
        {"port", required_argument, NULL, 'p'}, {"bind", required_argument, NULL, 'b'},
        {"once", no_argument, NULL, 'o'},       {"ia", required_argument, NULL, 'i'},
        {"help", no_argument, NULL, 'h'},       {NULL, 0, NULL, 0},
    };
    int letter;

    while ((letter = getopt_long(argc, argv, "h", known, NULL)) != -1) {
        switch (letter) {
        case 'p':
            options->port = optarg;
            break;
        case 'b':
            options->address = optarg;
            break;
        case 'o':
            options->once = true;
            break;
        case 'i':
            options->ia = optarg;
            break;
        case 'h':
            usage(stdout);
            return EXIT_FINE;
        default:
            return EXIT_USAGE;
        }
    }
    return -1;
}

int main(int argc, char *argv[])
{
    struct options options = {RDMA_DEFAULT_IA, NULL, DEFAULT_PORT, false};
    int status = parse_options(argc, argv, &options);

    report_program("convert");
    if (status >= 0)
        return status;
    if (argc - optind == 1 && strcmp(argv[optind], "server") == 0)
        return run_server(&options);
    if (argc - optind == 4 && strcmp(argv[optind], "client") == 0)
        return run_client(&options, argv + optind + 1);
    usage(stderr);
    return EXIT_USAGE;
}
