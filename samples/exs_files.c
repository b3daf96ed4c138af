/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Extended Sockets, step 5: files. The client sends the name of a file, ended by a line feed. The
 * server answers with the length as a line of text and the file, by one exs_sendfile: the library
 * opens, reads and closes the file. The client writes the file to its standard output.
 */
#include "common/exs/setup.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LINE 4096
#define ROOM 262144

/* ---- Lines ---------------------------------------------------------------------------------- */

/* Reads single octets, so that it consumes nothing after the line. */
static bool read_line(int fd, char *line)
{
    for (size_t i = 0; i < LINE; i++) {
        if (exs_read(fd, line + i, 1) != 1)
            return false;
        if (line[i] == '\n') {
            line[i] = '\0';
            return true;
        }
    }
    return false;
}

/* ---- Server --------------------------------------------------------------------------------- */

/* Answers "-" if there is no such file. */
static bool send_file(int fd, const char *path)
{
    struct stat status;
    char head[32] = "-\n";
    exs_xferfile_t answer[2] = {
        {.exs_xfv_type = EXS_IOVEC},
        {.exs_xfv_type = EXS_PATHVEC, .exs_xfvec.exs_pathv.exs_pathv_path = path}};
    int count = 1;

    if (stat(path, &status) == 0 && S_ISREG(status.st_mode)) {
        (void)snprintf(head, sizeof(head), "%jd\n", (intmax_t)status.st_size);
        /* The call sends this length, even if the file grows now. */
        answer[1].exs_xfvec.exs_pathv.exs_pathv_length = (uint64_t)status.st_size;
        count = status.st_size > 0 ? 2 : 1;
    }
    answer[0].exs_xfvec.exs_iov = (exs_iovec_t){head, strlen(head), EXS_MHANDLE_UNREGISTERED};
    return exs_sendfile(fd, answer, count, EXS_BLOCK, EXS_QHANDLE_INVALID, NULL) >= 0;
}

/* The server continues when a client goes away in the middle. */
static void run_server(const char *port)
{
    int listener = listen_on(port);
    char path[LINE];

    for (;;) {
        int fd = exs_blocking_accept(listener, NULL, NULL);

        need(fd >= 0, "exs_blocking_accept");
        while (read_line(fd, path))
            if (!send_file(fd, path))
                break;
        (void)exs_blocking_close(fd);
    }
}

/* ---- Client --------------------------------------------------------------------------------- */

static void receive_file(int fd, uint64_t length)
{
    static char buffer[ROOM];

    while (length > 0) {
        ssize_t got = exs_read(fd, buffer, length < ROOM ? (size_t)length : ROOM);

        if (got == 0) {
            (void)fputs("the file ends too early\n", stderr);
            exit(1);
        }
        need(got > 0, "exs_read");
        need(fwrite(buffer, 1, (size_t)got, stdout) == (size_t)got, "standard output");
        length -= (uint64_t)got;
    }
    need(fflush(stdout) == 0, "standard output");
}

static void run_client(const struct arguments *arguments)
{
    int fd = connect_to(arguments->host, arguments->port);
    char line[LINE];

    need(snprintf(line, sizeof(line), "%s\n", arguments->file) < LINE, arguments->file);
    need(exs_write(fd, line, strlen(line)) > 0, "exs_write");
    need(read_line(fd, line), "exs_read");
    if (strcmp(line, "-") == 0) {
        (void)fprintf(stderr, "%s: the server has no such file\n", arguments->file);
        exit(1);
    }
    receive_file(fd, strtoull(line, NULL, 10));
    need(exs_blocking_close(fd) == 0, "exs_blocking_close");
}

int main(int argc, char **argv)
{
    struct arguments arguments = read_arguments(argc, argv);

    need(exs_init(EXS_VERSION1) == 0, "exs_init");
    if (arguments.server)
        run_server(arguments.port);
    run_client(&arguments);
    return 0;
}
