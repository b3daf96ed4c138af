/* SPDX-License-Identifier: BSD-2-Clause */
#include "iser_scsi_kit.h"

#include "support/check.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct itiser_unit *scsi_memory(uint64_t blocks)
{
    struct itiser_unit_config config = {
        .kind = ITISER_MEMORY_UNIT, .size = blocks * 512, .serial = "memory-0"};
    struct itiser_unit *unit = itiser_unit_open(&config, NULL);

    CHECK(unit);
    return unit;
}

static void start(struct scsi_bed *bed)
{
    char error[256] = "";

    bed->target = iser_scsi_target_new(&bed->config, NULL, error);
    if (!bed->target)
        CHECK_FAIL("%s", error);
    bed->one =
        iser_scsi_nexus_new(bed->target, "iqn.2026-01.test:one,i,0x400001370000", 1, NULL, NULL);
    bed->two =
        iser_scsi_nexus_new(bed->target, "iqn.2026-01.test:two,i,0x400001370000", 1, NULL, NULL);
    CHECK(bed->one && bed->two);
    for (int i = 0; i < 2; i++) {
        bed->nexus = i == 0 ? bed->two : bed->one;
        scsi_bad(bed, 0x062900, "00", 0, 0);
        scsi_good(bed, "00", 0, 0);
    }
}

void scsi_open(struct scsi_bed *bed, struct itiser_unit *unit, const char *state_file)
{
    *bed =
        (struct scsi_bed){.config = {.name = "iqn.2026-01.test:target", .state_file = state_file}};
    bed->data = aligned_alloc(4096, SCSI_BUFFER);
    CHECK(bed->data);
    bed->config.units[0] = unit ? unit : scsi_memory(SCSI_BLOCKS);
    start(bed);
}

static void stop(struct scsi_bed *bed)
{
    iser_scsi_nexus_free(bed->one);
    iser_scsi_nexus_free(bed->two);
    iser_scsi_target_free(bed->target);
}

void scsi_restart(struct scsi_bed *bed)
{
    stop(bed);
    start(bed);
}

void scsi_close(struct scsi_bed *bed)
{
    stop(bed);
    for (size_t i = 0; i < ITISER_LUNS_MAX; i++)
        if (bed->config.units[i])
            itiser_unit_close(bed->config.units[i]);
    free(bed->data);
}

static void parse(const char *text, uint8_t cdb[ISER_CDB_SIZE])
{
    memset(cdb, 0, ISER_CDB_SIZE);
    for (size_t digits = 0; *text; text++) {
        if (isspace((unsigned char)*text))
            continue;
        CHECK(digits < 2 * (size_t)ISER_CDB_SIZE && isxdigit((unsigned char)*text));
        cdb[digits / 2] =
            (uint8_t)(cdb[digits / 2] << 4 |
                      (isdigit((unsigned char)*text) ? *text - '0' : *text - 'a' + 10));
        digits++;
    }
}

static void count_done(struct iser_scsi_command *command)
{
    command->done = NULL; /* a second call crashes */
}

int scsi_run(struct scsi_bed *bed, const char *text, uint32_t out, uint32_t in)
{
    uint8_t cdb[ISER_CDB_SIZE];

    parse(text, cdb);
    return scsi_run_cdb(bed, cdb, out, in);
}

int scsi_run_cdb(struct scsi_bed *bed, const uint8_t cdb[ISER_CDB_SIZE], uint32_t out, uint32_t in)
{
    struct iser_scsi_command *command = &bed->command;

    *command = (struct iser_scsi_command){
        .nexus = bed->nexus, .expected_out = out, .expected_in = in, .done = count_done};
    command->lun[0] = (uint8_t)(bed->lun >> 8);
    command->lun[1] = (uint8_t)bed->lun;
    memcpy(command->cdb, cdb, ISER_CDB_SIZE);
    if (!iser_scsi_begin(command))
        return command->status;
    CHECK(command->out_length <= out && command->in_length <= SCSI_BUFFER);
    command->data = command->direct ? command->direct : bed->data;
    if (command->direct && command->out_length > 0)
        memcpy(command->direct, bed->data, command->out_length);
    iser_scsi_execute(command);
    CHECK(!command->done);
    CHECK(command->in_actual <= in);
    if (command->direct)
        memcpy(bed->data, command->direct, command->in_actual);
    return command->status;
}

uint32_t scsi_sense(const struct scsi_bed *bed)
{
    const uint8_t *sense = bed->command.sense;

    if (bed->command.sense_length == 0)
        return 0;
    if (sense[0] == 0x72)
        return (uint32_t)sense[1] << 16 | (uint32_t)sense[2] << 8 | sense[3];
    return (uint32_t)sense[2] << 16 | (uint32_t)sense[12] << 8 | sense[13];
}

uint32_t scsi_good(struct scsi_bed *bed, const char *cdb, uint32_t out, uint32_t in)
{
    int status = scsi_run(bed, cdb, out, in);

    if (status != ISER_GOOD)
        CHECK_FAIL("%s: status %02x, sense %06x", cdb, (unsigned)status, scsi_sense(bed));
    return bed->command.in_actual;
}

void scsi_bad(struct scsi_bed *bed, uint32_t sense, const char *cdb, uint32_t out, uint32_t in)
{
    int status = scsi_run(bed, cdb, out, in);

    if (status != ISER_CHECK_CONDITION || scsi_sense(bed) != sense)
        CHECK_FAIL("%s: status %02x, sense %06x, not %06x", cdb, (unsigned)status, scsi_sense(bed),
                   sense);
    CHECK_EQ(0, bed->command.in_actual);
}

void scsi_conflict(struct scsi_bed *bed, const char *cdb, uint32_t out, uint32_t in)
{
    int status = scsi_run(bed, cdb, out, in);

    if (status != ISER_RESERVATION_CONFLICT)
        CHECK_FAIL("%s: status %02x, sense %06x, not a conflict", cdb, (unsigned)status,
                   scsi_sense(bed));
}
