/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frames by which two sides agree to move a TCP connection to an RDMA device (docs/conversion.md).
 * Encoders and one decoder; integers in network order.
 */
#ifndef ITAPI_TDI_AGREE_AGREE_FRAME_H
#define ITAPI_TDI_AGREE_AGREE_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AGREE_VERSION     1u
#define AGREE_HEADER      12u   /* the same in every version */
#define AGREE_FRAME_MAX   1024u /* of every version; a longer one is no frame */
#define AGREE_TOKEN       16u
#define AGREE_ADDRESS     16u
#define AGREE_PRIVATE_MAX 256u
#define AGREE_OWN_MAX     (AGREE_HEADER + 40u + AGREE_PRIVATE_MAX) /* of this version */
#define AGREE_KEY_FRAME   (AGREE_HEADER + AGREE_TOKEN)

enum agree_type {
    AGREE_OFFER = 1,
    AGREE_ANSWER = 2,
    AGREE_REFUSE = 3, /* in place of an answer; the sender's last frame */
    AGREE_READY = 4,
    AGREE_COMMIT = 5,
    AGREE_ABORT = 6, /* the sender's last frame */
    AGREE_KEY = 7    /* never on the stream: it is the private data of the RDMA connection */
};

/* Devices of one kind can talk to each other. */
enum agree_kind {
    AGREE_INFINIBAND = 1,
    AGREE_ROCE = 2,
    AGREE_IWARP = 3
};

enum agree_reason {
    AGREE_NO_REASON = 0, /* of a frame that only confirms the peer's last one */
    AGREE_BAD_VERSION = 1,
    AGREE_BAD_KIND = 2,    /* the devices are of different kinds */
    AGREE_BAD_ADDRESS = 3, /* the device has not the stream's address */
    AGREE_NO_RESOURCES = 4,
    AGREE_NO_CONNECTION = 5, /* the RDMA connection cannot be made */
    AGREE_TIMEOUT = 6,
    AGREE_BAD_PROTOCOL = 7, /* a frame that is malformed or out of turn */
    AGREE_BAD_ROLE = 8      /* both are initiators */
};

/* The content of an offer and of an answer. */
struct agree_terms {
    uint8_t kind;                   /* enum agree_kind, or one of a later version */
    uint8_t family;                 /* 4 or 6 */
    uint16_t port;                  /* of an answer: where to connect; of an offer: 0 */
    uint8_t address[AGREE_ADDRESS]; /* the device's; IPv4: four octets, then zeros */
    uint8_t token[AGREE_TOKEN];     /* the key that the peer must present on the RDMA connection */
    uint16_t private_length;
    uint8_t private_data[AGREE_PRIVATE_MAX];
};

struct agree_frame {
    uint8_t version;
    uint8_t type;
    bool malformed;           /* its length is known, its content is invalid */
    size_t length;            /* octets, header included */
    struct agree_terms terms; /* of an offer or answer; of a key only .token */
    uint8_t reason;           /* of a refuse or abort */
};

enum agree_found {
    AGREE_MORE,   /* the octets may be the beginning of a frame */
    AGREE_WHOLE,  /* a frame, of any version */
    AGREE_STRANGE /* no frame */
};

/*
 * Looks for a frame at the beginning of any octets. AGREE_MORE: *wanted octets in all are needed.
 * The first octet that no frame can have is found as soon as it is there.
 */
enum agree_found agree_frame_find(const uint8_t *octets, size_t length, struct agree_frame *frame,
                                  size_t *wanted);

/* Each writes a frame to dst and returns its length, at most AGREE_OWN_MAX. */
size_t agree_frame_encode_terms(enum agree_type type, const struct agree_terms *terms,
                                uint8_t *dst);
size_t agree_frame_encode_end(enum agree_type type, enum agree_reason reason, uint8_t *dst);
size_t agree_frame_encode_empty(enum agree_type type, uint8_t *dst);
size_t agree_frame_encode_key(const uint8_t token[AGREE_TOKEN], uint8_t *dst);

/* Compares in constant time. */
bool agree_token_equal(const uint8_t a[AGREE_TOKEN], const uint8_t b[AGREE_TOKEN]);

#endif
