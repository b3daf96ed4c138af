/* SPDX-License-Identifier: BSD-2-Clause */
/* Mode parameters: pages as a table. SWP and D_SENSE of the control page can be changed. */
#include "pdu/iser_octets.h"
#include "scsi/iser_lu.h"

#include <string.h>

#define MODE_MAX     128u
#define CONTROL      0x0au
#define CACHING      0x08u
#define D_SENSE      0x04u /* in octet 2 of the control page */
#define SWP          0x08u /* in octet 4 */
#define WCE          0x04u /* in octet 2 of the caching page */
#define ALL_PAGES    0x3fu
#define ALL_SUBPAGES 0xffu

/* The values of a unit after power-on; octet 1 is the length of what follows. */
static const uint8_t mode_pages[][20] = {
    {0x01, 10, 0xc0},                   /* read-write error recovery: AWRE, ARRE */
    {0x02, 14},                         /* disconnect-reconnect */
    {CACHING, 18},                      /* caching */
    {CONTROL, 10, 0x02, 0x10, 0, 0x00}, /* control: GLTSD; unrestricted reordering */
    {0x1c, 10, 0x08},                   /* informational exceptions: DEXCPT */
};

#define PAGES (sizeof(mode_pages) / sizeof(mode_pages[0]))

/* Fills in a page of the unit; changeable: the bits that can be changed. Returns its length. */
static size_t fill_page(const struct iser_lu *lu, size_t index, bool changeable, bool powered_on,
                        uint8_t page[20])
{
    memcpy(page, mode_pages[index], 20);
    if (changeable)
        memset(page + 2, 0, 18);
    if (page[0] == CACHING && (lu->unit->flags & ITISER_UNIT_CACHE) && !changeable)
        page[2] |= WCE;
    if (page[0] == CONTROL && (changeable || (lu->descriptor_sense && !powered_on)))
        page[2] |= D_SENSE;
    if (page[0] == CONTROL && (changeable || (lu->write_protected && !powered_on)))
        page[4] |= SWP;
    return 2u + page[1];
}

/* ---- MODE SENSE ---------------------------------------------------------------------------- */

static bool is_ten(const struct iser_scsi_command *command)
{
    return command->spec->length == 10;
}

bool iser_mode_sense_begin(struct iser_scsi_command *command)
{
    const uint8_t *cdb = command->cdb;
    uint8_t code = cdb[2] & 0x3f;
    size_t i = 0;

    if (cdb[2] >> 6 == 3)
        return iser_fault(command, ISER_NO_SAVING);
    while (i < PAGES && mode_pages[i][0] != code)
        i++;
    if (i == PAGES && code != ALL_PAGES)
        return iser_fault_field(command, ISER_FIELD_CDB, 2);
    if (cdb[3] != 0 && cdb[3] != ALL_SUBPAGES)
        return iser_fault_field(command, ISER_FIELD_CDB, 3);
    iser_parameters_in(command, is_ten(command) ? iser_get16(cdb + 7) : cdb[4], MODE_MAX);
    return true;
}

/* Puts the number of blocks and their length. Returns the descriptor's length. */
static size_t put_descriptor(const struct itiser_unit *unit, bool large, uint8_t *at)
{
    if (large) {
        iser_put64(at, unit->blocks);
        iser_put32(at + 12, unit->block_size);
        return 16;
    }
    iser_put32(at, unit->blocks > UINT32_MAX ? UINT32_MAX : (uint32_t)unit->blocks);
    iser_put24(at + 5, unit->block_size);
    return 8;
}

void iser_mode_sense_run(struct iser_scsi_command *command)
{
    const struct iser_lu *lu = command->lu;
    const uint8_t *cdb = command->cdb;
    bool ten = is_ten(command), large = ten && (cdb[1] & 0x10);
    uint8_t mode[MODE_MAX] = {0}, special = 0x10; /* DPOFUA */
    size_t length = ten ? 8 : 4, descriptor = 0;

    if (lu->write_protected || (lu->unit->flags & ITISER_UNIT_READ_ONLY))
        special |= 0x80;
    if (!(cdb[1] & 0x08))
        descriptor = put_descriptor(lu->unit, large, mode + length);
    length += descriptor;
    for (size_t i = 0; i < PAGES; i++)
        if (mode_pages[i][0] == (cdb[2] & 0x3f) || (cdb[2] & 0x3f) == ALL_PAGES)
            length += fill_page(lu, i, cdb[2] >> 6 == 1, cdb[2] >> 6 == 2, mode + length);
    if (ten) {
        iser_put16(mode, (uint16_t)(length - 2));
        mode[3] = special;
        mode[4] = large;
        iser_put16(mode + 6, (uint16_t)descriptor);
    } else {
        mode[0] = (uint8_t)(length - 1);
        mode[2] = special;
        mode[3] = (uint8_t)descriptor;
    }
    iser_parameters_put(command, mode, length);
}

