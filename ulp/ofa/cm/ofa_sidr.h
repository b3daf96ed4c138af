/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages that resolve a service ID to a queue pair number (InfiniBand's SIDR): a UDP request to
 * the port of a listener, and its reply. They have 36 octets in network order, then private data.
 */
#ifndef ITAPI_ULP_OFA_CM_OFA_SIDR_H
#define ITAPI_ULP_OFA_CM_OFA_SIDR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CM_SIDR_HEADER 36
#define CM_SIDR_MOST   (CM_SIDR_HEADER + UINT8_MAX)

enum cm_sidr_kind {
    CM_SIDR_REQUEST = 1,
    CM_SIDR_REPLY = 2
};

/* Values of InfiniBand. */
enum cm_sidr_status {
    CM_SIDR_SUCCESS = 0,
    CM_SIDR_NO_SERVICE = 1,
    CM_SIDR_REJECTED = 2
};

struct cm_sidr_message {
    enum cm_sidr_kind kind;
    uint8_t status;       /* of a reply */
    uint64_t transaction; /* chosen by the requester */
    uint32_t number;      /* of a reply: number of the queue pair */
    uint32_t qkey;
    const void *data;
    uint8_t length;
};

/* Returns the length of the encoded message. */
size_t cm_sidr_encode(const struct cm_sidr_message *message, unsigned char bytes[CM_SIDR_MOST]);

/* Returns false for other octets. message->data points into `bytes`. */
bool cm_sidr_decode(const unsigned char *bytes, size_t length, struct cm_sidr_message *message);

#endif /* ITAPI_ULP_OFA_CM_OFA_SIDR_H */
