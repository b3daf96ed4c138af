/* SPDX-License-Identifier: BSD-2-Clause */
/* How it_iser_target reads its configuration, and what it refuses. */
#include "program/iser_settings.h"
#include "support/check.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char path[] = "/tmp/iser_settings_XXXXXX";

static void write_file(const char *text, mode_t mode)
{
    FILE *file = fopen(path, "w");

    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
    CHECK_EQ(0, chmod(path, mode));
}

static void check_all_keys(void)
{
    struct iser_settings *settings = iser_settings_new();
    char error[256] = "", address[64];

    write_file("# a comment\n"
               "[options]\n"
               "interface = uiwarp:lo\n"
               "write-base = rfc\n"
               "initial-r2t=yes\n"
               "immediate-data = no\n"
               "crc = no\n"
               "spin = no\n"
               "login-timeout = 3\n"
               "silence = 7\n"
               "first-burst = 16K\n"
               "half-logins = 100\n"
               "half-logins-per-address = 10\n"
               "threads = 2\n"
               "buffers = 16M\n"
               "status-socket = /tmp/s\n"
               "\n"
               "[portal]\n"
               "address = 127.0.0.1:3261\n"
               "kinds = plain, convert\n"
               "tag = 2\n"
               "[portal]\n"
               "address = [::1]:0\n"
               "[target iqn.2026-01.test:a]\n"
               "alias = A disk\n"
               "state-file = /tmp/state\n"
               "lun 0 = memory size=1M\n"
               "lun 3 = null size=1T block-size=4096 serial=n\n"
               "initiator = iqn.2026-01.test:one\n"
               "initiator = iqn.2026-01.test:two\n"
               "network = 127.0.0.0/8\n"
               "chap = initiator  a secret with blanks\n"
               "chap-out = target another secret\n"
               "[target iqn.2026-01.test:b]\n",
               0600);
    if (!iser_settings_read(settings, path, error) || !iser_settings_finish(settings, error) ||
        !iser_settings_open_units(settings, error))
        CHECK_FAIL("%s", error);
    CHECK_EQ(2, settings->config.portal_count);
    CHECK_EQ(2, settings->config.target_count);
    CHECK(settings->config.first_burst_none && settings->config.immediate_none);
    CHECK(settings->config.no_crc && settings->config.no_spin);
    CHECK_EQ(ITISER_WRITE_BASE_RFC, settings->config.write_base);
    CHECK_EQ(3000, settings->config.login_timeout_ms);
    CHECK_EQ(7000, settings->config.silence_ms);
    CHECK_EQ(16384, settings->config.first_burst);
    CHECK_EQ(100, settings->config.half_logins);
    CHECK_EQ(10, settings->config.half_logins_share);
    CHECK_EQ(2, settings->config.threads);
    CHECK_EQ(16 << 20, settings->config.buffers);
    CHECK_EQ(ITISER_PLAIN | ITISER_CONVERT, settings->portals[0].kinds);
    CHECK_EQ(2, settings->portals[0].tag);
    CHECK_EQ(ITISER_PLAIN | ITISER_RDMA | ITISER_CONVERT, settings->portals[1].kinds);
    iser_value_print_address(&settings->portals[0].address, address);
    CHECK(strcmp(address, "127.0.0.1:3261") == 0);
    iser_value_print_address(&settings->portals[1].address, address);
    CHECK(strcmp(address, "[::1]:0") == 0);
    CHECK_EQ(2048, settings->targets[0].units[0]->blocks);
    CHECK_EQ(1u << 28, settings->targets[0].units[3]->blocks);
    CHECK(strcmp(settings->targets[0].initiators[1], "iqn.2026-01.test:two") == 0);
    CHECK(!settings->targets[0].initiators[2] && !settings->targets[1].initiators);
    CHECK(strcmp(settings->targets[0].networks[0], "127.0.0.0/8") == 0);
    CHECK(strcmp(settings->targets[0].incoming.name, "initiator") == 0);
    CHECK_EQ(20, settings->targets[0].incoming.length);
    CHECK(memcmp(settings->targets[0].incoming.secret, "a secret with blanks", 20) == 0);
    CHECK(strcmp(settings->targets[0].outgoing.name, "target") == 0);
    iser_settings_free(settings);
}

