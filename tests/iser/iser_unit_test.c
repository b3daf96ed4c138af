/* SPDX-License-Identifier: BSD-2-Clause */
/* Units of the library, and the threads that make blocking calls on units. */
#include "iser_scsi_kit.h"
#include "support/check.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char path[] = "/tmp/iser_unit_XXXXXX";

/* ---- Files --------------------------------------------------------------------- */

static struct itiser_unit *open_file(uint64_t size, bool direct, itiser_choice_t thin)
{
    struct itiser_unit_config config = {.kind = ITISER_FILE_UNIT,
                                        .path = path,
                                        .size = size,
                                        .direct = direct,
                                        .thin = thin,
                                        .serial = "file-0"};
    char error[256] = "";
    struct itiser_unit *unit = itiser_unit_open(&config, error);

    if (!unit)
        CHECK_FAIL("%s", error);
    return unit;
}

/* A call that must not block handles all octets or none. */
static void check_at_once(struct itiser_unit *unit, uint8_t *data, uint8_t *back)
{
    int error = unit->ops->read_now(unit->context, 8192, back, 65536);

    CHECK(error == EAGAIN || (error == 0 && memcmp(data, back, 65536) == 0));
    memset(data, 0xa5, 4096);
    error = unit->ops->write_now(unit->context, 8192, data, 4096);
    CHECK(error == 0 || error == EAGAIN);
    CHECK_EQ(0, unit->ops->read(unit->context, 8192, back, 4096));
    CHECK(error == EAGAIN || memcmp(data, back, 4096) == 0);
    CHECK_EQ(EAGAIN, unit->ops->read_now(unit->context, UINT64_C(1) << 40, back, 4096));
}

static void check_contents(struct itiser_unit *unit)
{
    uint8_t *data = aligned_alloc(4096, 65536), *back = aligned_alloc(4096, 65536);

    CHECK(data && back);
    memset(data, 0x5a, 65536);
    CHECK_EQ(0, unit->ops->write(unit->context, 8192, data, 65536));
    CHECK_EQ(0, unit->ops->flush(unit->context));
    CHECK_EQ(0, unit->ops->read(unit->context, 8192, back, 65536));
    CHECK(memcmp(data, back, 65536) == 0);
    check_at_once(unit, data, back);
    if (unit->ops->unmap) {
        uint64_t length = 1u << 20;
        bool mapped;

        CHECK_EQ(0, unit->ops->unmap(unit->context, 12288, 4096));
        CHECK_EQ(0, unit->ops->read(unit->context, 12288, back, 4096));
        CHECK(back[0] == 0 && memcmp(back, back + 1, 4095) == 0);
        CHECK_EQ(0, unit->ops->extent(unit->context, 12288, &length, &mapped));
        CHECK_EQ(4096, length);
        CHECK(!mapped);
        length = 1u << 20;
        CHECK_EQ(0, unit->ops->extent(unit->context, 8192, &length, &mapped));
        CHECK(mapped && length == 4096);
        length = 1u << 19;
        CHECK_EQ(0, unit->ops->extent(unit->context, 1u << 19, &length, &mapped));
        CHECK(!mapped && length == 1u << 19);
    }
    free(data);
    free(back);
}

static void check_files(void)
{
    struct itiser_unit *unit = open_file(1u << 20, false, ITISER_YES);
    uint8_t octet;

    CHECK_EQ(2048, unit->blocks);
    CHECK_EQ(ITISER_UNIT_CACHE, unit->flags & ~ITISER_UNIT_BLOCKS); /* /tmp may be in memory */
    check_contents(unit);
    itiser_unit_close(unit);
    unit = open_file(0, false, ITISER_NO);
    CHECK_EQ(2048, unit->blocks);
    CHECK(!unit->ops->unmap);
    CHECK_EQ(0, unit->ops->read(unit->context, 8192, &octet, 1));
    CHECK_EQ(0x5a, octet); /* the octet is still there */
    CHECK_EQ(0, truncate(path, 4096));
    CHECK_EQ(EIO, unit->ops->read(unit->context, 8192, &octet, 1));
    itiser_unit_close(unit);
}

