/* SPDX-License-Identifier: BSD-2-Clause */
/* Faults of commands, and the sense data that reports them (SPC-4 4.5). */
#include "pdu/iser_octets.h"
#include "scsi/iser_lu.h"

#include <errno.h>
#include <string.h>

bool iser_fault(struct iser_scsi_command *command, uint32_t number)
{
    command->fault = (struct iser_fault){
        .key = (uint8_t)(number >> 16), .asc = (uint8_t)(number >> 8), .ascq = (uint8_t)number};
    return false;
}

bool iser_fault_at(struct iser_scsi_command *command, uint32_t number, uint64_t information)
{
    iser_fault(command, number);
    command->fault.has_information = true;
    command->fault.information = information;
    return false;
}

bool iser_fault_field(struct iser_scsi_command *command, uint32_t number, uint16_t field)
{
    iser_fault(command, number);
    command->fault.has_field = true;
    command->fault.in_parameters = number == ISER_FIELD_LIST;
    command->fault.field = field;
    return false;
}

bool iser_fault_unit(struct iser_scsi_command *command, int error, bool writing)
{
    if (error == 0)
        return true;
    if (error == ENOSPC || error == EDQUOT || error == EFBIG)
        return iser_fault(command, ISER_SPACE_FAILED);
    if (error == EROFS || error == EACCES || error == EPERM)
        return iser_fault(command, ISER_WRITE_PROTECTED);
    if (error == ENOMEM)
        return iser_fault(command, ISER_INTERNAL_FAILURE);
    return iser_fault_at(command, writing ? ISER_WRITE_ERROR : ISER_READ_ERROR, command->lba);
}

/* Sense-key specific data: the position of the wrong field. */
static void put_field(const struct iser_fault *fault, uint8_t at[3])
{
    at[0] = (uint8_t)(0x80 | (fault->in_parameters ? 0 : 0x40));
    iser_put16(at + 1, fault->field);
}

static size_t encode_fixed(const struct iser_fault *fault, uint8_t *sense)
{
    sense[0] = 0x70;
    sense[2] = fault->key;
    if (fault->has_information && fault->information <= UINT32_MAX) {
        sense[0] |= 0x80;
        iser_put32(sense + 3, (uint32_t)fault->information);
    }
    sense[7] = 10;
    sense[12] = fault->asc;
    sense[13] = fault->ascq;
    if (fault->has_field)
        put_field(fault, sense + 15);
    return 18;
}

static size_t encode_descriptors(const struct iser_fault *fault, uint8_t *sense)
{
    size_t length = 8;

    sense[0] = 0x72;
    sense[1] = fault->key;
    sense[2] = fault->asc;
    sense[3] = fault->ascq;
    if (fault->has_information) {
        sense[length + 1] = 10;
        sense[length + 2] = 0x80;
        iser_put64(sense + length + 4, fault->information);
        length += 12;
    }
    if (fault->has_field) {
        sense[length] = 2;
        sense[length + 1] = 6;
        put_field(fault, sense + length + 4);
        length += 8;
    }
    sense[7] = (uint8_t)(length - 8);
    return length;
}

size_t iser_sense_encode(const struct iser_fault *fault, bool descriptor,
                         uint8_t sense[ISER_SENSE_MAX])
{
    memset(sense, 0, ISER_SENSE_MAX);
    return descriptor ? encode_descriptors(fault, sense) : encode_fixed(fault, sense);
}
