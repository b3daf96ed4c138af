/* SPDX-License-Identifier: BSD-2-Clause */
/* Reservations: which initiators are kept from what, what others are told, and what survives. */
#include "iser_scsi_kit.h"
#include "support/check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ  "28 00 00000000 00 0001"
#define WRITE "2a 00 00000000 00 0001"

enum {
    REGISTER,
    RESERVE,
    RELEASE,
    CLEAR,
    PREEMPT,
    PREEMPT_AND_ABORT,
    REGISTER_AND_IGNORE
};

static struct scsi_bed bed;

/* Runs a PERSISTENT RESERVE OUT. Returns its status. */
static int prout_flags(struct iser_scsi_nexus *nexus, int action, int type, uint8_t key,
                       uint8_t service_key, uint8_t flags)
{
    char cdb[] = "5f 00 00 0000 00000018";

    cdb[4] = (char)('0' + action);
    cdb[7] = (char)('0' + type);
    memset(bed.data, 0, 24);
    bed.data[7] = key;
    bed.data[15] = service_key;
    bed.data[20] = flags;
    bed.nexus = nexus;
    return scsi_run(&bed, cdb, 24, 0);
}

static int prout(struct iser_scsi_nexus *nexus, int action, int type, uint8_t key,
                 uint8_t service_key)
{
    return prout_flags(nexus, action, type, key, service_key, 0);
}

static uint32_t generation(void)
{
    bed.nexus = bed.one;
    scsi_good(&bed, "5e 00 0000000000 00ff", 0, 255);
    return bed.data[3];
}

/* Returns the number of registrations. */
static uint32_t keys(void)
{
    bed.nexus = bed.one;
    scsi_good(&bed, "5e 00 0000000000 00ff", 0, 255);
    return bed.data[7] / 8u;
}

/* Returns the type of the reservation, or 0 if there is none. *key is its holder's. */
static int reservation(uint8_t *key)
{
    bed.nexus = bed.one;
    if (scsi_good(&bed, "5e 01 0000000000 00ff", 0, 255) == 8)
        return 0;
    *key = bed.data[15];
    return bed.data[21];
}

static void check_told(struct iser_scsi_nexus *nexus, uint32_t sense)
{
    bed.nexus = nexus;
    if (sense)
        scsi_bad(&bed, sense, "00", 0, 0);
    scsi_good(&bed, "00", 0, 0);
}

/* ---- Access ----------------------------------------------------------------------------- */

static void check_access(struct iser_scsi_nexus *nexus, bool reads, bool writes)
{
    bed.nexus = nexus;
    if (reads)
        scsi_good(&bed, READ, 0, 512);
    else
        scsi_conflict(&bed, READ, 0, 512);
    if (writes)
        scsi_good(&bed, WRITE, 512, 0);
    else
        scsi_conflict(&bed, WRITE, 512, 0);
    scsi_good(&bed, "00", 0, 0);
    scsi_good(&bed, "12 00 00 0024", 0, 36);
    scsi_good(&bed, "25", 0, 8);
}

static void check_types(void)
{
    static const struct {
        int type;
        bool all, registered_reads, registered_writes, other_reads;
    } rows[] = {
        {1, false, true, false, true}, {3, false, false, false, false},
        {5, false, true, true, true},  {6, false, true, true, false},
        {7, true, true, true, true},   {8, true, true, true, false},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        uint8_t key = 99;

        CHECK_EQ(ISER_GOOD, prout(bed.one, REGISTER, 0, 0, 1));
        CHECK_EQ(ISER_GOOD, prout(bed.two, REGISTER_AND_IGNORE, 0, 77, 2));
        CHECK_EQ(ISER_GOOD, prout(bed.one, RESERVE, rows[i].type, 1, 0));
        CHECK_EQ(ISER_GOOD, prout(bed.one, RESERVE, rows[i].type, 1, 0));
        CHECK_EQ(rows[i].type, reservation(&key));
        CHECK_EQ(rows[i].all ? 0 : 1, key);
        check_access(bed.one, true, true);
        check_access(bed.two, rows[i].registered_reads, rows[i].registered_writes);
        CHECK_EQ(ISER_GOOD, prout(bed.two, REGISTER, 0, 2, 0));
        check_access(bed.two, rows[i].other_reads, false);
        CHECK_EQ(ISER_GOOD, prout(bed.two, REGISTER, 0, 0, 2));
        CHECK_EQ(ISER_GOOD, prout(bed.one, RELEASE, rows[i].type, 1, 0));
        check_told(bed.two, rows[i].type >= 5 ? 0x062a04 : 0);
        check_access(bed.two, true, true);
        CHECK_EQ(ISER_GOOD, prout(bed.one, CLEAR, 0, 1, 0));
        check_told(bed.two, 0x062a03);
        CHECK_EQ(0, keys());
    }
}