/* ---- Flushes that fail ---------------------------------------------------------------- */

static int flush_error;

/* In place of libc's. The kernel reports an error of a file once: see fsync(2). */
int fdatasync(int fildes)
{
    (void)fildes;
    errno = flush_error;
    flush_error = 0;
    return errno == 0 ? 0 : -1;
}

/*
 * Whose data is lost is not known, so that nobody may be told that it is safe. A flush that was
 * interrupted is repeated.
 */
static void check_lost(void)
{
    struct itiser_unit *unit = open_file(1u << 20, false, ITISER_NO);

    CHECK_EQ(0, unit->ops->flush(unit->context));
    flush_error = EINTR;
    CHECK_EQ(0, unit->ops->flush(unit->context));
    flush_error = ENOSPC;
    CHECK_EQ(ENOSPC, unit->ops->flush(unit->context));
    CHECK_EQ(EIO, unit->ops->flush(unit->context));
    CHECK_EQ(EIO, unit->ops->flush(unit->context));
    itiser_unit_close(unit);
    unit = open_file(1u << 20, false, ITISER_NO);
    CHECK_EQ(0, unit->ops->flush(unit->context));
    itiser_unit_close(unit);
}

/* Some file systems, such as tmpfs, have no direct I/O. */
static void check_direct(void)
{
    struct itiser_unit *unit;
    int fd = open(path, O_RDWR | O_DIRECT);

    CHECK_EQ(0, truncate(path, 1 << 20));
    if (fd < 0)
        return;
    (void)close(fd);
    unit = open_file(0, true, ITISER_AUTO);
    check_contents(unit);
    itiser_unit_close(unit);
}

static void check_refused(struct itiser_unit_config config, const char *why)
{
    char error[256] = "";

    CHECK(!itiser_unit_open(&config, error));
    if (!strstr(error, why))
        CHECK_FAIL("\"%s\" does not say \"%s\"", error, why);
}

static void check_configurations(void)
{
    check_refused((struct itiser_unit_config){.kind = ITISER_MEMORY_UNIT, .size = 512}, "serial");
    check_refused(
        (struct itiser_unit_config){.kind = ITISER_MEMORY_UNIT, .size = 512, .serial = "a b"},
        "serial");
    check_refused(
        (struct itiser_unit_config){.kind = ITISER_MEMORY_UNIT, .size = 100, .serial = "a"},
        "size");
    check_refused(
        (struct itiser_unit_config){
            .kind = ITISER_NULL_UNIT, .size = 4096, .block_size = 1000, .serial = "a"},
        "block size");
    check_refused((struct itiser_unit_config){.kind = ITISER_FILE_UNIT, .serial = "a"}, "path");
    check_refused(
        (struct itiser_unit_config){.kind = ITISER_FILE_UNIT, .path = "/nowhere/x", .serial = "a"},
        "No such file");
    check_refused(
        (struct itiser_unit_config){.kind = ITISER_FILE_UNIT, .path = "/dev/null", .serial = "a"},
        "neither");
    check_refused(
        (struct itiser_unit_config){
            .kind = ITISER_FILE_UNIT, .path = path, .size = 2u << 20, .serial = "a"},
        "smaller");
}

/* ---- The pool ------------------------------------------------------------------- */

#define COMMANDS 128

static unsigned over;
static atomic_uint alone, violations;

/* An ORWRITE reads block 0 and then writes it. No other command may write it in between. */
static int slow_read(void *context, uint64_t offset, void *data, size_t length)
{
    (void)context;
    (void)offset;
    memset(data, 0, length);
    violations += alone++ != 0;
    for (int i = 0; i < 50; i++)
        (void)sched_yield();
    return 0;
}

