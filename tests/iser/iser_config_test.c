/* SPDX-License-Identifier: BSD-2-Clause */
/* What a program may pass to itiser_start. */
#include "itiser.h"
#include "support/check.h"

#include <event2/event.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

static struct event_base *base;
static struct itiser_config config;
static struct itiser_target_config target;
static struct itiser_portal_config portal;
static struct itiser_unit unit;

static int move_nothing(void *context, uint64_t offset, void *data, size_t length)
{
    (void)context;
    (void)offset;
    (void)data;
    (void)length;
    return 0;
}

static int write_nothing(void *context, uint64_t offset, const void *data, size_t length)
{
    (void)context;
    (void)offset;
    (void)data;
    (void)length;
    return 0;
}

static int flush_nothing(void *context)
{
    (void)context;
    return 0;
}

static const struct itiser_unit_ops whole = {
    .read = move_nothing, .write = write_nothing, .flush = flush_nothing};
static const struct itiser_unit_ops no_flush = {.read = move_nothing, .write = write_nothing};

static void make_good(void)
{
    struct sockaddr_in *address = (void *)&portal.address;

    unit = (struct itiser_unit){
        .ops = &whole, .blocks = 16, .block_size = 512, .physical_size = 4096, .serial = "one"};
    target = (struct itiser_target_config){.name = "iqn.2026-01.test:config", .units = {&unit}};
    portal = (struct itiser_portal_config){.kinds = ITISER_PLAIN, .tag = 1};
    address->sin_family = AF_INET;
    address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    config = (struct itiser_config){.size = sizeof(config),
                                    .targets = &target,
                                    .target_count = 1,
                                    .portals = &portal,
                                    .portal_count = 1};
}

static bool starts(char error[256])
{
    struct itiser *served = itiser_start(base, &config, error);

    if (served)
        itiser_free(served);
    return served != NULL;
}

/* Breaks a good configuration by a statement, and expects a message that says so. */
#define REFUSED(statement, words)                                                                  \
    do {                                                                                           \
        char error[256] = "";                                                                      \
                                                                                                   \
        make_good();                                                                               \
        statement;                                                                                 \
        if (starts(error) || !strstr(error, words))                                                \
            CHECK_FAIL("%s: \"%s\"", #statement, error);                                           \
        CHECK(!itiser_start(base, &config, NULL));                                                 \
    } while (0)

#define ACCEPTED(statement)                                                                        \
    do {                                                                                           \
        char error[256] = "";                                                                      \
                                                                                                   \
        make_good();                                                                               \
        statement;                                                                                 \
        if (!starts(error))                                                                        \
            CHECK_FAIL("%s: \"%s\"", #statement, error);                                           \
    } while (0)

static char long_name[256];

static void names(void)
{
    REFUSED(target.name = NULL, "name of a target");
    REFUSED(target.name = "", "name of a target");
    REFUSED(target.name = "disk", "name of a target");
    REFUSED(target.name = "iqn.2026-01.test:a b", "name of a target");
    REFUSED(target.name = "iqn.2026-01.test:a\n", "name of a target");
    REFUSED(target.name = "iqn.2026-01.test:a,t", "name of a target");
    memset(long_name, 'a', 224);
    memcpy(long_name, "iqn.", 4);
    REFUSED(target.name = long_name, "name of a target");
    long_name[223] = '\0';
    ACCEPTED(target.name = long_name);
    ACCEPTED(target.name = "IQN.2026-01.TEST:CONFIG");
    ACCEPTED(target.name = "eui.02004567a425678d");
    ACCEPTED(target.name = "naa.52004567ba64678d");
}

/* Each target writes all of its file. */
static void state_files(void)
{
    static struct itiser_target_config two[2];

#define TWO(one, other)                                                                            \
    (two[0] = two[1] = target, two[1].name = "iqn.2026-01.test:other", two[0].state_file = (one),  \
     two[1].state_file = (other), config.targets = two, config.target_count = 2)
    REFUSED(TWO("/tmp/iser_config_test", "/tmp/iser_config_test"), "two targets have this");
    ACCEPTED(TWO("/tmp/iser_config_test", "/tmp/iser_config_test_2"));
    ACCEPTED(TWO(NULL, NULL));
}

static void units(void)
{
    REFUSED(unit.ops = NULL, "read, write and flush");
    REFUSED(unit.ops = &no_flush, "read, write and flush");
    REFUSED(unit.blocks = 0, "a block at least");
    REFUSED(unit.blocks = UINT64_MAX / 512 + 1, "2^64");
    REFUSED(unit.block_size = 0, "powers of two");
    REFUSED(unit.block_size = 256, "powers of two");
    REFUSED(unit.block_size = 520, "powers of two");
    REFUSED(unit.block_size = 131072, "powers of two");
    REFUSED(unit.physical_size = 4000, "powers of two");
    REFUSED(unit.serial[0] = '\0', "serial number");
    REFUSED(memset(unit.serial, 's', sizeof(unit.serial)), "serial number");
    ACCEPTED(unit.physical_size = 0);
    ACCEPTED(unit.block_size = 65536);
}

static void portals(void)
{
    REFUSED(portal.address.ss_family = AF_UNSPEC, "IPv4 or IPv6");
    REFUSED(portal.address.ss_family = AF_UNIX, "IPv4 or IPv6");
    REFUSED(portal.kinds = 0, "kinds of a portal");
    REFUSED(portal.kinds = 0x10, "kinds of a portal");
    REFUSED(portal.tag = 0, "tag of a portal");
    ACCEPTED(portal.kinds = ITISER_PLAIN | ITISER_RDMA | ITISER_CONVERT);
}

/* A program may know of more than this library, or of less than a later one. */
static void sizes(void)
{
    static struct {
        struct itiser_config config;
        char later[64];
    } larger;
    char why[256];
    struct itiser *served;

    REFUSED(config.size = 0, "size");
    REFUSED(config.size = sizeof(config) - 1, "size");
    REFUSED(config.first_burst = 511, "FirstBurstLength");
    REFUSED(config.first_burst = 65537, "FirstBurstLength");
    make_good();
    larger.config = config;
    larger.config.size = sizeof(larger);
    served = itiser_start(base, &larger.config, why);
    CHECK(served);
    CHECK(itiser_reconfigure(served, &larger.config, why));
    config.size = 0;
    CHECK(!itiser_reconfigure(served, &config, why));
    itiser_free(served);
}

int main(void)
{
    base = event_base_new();
    CHECK(base);
    names();
    state_files();
    units();
    portals();
    sizes();
    event_base_free(base);
    return 0;
}