/* ---- Keys ------------------------------------------------------------------------------- */

static void check_keys(void)
{
    uint32_t before = generation();
    uint8_t key;

    CHECK_EQ(ISER_RESERVATION_CONFLICT, prout(bed.one, REGISTER, 0, 5, 1));
    CHECK_EQ(ISER_RESERVATION_CONFLICT, prout(bed.one, RESERVE, 1, 0, 0));
    CHECK_EQ(ISER_GOOD, prout(bed.one, REGISTER, 0, 0, 1));
    CHECK_EQ(ISER_RESERVATION_CONFLICT, prout(bed.one, REGISTER, 0, 2, 3));
    CHECK_EQ(ISER_RESERVATION_CONFLICT, prout(bed.one, RESERVE, 1, 2, 0));
    CHECK_EQ(ISER_CHECK_CONDITION, prout(bed.one, RESERVE, 2, 1, 0));
    CHECK_EQ(0x052400, scsi_sense(&bed));
    CHECK_EQ(ISER_CHECK_CONDITION, prout_flags(bed.one, REGISTER, 0, 1, 4, 0x08));
    CHECK_EQ(0x052600, scsi_sense(&bed));
    CHECK_EQ(ISER_CHECK_CONDITION, prout_flags(bed.one, REGISTER, 0, 1, 4, 0x01));
    CHECK_EQ(0x052600, scsi_sense(&bed)); /* APTPL without a state file */
    CHECK_EQ(before + 1, generation());
    CHECK_EQ(ISER_GOOD, prout(bed.one, RESERVE, 1, 1, 0));
    CHECK_EQ(before + 1, generation());
    CHECK_EQ(ISER_GOOD, prout(bed.two, REGISTER, 0, 0, 2));
    CHECK_EQ(ISER_RESERVATION_CONFLICT, prout(bed.two, RESERVE, 1, 2, 0));
    CHECK_EQ(ISER_GOOD, prout(bed.two, RELEASE, 1, 2, 0)); /* not its own, so nothing happens */
    CHECK_EQ(1, reservation(&key));
    CHECK_EQ(ISER_CHECK_CONDITION, prout(bed.one, RELEASE, 3, 1, 0));
    CHECK_EQ(0x052604, scsi_sense(&bed));
    bed.nexus = bed.two;
    scsi_conflict(&bed, "1b 01 00 00 00", 0, 0);
    scsi_conflict(&bed, "1e 00 00 00 01", 0, 0);
    scsi_good(&bed, "1e 00 00 00 00", 0, 0);
    scsi_conflict(&bed, "16", 0, 0);
    CHECK_EQ(ISER_GOOD, prout(bed.one, REGISTER, 0, 1, 0)); /* the holder and its reservation go */
    CHECK_EQ(0, reservation(&key));
    CHECK_EQ(ISER_GOOD, prout(bed.two, REGISTER, 0, 2, 0));
    bed.nexus = bed.one;
    CHECK_EQ(16, scsi_good(&bed, "5e 02 0000000000 00ff", 0, 255) * 2);
    CHECK_EQ(8, bed.data[1]);
    CHECK_EQ(0xea, bed.data[4]);
}

/* ---- PREEMPT ------------------------------------------------------------------------------ */

static int aborted;

static void note_abort(void *argument, const uint8_t lun[8])
{
    CHECK(argument == &aborted && lun[1] == 0);
    aborted++;
}

/*
 * Whoever stays registered hears of a new type, whatever the old type was, but not of a new holder
 * (SPC-4 5.13.11.2.5).
 */
static void check_preempt_type(struct iser_scsi_nexus *three)
{
    CHECK_EQ(ISER_GOOD, prout(bed.one, REGISTER, 0, 0, 1));
    CHECK_EQ(ISER_GOOD, prout(bed.two, REGISTER, 0, 0, 2));
    CHECK_EQ(ISER_GOOD, prout(three, REGISTER, 0, 0, 3));
    CHECK_EQ(ISER_GOOD, prout(bed.one, RESERVE, 1, 1, 0));
    CHECK_EQ(ISER_GOOD, prout(bed.two, PREEMPT, 1, 2, 1));
    check_told(three, 0);
    CHECK_EQ(ISER_GOOD, prout(bed.two, PREEMPT, 3, 2, 2)); /* its own reservation */
    check_told(three, 0x062a04);
    check_told(bed.two, 0);
    check_told(bed.one, 0x062a05);
    CHECK_EQ(ISER_GOOD, prout(bed.two, CLEAR, 0, 2, 0));
    check_told(three, 0x062a03);
}

