/* SPDX-License-Identifier: BSD-2-Clause */
#include "interop/siw.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/check.h"

static const struct setting {
    const char *name;
    int value;
} defaults[] = {
    {"mpa_crc_required", 0}, {"mpa_crc_strict", 0}, {"peer_to_peer", 0},
    {"mpa_version", 2},      {"siw_tcp_nagle", 0},  {"try_gso", 0},
};

#define DEFAULTS (sizeof(defaults) / sizeof(defaults[0]))

static int open_parameter(const char *parameter, int mode)
{
    char path[128];

    (void)snprintf(path, sizeof(path), "/sys/module/siw/parameters/%s", parameter);
    return open(path, mode | O_CLOEXEC);
}

/* Boolean parameters read as Y and N. */
static int read_parameter(const char *parameter)
{
    int fd = open_parameter(parameter, O_RDONLY);
    char text[16] = "";
    ssize_t length;

    if (fd == -1)
        CHECK_FAIL("siw has no parameter %s: %s", parameter, strerror(errno));
    length = read(fd, text, sizeof(text) - 1);
    (void)close(fd);
    CHECK(length > 0);
    if (text[0] == 'Y' || text[0] == 'N')
        return text[0] == 'Y';
    return atoi(text);
}

static bool write_parameter(const char *parameter, int value)
{
    int fd = open_parameter(parameter, O_WRONLY);
    char text[16];
    int length = snprintf(text, sizeof(text), "%d", value);
    bool written;

    if (fd == -1)
        return false;
    written = write(fd, text, (size_t)length) == length;
    (void)close(fd);
    return written;
}

void siw_set(const char *parameter, int value)
{
    if (!write_parameter(parameter, value))
        CHECK_FAIL("siw's parameter %s cannot be set to %d: %s", parameter, value, strerror(errno));
    CHECK_EQ(value, read_parameter(parameter));
}

void siw_reset(void)
{
    for (size_t i = 0; i < DEFAULTS; i++)
        siw_set(defaults[i].name, defaults[i].value);
}

/* Runs at the end of a test, where nothing can be done about a failure. */
static void put_back(void)
{
    for (size_t i = 0; i < DEFAULTS; i++)
        (void)write_parameter(defaults[i].name, defaults[i].value);
}

void siw_begin(void)
{
    if (access("/sys/module/siw/parameters/mpa_version", F_OK) != 0) {
        fprintf(stderr, "skipped: no siw with parameters here\n");
        exit(77);
    }
    siw_reset();
    check_at_end(put_back);
}