static int slow_write(void *context, uint64_t offset, const void *data, size_t length)
{
    (void)context;
    (void)data;
    (void)length;
    violations += alone != (offset == 0);
    alone -= offset == 0;
    return 0;
}

static int no_flush(void *context)
{
    (void)context;
    return 0;
}

static void command_over(struct iser_scsi_command *command)
{
    CHECK_EQ(ISER_GOOD, command->status);
    over++;
}

static void wait_for(struct iser_pool *pool, unsigned count)
{
    while (over < count) {
        struct pollfd wait = {.fd = iser_pool_fd(pool), .events = POLLIN};

        CHECK(poll(&wait, 1, -1) == 1);
        iser_pool_reap(pool);
    }
}

static const struct itiser_unit_ops slow_ops = {
    .read = slow_read, .write = slow_write, .flush = no_flush};

/*
 * Succeeds in the loop in two of three calls. The depth of the stack shows that waiting commands do
 * not call each other.
 */
static int write_now(void *context, uint64_t offset, const void *data, size_t length)
{
    static uintptr_t lowest = UINTPTR_MAX, highest;
    static unsigned calls;
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);

    lowest = here < lowest ? here : lowest;
    highest = here > highest ? here : highest;
    CHECK(highest - lowest < 8192);
    if (++calls % 3 == 0)
        return EAGAIN;
    return slow_write(context, offset, data, length);
}

static const struct itiser_unit_ops at_once_ops = {
    .read = slow_read, .write = slow_write, .write_now = write_now, .flush = no_flush};

/*
 * Runs ORWRITEs, one in `one_of` commands, among writes of another block. All run at once on four
 * threads and, if the unit allows it, in the loop.
 */
static void check_pool(const struct itiser_unit_ops *ops, unsigned one_of)
{
    struct itiser_unit unit = {
        .ops = ops, .blocks = 8, .block_size = 512, .flags = ITISER_UNIT_BLOCKS, .serial = "s"};
    static struct iser_scsi_command commands[COMMANDS];
    static uint8_t data[COMMANDS][512];
    struct itiser_target_config config = {.name = "iqn.2026-01.test:target", .units = {&unit}};
    struct iser_pool *pool = iser_pool_new(4);
    struct iser_scsi_target *target;
    struct iser_scsi_nexus *nexus;
    char error[256];

    CHECK(pool);
    target = iser_scsi_target_new(&config, pool, error);
    CHECK(target);
    nexus = iser_scsi_nexus_new(target, "iqn.2026-01.test:one,i,0x0", 1, NULL, NULL);
    commands[0] = (struct iser_scsi_command){.nexus = nexus};
    CHECK(!iser_scsi_begin(&commands[0])); /* power on */
    over = 0;
    for (unsigned i = 0; i < COMMANDS; i++) {
        struct iser_scsi_command *next = &commands[i];

        *next = (struct iser_scsi_command){
            .nexus = nexus, .expected_out = 512, .done = command_over, .cdb = {0x8b}};
        next->cdb[13] = 1;
        if (i % one_of > 0) {
            next->cdb[0] = 0x8a; /* WRITE(16) of block 1 */
            next->cdb[9] = 1;
        }
        CHECK(iser_scsi_begin(next));
        CHECK(!next->direct);
        next->data = data[i];
        iser_scsi_execute(next);
    }
    wait_for(pool, COMMANDS);
    CHECK_EQ(0, violations);
    iser_scsi_nexus_free(nexus);
    iser_scsi_target_free(target);
    iser_pool_free(pool);
}

int main(void)
{
    int fd = mkstemp(path);

    CHECK(fd >= 0);
    (void)close(fd);
    check_files();
    CHECK_EQ(0, truncate(path, 1 << 20));
    check_lost();
    check_configurations();
    check_direct();
    check_pool(&slow_ops, 2);
    check_pool(&at_once_ops, 64);
    check_pool(&at_once_ops, 3);
    CHECK(unlink(path) == 0);
    check_done();
    return 0;
}