static void check_preempt(void)
{
    struct iser_scsi_nexus *three = iser_scsi_nexus_new(
        bed.target, "iqn.2026-01.test:three,i,0x400001370000", 1, note_abort, &aborted);

    check_told(three, 0x062900);
    CHECK_EQ(ISER_GOOD, prout(bed.one, REGISTER, 0, 0, 1));
    CHECK_EQ(ISER_GOOD, prout(bed.two, REGISTER, 0, 0, 2));
    CHECK_EQ(ISER_GOOD, prout(three, REGISTER, 0, 0, 3));
    CHECK_EQ(ISER_RESERVATION_CONFLICT, prout(bed.two, PREEMPT, 3, 2, 9));
    CHECK_EQ(ISER_CHECK_CONDITION, prout(bed.two, PREEMPT, 3, 2, 0));
    CHECK_EQ(ISER_GOOD, prout(bed.two, PREEMPT, 3, 2, 1)); /* a registration */
    check_told(bed.one, 0x062a05);
    CHECK_EQ(2, keys());
    check_told(three, 0);
    CHECK_EQ(ISER_GOOD, prout(three, RESERVE, 6, 3, 0));
    CHECK_EQ(ISER_GOOD, prout(bed.two, PREEMPT_AND_ABORT, 3, 2, 3)); /* the reservation */
    CHECK_EQ(1, aborted);
    check_told(three, 0x062a05);
    bed.nexus = three;
    scsi_conflict(&bed, READ, 0, 512);
    CHECK_EQ(ISER_GOOD, prout(bed.two, RELEASE, 3, 2, 0));
    CHECK_EQ(ISER_GOOD, prout(bed.two, RESERVE, 8, 2, 0));
    CHECK_EQ(ISER_GOOD, prout(three, REGISTER, 0, 0, 3));
    CHECK_EQ(ISER_GOOD, prout(three, PREEMPT, 1, 3, 0)); /* all others */
    check_told(bed.two, 0x062a05);
    CHECK_EQ(ISER_GOOD, prout(three, CLEAR, 0, 3, 0));
    CHECK_EQ(0, keys());
    check_preempt_type(three);
    iser_scsi_nexus_free(three);
}

static void check_full(void)
{
    unsigned registered = 1, status = ISER_GOOD;

    CHECK_EQ(ISER_GOOD, prout(bed.one, REGISTER, 0, 0, 1));
    while (status == ISER_GOOD && registered < 1000) {
        struct iser_scsi_nexus *nexus;
        char port[64];

        (void)snprintf(port, sizeof(port), "iqn.2026-01.test:%u,i,0x0", registered);
        nexus = iser_scsi_nexus_new(bed.target, port, 1, NULL, NULL);
        check_told(nexus, 0x062900);
        status = (unsigned)prout(nexus, REGISTER, 0, 0, 1);
        registered += status == ISER_GOOD;
        iser_scsi_nexus_free(nexus);
    }
    CHECK_EQ(0x055504, scsi_sense(&bed));
    CHECK_EQ(128, registered);
    bed.nexus = bed.one;
    CHECK_EQ(65535,
             scsi_good(&bed, "5e 03 0000000000 ffff", 0, 65535) + 65535 - bed.command.in_actual);
    CHECK_EQ(8 + 128 * 8, scsi_good(&bed, "5e 00 0000000000 ffff", 0, 65535));
    CHECK_EQ(ISER_GOOD, prout(bed.one, CLEAR, 0, 1, 0));
    CHECK(!iser_scsi_nexus_new(bed.target, "iqn.2026-01.test:a b,i,0x0", 1, NULL, NULL));
    CHECK(!iser_scsi_nexus_new(bed.target, "", 1, NULL, NULL));
}

/* ---- RESERVE(6) ------------------------------------------------------------------------------ */

static void check_reserve6(void)
{
    struct iser_scsi_nexus *three =
        iser_scsi_nexus_new(bed.target, "iqn.2026-01.test:three,i,0x0", 1, NULL, NULL);
    const uint8_t lun[8] = {0};

    check_told(three, 0x062900);
    bed.nexus = three;
    scsi_good(&bed, "16", 0, 0);
    bed.nexus = bed.two;
    scsi_conflict(&bed, "16", 0, 0);
    scsi_conflict(&bed, "00", 0, 0);
    scsi_conflict(&bed, READ, 0, 512);
    scsi_good(&bed, "17", 0, 0); /* not its own */
    scsi_conflict(&bed, "00", 0, 0);
    scsi_good(&bed, "12 00 00 0024", 0, 36);
    iser_scsi_nexus_free(three); /* an I_T nexus loss */
    scsi_good(&bed, "16", 0, 0);
    CHECK(iser_scsi_lun_reset(bed.target, lun));
    check_told(bed.one, 0x062903);
    check_told(bed.two, 0x062903);
}

/* ---- APTPL --------------------------------------------------------------------------------- */

