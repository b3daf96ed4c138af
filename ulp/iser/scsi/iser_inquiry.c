/* SPDX-License-Identifier: BSD-2-Clause */
/* INQUIRY: identity and capabilities of a unit. */
#include "pdu/iser_octets.h"
#include "scsi/iser_lu.h"

#include <stdio.h>
#include <string.h>

#define VENDOR   "itapi   "
#define PRODUCT  "iSER disk       "
#define REVISION "2.1 "

#define INQUIRY_MAX 1024u

struct page {
    size_t length;
    uint8_t octets[INQUIRY_MAX];
};

bool iser_inquiry_begin(struct iser_scsi_command *command)
{
    iser_parameters_in(command, iser_get16(command->cdb + 3), INQUIRY_MAX);
    return true;
}

/* ---- Standard data --------------------------------------------------------------------- */

static void standard(struct page *page)
{
    /* SAM-5, SPC-4, SBC-3, iSCSI */
    static const uint16_t versions[] = {0x00a0, 0x0460, 0x04c0, 0x0960};
    uint8_t *at = page->octets;

    page->length = 96;
    at[2] = 6;    /* SPC-4 */
    at[3] = 0x12; /* HISUP, response data format 2 */
    at[4] = 96 - 5;
    at[6] = 0x10; /* MULTIP */
    at[7] = 0x02; /* CMDQUE */
    /* The fields are no strings. NOLINTNEXTLINE(bugprone-not-null-terminated-result) */
    memcpy(at + 8, VENDOR PRODUCT REVISION, 28);
    for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
        iser_put16(at + 58 + 2 * i, versions[i]);
}

void iser_inquiry_absent(struct iser_scsi_command *command)
{
    struct page page = {0};

    if (command->cdb[1] || command->cdb[2]) {
        iser_fault_field(command, ISER_FIELD_CDB, 1);
        return;
    }
    standard(&page);
    page.octets[0] = 0x7f; /* the target has no unit here */
    iser_parameters_put(command, page.octets, page.length);
}

/* ---- Vital product data ------------------------------------------------------------------ */

static void supported_pages(const struct iser_scsi_command *command, struct page *page);

static void serial_number(const struct iser_scsi_command *command, struct page *page)
{
    size_t length = strlen(command->lu->unit->serial);

    memcpy(page->octets + 4, command->lu->unit->serial, length);
    page->length = 4 + length;
}

/* Derives an identifier of the type "locally assigned" from the serial number (FNV-1a). */
static uint64_t naa_of(const char *serial)
{
    uint64_t hash = 0xcbf29ce484222325u;

    for (; *serial; serial++)
        hash = (hash ^ (uint8_t)*serial) * 0x100000001b3u;
    return (hash & 0x0fffffffffffffffu) | 0x3000000000000000u;
}

/* Appends a designator. "kind": association in bits 4 and 5, type in the bits below. */
static void add_designator(struct page *page, uint8_t code_set, uint8_t kind, const void *octets,
                           size_t length)
{
    uint8_t *at = page->octets + page->length;

    at[0] = (uint8_t)(code_set | (kind & 0x30 ? 0x50 : 0)); /* a port's protocol is iSCSI */
    at[1] = (uint8_t)(kind | (kind & 0x30 ? 0x80 : 0));
    at[3] = (uint8_t)length;
    memcpy(at + 4, octets, length);
    page->length += 4 + length;
}

static void identification(const struct iser_scsi_command *command, struct page *page)
{
    const char *serial = command->lu->unit->serial;
    uint16_t tag = command->nexus->tag;
    uint8_t number[8];
    char text[256] = VENDOR;

    page->length = 4;
    (void)snprintf(text + 8, sizeof(text) - 8, "%s", serial);
    add_designator(page, 2, 0x01, text, strlen(text));
    iser_put64(number, naa_of(serial));
    add_designator(page, 1, 0x03, number, 8);
    iser_put32(number, tag); /* the relative target port, numbered like its group */
    add_designator(page, 1, 0x14, number, 4);
    add_designator(page, 1, 0x15, number, 4);
    /* The port name, with its NUL, padded to a multiple of 4. */
    memset(text, 0, sizeof(text));
    (void)snprintf(text, sizeof(text) - 4, "%s,t,0x%04x", command->nexus->target->config->name,
                   tag);
    add_designator(page, 3, 0x18, text, (strlen(text) + 4) / 4 * 4);
}

static void block_limits(const struct iser_scsi_command *command, struct page *page)
{
    const struct itiser_unit *unit = command->lu->unit;
    uint32_t most = ISER_TRANSFER_MAX / unit->block_size;
    uint32_t grain =
        unit->block_size < ISER_PHYSICAL_BLOCK ? ISER_PHYSICAL_BLOCK / unit->block_size : 1;
    uint8_t *at = page->octets;

    page->length = 64;
    at[4] = 0x01; /* WSNZ */
    at[5] = (uint8_t)(most / 2 < ISER_COMPARE_MAX ? most / 2 : ISER_COMPARE_MAX);
    iser_put16(at + 6, (uint16_t)grain);
    iser_put32(at + 8, most);
    iser_put32(at + 12, most / 4 > 0 ? most / 4 : 1);
    if (unit->ops->unmap) {
        iser_put32(at + 20, ISER_UNMAP_MAX / unit->block_size);
        iser_put32(at + 24, ISER_UNMAP_DESCRIPTORS);
        iser_put32(at + 28, grain);
        iser_put32(at + 32, 0x80000000u); /* the alignment 0 is valid */
    }
    iser_put64(at + 36, most); /* WRITE SAME */
}

static void characteristics(const struct iser_scsi_command *command, struct page *page)
{
    (void)command;
    page->length = 64;
    iser_put16(page->octets + 4, 1); /* does not rotate */
}

static void provisioning(const struct iser_scsi_command *command, struct page *page)
{
    page->length = 8;
    if (command->lu->unit->ops->unmap) {
        page->octets[5] = 0xe4; /* LBPU, LBPWS, LBPWS10, LBPRZ */
        page->octets[6] = 2;    /* thin */
    }
}

static const struct {
    uint8_t code;
    void (*fill)(const struct iser_scsi_command *command, struct page *page);
} pages[] = {
    {0x00, supported_pages}, {0x80, serial_number},   {0x83, identification},
    {0xb0, block_limits},    {0xb1, characteristics}, {0xb2, provisioning},
};

#define PAGES (sizeof(pages) / sizeof(pages[0]))

static void supported_pages(const struct iser_scsi_command *command, struct page *page)
{
    (void)command;
    for (size_t i = 0; i < PAGES; i++)
        page->octets[4 + i] = pages[i].code;
    page->length = 4 + PAGES;
}

void iser_inquiry_run(struct iser_scsi_command *command)
{
    struct page page = {0};
    uint8_t code = command->cdb[2];
    size_t i = 0;

    if (!(command->cdb[1] & 1)) {
        standard(&page);
        if (code != 0)
            iser_fault_field(command, ISER_FIELD_CDB, 2);
        else
            iser_parameters_put(command, page.octets, page.length);
        return;
    }
    while (i < PAGES && pages[i].code != code)
        i++;
    if (i == PAGES) {
        iser_fault_field(command, ISER_FIELD_CDB, 2);
        return;
    }
    pages[i].fill(command, &page);
    page.octets[1] = code;
    iser_put16(page.octets + 2, (uint16_t)(page.length - 4));
    iser_parameters_put(command, page.octets, page.length);
}
