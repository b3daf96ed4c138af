/* SPDX-License-Identifier: BSD-2-Clause */
/* Parameters that a command returns or takes, limited to the room of the CDB and the initiator. */
#include "scsi/iser_lu.h"

#include <string.h>

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

void iser_parameters_in(struct iser_scsi_command *command, uint32_t allocated, uint32_t most)
{
    command->allocated = allocated;
    command->in_length = least(least(allocated, most), command->expected_in);
}

void iser_parameters_put(struct iser_scsi_command *command, const uint8_t *octets, size_t length)
{
    uint64_t at = command->transfer;

    if (length > command->allocated - at)
        length = (size_t)(command->allocated - at);
    command->transfer += length;
    if (at >= command->in_length)
        return;
    if (length > command->in_length - at)
        length = (size_t)(command->in_length - at);
    memcpy(command->data + at, octets, length);
    command->in_actual += (uint32_t)length;
}

bool iser_parameters_out(struct iser_scsi_command *command, uint32_t length)
{
    command->writes = true;
    command->transfer = length;
    command->out_length = length;
    return length <= command->expected_out || iser_fault(command, ISER_UNIT_DATA_LENGTH);
}
