/* SPDX-License-Identifier: BSD-2-Clause */
#include "peer_answer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static FILE *peer_answer_stream;
static bool peer_answer_begun;

void peer_answer_open(void)
{
    int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);

    if (fd < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        peer_die("standard output: %s", strerror(errno));
    peer_answer_stream = fdopen(fd, "w");
    if (peer_answer_stream == NULL)
        peer_die("standard output: %s", strerror(errno));
}

void peer_answer(const char *format, ...)
{
    va_list values;

    va_start(values, format);
    (void)vfprintf(peer_answer_stream, format, values);
    va_end(values);
    peer_answer_begun = true;
}

/* Some providers return a negative errno. */
void peer_answer_errno(const char *call, int error)
{
    peer_answer("error %s errno=%d", call, error < 0 ? -error : error);
}

bool peer_answer_end(void)
{
    bool begun = peer_answer_begun;

    peer_answer_begun = false;
    return begun && fputc('\n', peer_answer_stream) != EOF && fflush(peer_answer_stream) == 0;
}

void peer_die(const char *format, ...)
{
    va_list values;

    (void)fputs("verbs_peer: ", stderr);
    va_start(values, format);
    (void)vfprintf(stderr, format, values);
    va_end(values);
    (void)fputc('\n', stderr);
    exit(2);
}
