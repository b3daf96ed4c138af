/* SPDX-License-Identifier: BSD-2-Clause */
#include "trouble/said.h"

#include "support/check.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SAID_MAX 8192

static int said_errors = -1; /* the original stderr */
static int said_file = -1;
static off_t said_from;

/* Prints what a failed check has written. */
static void said_end(void)
{
    char text[SAID_MAX];
    ssize_t length = pread(said_file, text, sizeof(text), 0);

    (void)dup2(said_errors, STDERR_FILENO);
    if (length > 0)
        (void)!write(STDERR_FILENO, text, (size_t)length);
}

void said_begin(void)
{
    CHECK_EQ(0, setenv("ITAPI_LOG", "warn", 0));
    said_errors = dup(STDERR_FILENO);
    said_file = memfd_create("said", 0);
    CHECK(said_errors >= 0 && said_file >= 0);
    CHECK_EQ(STDERR_FILENO, dup2(said_file, STDERR_FILENO));
    check_at_failure(said_end);
}

/* Counts the library's lines. rdma-core and others write there, too. */
static unsigned said_count(const char *text, unsigned *with)
{
    static const char warning[] = "itapi warn: ";
    static const char error[] = "itapi error: ";
    char lines[SAID_MAX];
    ssize_t length = pread(said_file, lines, sizeof(lines) - 1, said_from);
    unsigned count = 0;
    char *rest = lines;
    char *line;

    CHECK(length >= 0);
    said_from += length;
    lines[length] = '\0';
    *with = 0;
    while ((line = strsep(&rest, "\n")) != NULL) {
        if (strncmp(line, warning, sizeof(warning) - 1) != 0 &&
            strncmp(line, error, sizeof(error) - 1) != 0)
            continue;
        count++;
        if (text && strstr(line, text))
            ++*with;
    }
    return count;
}

void said_once(const char *text)
{
    unsigned with;

    CHECK_EQ(1, said_count(text, &with));
    if (with != 1)
        CHECK_FAIL("no warning with \"%s\"", text);
}

void said_among(const char *text)
{
    unsigned with;

    (void)said_count(text, &with);
    if (with == 0)
        CHECK_FAIL("no warning with \"%s\"", text);
}

void said_nothing(void)
{
    unsigned with;

    CHECK_EQ(0, said_count(NULL, &with));
}