/* ---- MODE SELECT --------------------------------------------------------------------------- */

bool iser_mode_select_begin(struct iser_scsi_command *command)
{
    const uint8_t *cdb = command->cdb;

    if (!(cdb[1] & 0x10)) /* PF */
        return iser_fault_field(command, ISER_FIELD_CDB, 1);
    return iser_parameters_out(command, is_ten(command) ? iser_get16(cdb + 7) : cdb[4]);
}

/* Accepts a descriptor that states the present values. */
static bool check_descriptor(struct iser_scsi_command *command, const uint8_t *at, size_t length)
{
    const struct itiser_unit *unit = command->lu->unit;
    uint64_t blocks = length == 16 ? iser_get64(at) : iser_get32(at);
    uint32_t size = length == 16 ? iser_get32(at + 12) : iser_get24(at + 5);

    return size == unit->block_size && (blocks == 0 || blocks == unit->blocks ||
                                        (blocks == UINT32_MAX && unit->blocks > UINT32_MAX));
}

/* Returns true if the page is supported, and differs only where it can be changed. */
static bool check_page(const struct iser_lu *lu, const uint8_t *page, size_t length)
{
    uint8_t now[20], changeable[20];

    for (size_t i = 0; i < PAGES; i++) {
        if (mode_pages[i][0] != page[0])
            continue;
        if (fill_page(lu, i, false, false, now) != length)
            return false;
        fill_page(lu, i, true, false, changeable);
        for (size_t k = 2; k < length; k++)
            if ((page[k] ^ now[k]) & ~changeable[k])
                return false;
        return page[1] == now[1];
    }
    return false;
}

static bool check_pages(struct iser_scsi_command *command, size_t at)
{
    const uint8_t *list = command->data;
    size_t length = command->out_length;

    while (at < length) {
        if (length - at < 2 || length - at < 2u + list[at + 1])
            return iser_fault(command, ISER_LIST_LENGTH);
        if (!check_page(command->lu, list + at, 2u + list[at + 1]))
            return iser_fault_field(command, ISER_FIELD_LIST, (uint16_t)at);
        at += 2u + list[at + 1];
    }
    return true;
}

static void take_pages(struct iser_scsi_command *command, size_t at)
{
    struct iser_lu *lu = command->lu;

    for (; at < command->out_length; at += 2u + command->data[at + 1]) {
        const uint8_t *page = command->data + at;

        if (page[0] != CONTROL)
            continue;
        lu->descriptor_sense = (page[2] & D_SENSE) != 0;
        lu->write_protected = (page[4] & SWP) != 0;
        iser_attention_others(command->nexus, lu, ISER_ATTENTION_MODE);
    }
}

void iser_mode_select_run(struct iser_scsi_command *command)
{
    const uint8_t *list = command->data;
    size_t header = is_ten(command) ? 8 : 4, descriptor;

    if (command->out_length == 0)
        return;
    if (command->out_length < header) {
        iser_fault(command, ISER_LIST_LENGTH);
        return;
    }
    descriptor = is_ten(command) ? iser_get16(list + 6) : list[3];
    if (descriptor != 0 && descriptor != 8 && !(descriptor == 16 && is_ten(command) && list[4])) {
        iser_fault_field(command, ISER_FIELD_LIST, (uint16_t)(header - 1));
        return;
    }
    if (command->out_length < header + descriptor) {
        iser_fault(command, ISER_LIST_LENGTH);
        return;
    }
    if (descriptor > 0 && !check_descriptor(command, list + header, descriptor)) {
        iser_fault_field(command, ISER_FIELD_LIST, (uint16_t)header);
        return;
    }
    if (check_pages(command, header + descriptor))
        take_pages(command, header + descriptor);
}
