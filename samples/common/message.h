/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The messages that the two sides of a sample send each other over RDMA: always MESSAGE_SIZE bytes,
 * numbers in network byte order. The API does not define how keys and addresses travel in messages:
 * programs agree on a form, and this is one.
 */
#ifndef ITAPI_SAMPLES_COMMON_MESSAGE_H
#define ITAPI_SAMPLES_COMMON_MESSAGE_H

#include "common/report.h"

#include <openssl/sha.h>

#define MESSAGE_SIZE 64

enum message_kind {
    MESSAGE_READY = 1, /* the connecting side is ready; its first message on iWARP */
    MESSAGE_BUFFER,    /* key, address and length of memory that the peer may use */
    MESSAGE_WRITTEN,   /* RDMA Writes are finished; digest of the data written */
    MESSAGE_IN_PLACE,  /* the answer: the data is in memory */
    MESSAGE_DIGEST,    /* digest of the data in memory */
    MESSAGE_DONE,      /* the sender does not need the peer any more; detail: the result */
};

struct message {
    enum message_kind kind;
    uint32_t detail;
    it_rmr_context_t key;   /* MESSAGE_BUFFER */
    it_rdma_addr_t address; /* MESSAGE_BUFFER */
    uint64_t length;        /* MESSAGE_BUFFER */
    unsigned char digest[SHA256_DIGEST_LENGTH];
};

/* Returns the kind as text. */
const char *message_name(enum message_kind kind);

/* Convert to and from the bytes of a message. */
void message_encode(const struct message *message, unsigned char bytes[MESSAGE_SIZE]);
void message_decode(const unsigned char bytes[MESSAGE_SIZE], struct message *message);

#endif
