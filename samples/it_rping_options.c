/* SPDX-License-Identifier: BSD-2-Clause */
#include "it_rping_options.h"

#include "common/rdma.h"
#include "it_rping_text.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#define DEFAULT_PORT 7174 /* rping's */

static void usage(FILE *stream)
{
    (void)fprintf(
        stream,
        "it_rping -s [-vVdP] [-i INTERFACE] [-a ADDRESS] [-p PORT] [-C COUNT] [-S SIZE]\n"
        "it_rping -c -a ADDRESS [-vVd] [-i INTERFACE] [-I SOURCE] [-p PORT] [-C COUNT] [-S SIZE]\n"
        "\n"
        "Speaks the protocol of rping (package rdmacm-utils), over any interface of the library.\n"
        "\n"
        "  -s            server: waits for a client, serves it and ends\n"
        "  -c            client: connects, sends pings and disconnects\n"
        "  -a ADDRESS    client: the server's name or address\n"
        "                server: an address of the interface; :: or 0.0.0.0 for any. The server\n"
        "                listens on all addresses of the interface's port that has it\n"
        "  -I SOURCE     client: the address to connect from\n"
        "  -p PORT       %d by default; a server chooses a port if it is 0, and prints it\n"
        "  -C COUNT      client: pings to send; server: pings a client gets, before the server\n"
        "                disconnects it; 0, the default: no limit\n"
        "  -S SIZE       client: bytes of a ping, %zu to %zu, %zu by default\n"
        "                server: the most it takes from a client, %zu by default\n"
        "  -v            print the text of each ping\n"
        "  -V            validate the text of each ping\n"
        "  -d            print each step on stderr\n"
        "  -P            server: serve clients until killed, several at a time\n"
        "  -i INTERFACE  Interface Adapter, " RDMA_DEFAULT_IA " by default\n"
        "  -h, --help    this text\n"
        "\n"
        "Interrupted (SIGINT), a client finishes its ping and ends in good order.\n"
        "Exit status: 0 all went well, 1 something failed, 2 wrong usage.\n",
        DEFAULT_PORT, RPING_SIZE_MIN, RPING_SIZE_MAX, RPING_SIZE_DEFAULT, RPING_SIZE_MAX);
}

/* Accepts only digits, and a number within the range. */
static bool parse_number(char option, const char *text, unsigned long lowest, unsigned long highest,
                         unsigned long *number)
{
    char *end = NULL;

    errno = 0;
    if (isdigit((unsigned char)text[0]))
        *number = strtoul(text, &end, 10);
    if (end == NULL || *end != '\0' || errno != 0 || *number < lowest || *number > highest) {
        complain("-%c %s: must be a number from %lu to %lu", option, text, lowest, highest);
        return false;
    }
    return true;
}

static bool parse_numeric_option(char option, const char *text, struct options *options)
{
    unsigned long number;

    if (option == 'p' && parse_number(option, text, 0, UINT16_MAX, &number)) {
        options->port = (uint16_t)number;
        return true;
    }
    if (option == 'C' && parse_number(option, text, 0, INT32_MAX, &number)) {
        options->count = (uint32_t)number;
        return true;
    }
    if (option == 'S' && parse_number(option, text, RPING_SIZE_MIN, RPING_SIZE_MAX, &number)) {
        options->size = (size_t)number;
        return true;
    }
    return false;
}

static bool check_options(struct options *options, bool client)
{
    const char *wrong = NULL;

    if (options->server == client)
        wrong = "either -s or -c is needed";
    else if (client && options->address == NULL)
        wrong = "a client needs -a ADDRESS";
    else if (client && options->port == 0)
        wrong = "-p 0 is for servers";
    else if (client && options->persistent)
        wrong = "-P is for servers";
    else if (!client && options->source != NULL)
        wrong = "-I is for clients";
    if (wrong != NULL)
        complain("%s; --help says more", wrong);
    else if (options->size == 0)
        options->size = client ? RPING_SIZE_DEFAULT : RPING_SIZE_MAX;
    return wrong == NULL;
}

/* Handles one option; returns false after a message. */
static bool take_option(int letter, struct options *options, bool *client)
{
    switch (letter) {
    case 's':
        options->server = true;
        return true;
    case 'c':
        *client = true;
        return true;
    case 'v':
        options->show = true;
        return true;
    case 'V':
        options->validate = true;
        return true;
    case 'd':
        options->debug = true;
        return true;
    case 'P':
        options->persistent = true;
        return true;
    case 'a':
        options->address = optarg;
        return true;
    case 'I':
        options->source = optarg;
        return true;
    case 'i':
        options->ia = optarg;
        return true;
    case 'p':
    case 'C':
    case 'S':
        return parse_numeric_option((char)letter, optarg, options);
    default:
        return false; /* getopt has printed the message */
    }
}

int options_parse(int argc, char *argv[], struct options *options)
{
    static const struct option known[] = {
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    bool client = false;
    int letter;

    *options = (struct options){.ia = RDMA_DEFAULT_IA, .port = DEFAULT_PORT};
    while ((letter = getopt_long(argc, argv, "scvVdPa:I:i:p:C:S:h", known, NULL)) != -1) {
        if (letter == 'h') {
            usage(stdout);
            return EXIT_FINE;
        }
        if (!take_option(letter, options, &client))
            return EXIT_USAGE;
    }
    if (optind < argc) {
        complain("%s: only options are taken; --help says more", argv[optind]);
        return EXIT_USAGE;
    }
    return check_options(options, client) ? -1 : EXIT_USAGE;
}
