/* SPDX-License-Identifier: BSD-2-Clause */
#include "cm/ofa_sidr.h"

#include <endian.h>
#include <string.h>

/* The last octet is the version of the format. */
static const unsigned char magic[16] = "itapi.ofa.sidr\0\1";

enum {
    AT_KIND = 16,
    AT_STATUS = 17,
    AT_LENGTH = 18,
    AT_ZERO = 19,
    AT_TRANSACTION = 20,
    AT_NUMBER = 28,
    AT_QKEY = 32
};

size_t cm_sidr_encode(const struct cm_sidr_message *message, unsigned char bytes[CM_SIDR_MOST])
{
    uint64_t transaction = htobe64(message->transaction);
    uint32_t number = htobe32(message->number);
    uint32_t qkey = htobe32(message->qkey);

    memset(bytes, 0, CM_SIDR_HEADER);
    memcpy(bytes, magic, sizeof(magic));
    bytes[AT_KIND] = (unsigned char)message->kind;
    bytes[AT_STATUS] = message->status;
    bytes[AT_LENGTH] = message->length;
    memcpy(bytes + AT_TRANSACTION, &transaction, sizeof(transaction));
    memcpy(bytes + AT_NUMBER, &number, sizeof(number));
    memcpy(bytes + AT_QKEY, &qkey, sizeof(qkey));
    if (message->length > 0)
        memcpy(bytes + CM_SIDR_HEADER, message->data, message->length);
    return CM_SIDR_HEADER + (size_t)message->length;
}

bool cm_sidr_decode(const unsigned char *bytes, size_t length, struct cm_sidr_message *message)
{
    uint64_t transaction;
    uint32_t number;
    uint32_t qkey;

    if (length < CM_SIDR_HEADER || memcmp(bytes, magic, sizeof(magic)) != 0 ||
        length != CM_SIDR_HEADER + (size_t)bytes[AT_LENGTH] || bytes[AT_ZERO] != 0 ||
        (bytes[AT_KIND] != CM_SIDR_REQUEST && bytes[AT_KIND] != CM_SIDR_REPLY))
        return false;
    memcpy(&transaction, bytes + AT_TRANSACTION, sizeof(transaction));
    memcpy(&number, bytes + AT_NUMBER, sizeof(number));
    memcpy(&qkey, bytes + AT_QKEY, sizeof(qkey));
    *message = (struct cm_sidr_message){.kind = (enum cm_sidr_kind)bytes[AT_KIND],
                                        .status = bytes[AT_STATUS],
                                        .transaction = be64toh(transaction),
                                        .number = be32toh(number),
                                        .qkey = be32toh(qkey),
                                        .data = bytes + CM_SIDR_HEADER,
                                        .length = bytes[AT_LENGTH]};
    return true;
}