static void check_refused(const char *text, mode_t mode, const char *why)
{
    struct iser_settings *settings = iser_settings_new();
    char error[256] = "";

    write_file(text, mode);
    CHECK(!iser_settings_read(settings, path, error) || !iser_settings_finish(settings, error) ||
          !iser_settings_open_units(settings, error));
    if (!strstr(error, why))
        CHECK_FAIL("\"%s\" does not say \"%s\"", error, why);
    CHECK(!strstr(error, "hidden")); /* no message contains a secret */
    iser_settings_free(settings);
}

#define TARGET "[target iqn.2026-01.test:a]\n"

static void check_mistakes(void)
{
    static const struct {
        const char *text, *why;
    } rows[] = {
        {"", "no target"},
        {"x", ":1: neither"},
        {"[options\n", ":1: a section ends"},
        {"[nonsense]\n", "options, portal or target"},
        {"[target ]\n", "options, portal or target"},
        {"lun 0 = memory size=1M\n", "not a key"},
        {"buffers = 1M\n", "buffers: 16M or more"},
        {"threads = 257\n", "threads: 0 to 256"},
        {"threads =\n", "threads: 0 to 256"},
        {"threads = 1K\n", "threads: 0 to 256"},
        {"write-base = both\n", "auto, linux or rfc"},
        {"[portal]\naddress = example.org\n", ":2: address: ADDRESS"},
        {"[portal]\naddress = [::1\n", "address"},
        {"[portal]\naddress = 127.0.0.1:99999\n", "address"},
        {"[portal]\nkinds = plain, fast\n", "kinds"},
        {"[portal]\nkinds = ,\n", "kinds"},
        {"[portal]\ntag = 0\n", "tag"},
        {"[portal]\n[target iqn.2026-01.test:a]\n", "a portal without address"},
        {TARGET "lun 256 = memory size=1M\n", "0 to 255"},
        {TARGET "lun 0 = tape\n", "memory, null or file"},
        {TARGET "lun 0 = file\n", "memory, null or file"},
        {TARGET "lun 0 = memory size=1X\n", "\"size=1X\" is not known"},
        {TARGET "lun 0 = memory size=99999999T\n", "is not known"},
        {TARGET "lun 0 = memory size=1M fast\n", "\"fast\" is not known"},
        {TARGET "lun 0 = memory size=1M\nlun 0 = null size=1M\n", "twice"},
        {TARGET "lun 0 = memory\n", "size"},
        {TARGET "lun 0 = memory size=1M block-size=1000\n", "block size"},
        {TARGET TARGET, "twice"},
        {TARGET "state-file = /s\n[target iqn.2026-01.test:b]\nstate-file = /s\n",
         ":4: state-file: a path that no other target has"},
        {TARGET "chap = hidden\n", "NAME SECRET"},
        {TARGET "chap = name hidden secret\n", "others may use it"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        check_refused(rows[i].text, 0644, rows[i].why);
    check_refused("[target iqn.2026-01.test:a]\nlun 0 = file /nowhere/file\n", 0600, "lun 0: ");
}

/* Without a portal the target uses the iSCSI port on all addresses. */
static void check_defaults(void)
{
    struct iser_settings *settings = iser_settings_new();
    char error[256], address[64];

    CHECK(iser_settings_line(settings, "[target iqn.2026-01.test:a]", error));
    CHECK(iser_settings_finish(settings, error));
    CHECK(settings->config.portal_count >= 1 && settings->config.portal_count <= 2);
    iser_value_print_address(&settings->portals[0].address, address);
    CHECK(strcmp(address, "0.0.0.0:3260") == 0);
    iser_settings_free(settings);
}

int main(void)
{
    int fd = mkstemp(path);

    CHECK(fd >= 0);
    (void)close(fd);
    check_all_keys();
    check_mistakes();
    check_defaults();
    CHECK(unlink(path) == 0);
    check_done();
    return 0;
}
