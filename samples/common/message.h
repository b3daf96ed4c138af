/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The messages that the two sides of a sample send each other over RDMA: always MESSAGE_SIZE
 * bytes, numbers in network byte order. A memory key and an address mean nothing to the API while
 * they travel: programs agree on a form of their own, and this is one.
 */
#ifndef ITAPI_SAMPLES_COMMON_MESSAGE_H
#define ITAPI_SAMPLES_COMMON_MESSAGE_H

#include "common/report.h"

#include <openssl/sha.h>

#define MESSAGE_SIZE 64

enum message_kind {
    MESSAGE_READY = 1, /* the connecting side is there; what it says first on iWARP */
    MESSAGE_BUFFER,    /* key, address and length of memory that the peer may use */
    MESSAGE_WRITTEN,   /* RDMA Writes are finished; digest of what was written */
    MESSAGE_IN_PLACE,  /* the answer: the data is in memory */
    MESSAGE_DIGEST,    /* digest of what lies in memory */
    MESSAGE_DONE,      /* the sender needs the peer no more; detail says how it went */
};

struct message {
    enum message_kind kind;
    uint32_t detail;
    it_rmr_context_t key;   /* MESSAGE_BUFFER */
    it_rdma_addr_t address; /* MESSAGE_BUFFER */
    uint64_t length;        /* MESSAGE_BUFFER */
    unsigned char digest[SHA256_DIGEST_LENGTH];
};

/* The kind in words. */
const char *message_name(enum message_kind kind);

/* To and from the bytes that travel. */
void message_encode(const struct message *message, unsigned char bytes[MESSAGE_SIZE]);
void message_decode(const unsigned char bytes[MESSAGE_SIZE], struct message *message);

#endif