static void check_persists(const char *path)
{
    struct itiser_unit *unit = bed.config.units[0];
    char error[256];
    uint8_t key;
    FILE *file;

    bed.config.units[0] = NULL;
    scsi_close(&bed);
    scsi_open(&bed, unit, path);
    CHECK_EQ(ISER_GOOD, prout_flags(bed.one, REGISTER, 0, 0, 1, 1));
    CHECK_EQ(ISER_GOOD, prout_flags(bed.two, REGISTER, 0, 0, 2, 1));
    CHECK_EQ(ISER_GOOD, prout(bed.one, RESERVE, 5, 1, 0));
    scsi_restart(&bed);
    CHECK_EQ(2, keys());
    CHECK_EQ(5, reservation(&key));
    CHECK_EQ(1, key);
    CHECK_EQ(ISER_GOOD, prout(bed.one, RELEASE, 5, 1, 0));
    check_told(bed.two, 0x062a04);
    scsi_restart(&bed);
    CHECK_EQ(2, keys());
    CHECK_EQ(0, reservation(&key));
    CHECK_EQ(ISER_GOOD, prout(bed.one, REGISTER, 0, 1, 7)); /* without APTPL */
    scsi_restart(&bed);
    CHECK_EQ(0, keys());

    file = fopen(path, "w");
    CHECK(file && fputs("0 zz\n", file) >= 0 && fclose(file) == 0);
    CHECK(!iser_scsi_target_new(&bed.config, NULL, error));
    CHECK(strstr(error, ":1: "));
    CHECK(unlink(path) == 0);
}

/* What cannot be saved has not happened: the initiator is told that it failed. */
static void check_unsaved(const char *path)
{
    struct itiser_unit *unit = bed.config.units[0];
    char inside[64];
    uint8_t key = 0;

    (void)snprintf(inside, sizeof(inside), "%s/state", path);
    bed.config.units[0] = NULL;
    scsi_close(&bed);
    CHECK(mkdir(path, 0700) == 0);
    scsi_open(&bed, unit, inside);
    CHECK_EQ(ISER_GOOD, prout_flags(bed.one, REGISTER, 0, 0, 1, 1));
    CHECK_EQ(ISER_GOOD, prout(bed.one, RESERVE, 5, 1, 0));
    CHECK(unlink(inside) == 0 && rmdir(path) == 0);
    CHECK_EQ(ISER_CHECK_CONDITION, prout_flags(bed.two, REGISTER, 0, 0, 2, 1));
    CHECK_EQ(0x044400, scsi_sense(&bed));
    CHECK_EQ(1, keys());
    CHECK_EQ(ISER_CHECK_CONDITION, prout(bed.one, RELEASE, 5, 1, 0));
    CHECK_EQ(ISER_CHECK_CONDITION, prout(bed.one, REGISTER, 0, 1, 7)); /* without APTPL */
    CHECK_EQ(ISER_CHECK_CONDITION, prout(bed.one, CLEAR, 0, 1, 0));
    CHECK_EQ(5, reservation(&key));
    CHECK_EQ(1, key);
    CHECK(mkdir(path, 0700) == 0);
    CHECK_EQ(ISER_GOOD, prout_flags(bed.two, REGISTER, 0, 0, 2, 1));
    scsi_restart(&bed);
    CHECK_EQ(2, keys());
    CHECK_EQ(5, reservation(&key));
    CHECK_EQ(ISER_GOOD, prout(bed.one, CLEAR, 0, 1, 0));
    CHECK(unlink(inside) == 0 && rmdir(path) == 0);
    bed.config.state_file = NULL;
}

/* A target whose reservations could not be read, or never be saved, does not start. */
static void check_unusable(const char *path)
{
    char inside[64], error[256];
    const char *kept = bed.config.state_file;

    (void)snprintf(inside, sizeof(inside), "%s/state", path);
    bed.config.state_file = inside;
    CHECK(!iser_scsi_target_new(&bed.config, NULL, error));
    CHECK(strstr(error, strerror(ENOENT)));
    CHECK(mkdir(path, 0700) == 0);
    bed.config.state_file = path;
    CHECK(!iser_scsi_target_new(&bed.config, NULL, error));
    CHECK(strstr(error, strerror(EISDIR)));
    CHECK(rmdir(path) == 0);
    bed.config.state_file = kept;
}

int main(void)
{
    char path[] = "/tmp/iser_reserve_XXXXXX";
    int fd = mkstemp(path);

    CHECK(fd >= 0);
    (void)close(fd);
    scsi_open(&bed, NULL, NULL);
    check_types();
    check_keys();
    check_preempt();
    check_full();
    check_reserve6();
    check_persists(path);
    check_unusable(path);
    check_unsaved(path);
    scsi_close(&bed);
    check_done();
    return 0;
}
