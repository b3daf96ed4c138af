/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The contents of rping's Sends: 16 bytes, integers in network byte order. Sends of the client
 * describe a buffer; those of the server mean "go on", and their bytes are ignored.
 *
 *     0  address   8 bytes
 *     8  key       4 bytes
 *    12  length    4 bytes
 */
#ifndef ITAPI_SAMPLES_IT_RPING_MESSAGE_H
#define ITAPI_SAMPLES_IT_RPING_MESSAGE_H

#include "common/report.h"

#define RPING_MESSAGE_SIZE ((size_t)16)

/* A buffer in the client's memory. */
struct rping_buffer {
    it_rdma_addr_t address;
    uint32_t key;
    uint32_t length;
};

void rping_message_encode(const struct rping_buffer *buffer, unsigned char *bytes);
void rping_message_decode(const unsigned char *bytes, struct rping_buffer *buffer);

#endif
