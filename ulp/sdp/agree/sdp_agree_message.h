/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages beside the stream: the tuple, the messages with their tag, the names of UNIX sockets. */
#ifndef ITAPI_ULP_SDP_AGREE_SDP_AGREE_MESSAGE_H
#define ITAPI_ULP_SDP_AGREE_SDP_AGREE_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

#define SDP_NONCE_OCTETS   16
#define SDP_KEY_OCTETS     16
#define SDP_TAG_OCTETS     16
#define SDP_PREFACE_OCTETS 32
#define SDP_NOTE_OCTETS    92

enum sdp_end {
    SDP_CLIENT_END,
    SDP_SERVER_END
};

/* Both ends of a connection; IPv4 as IPv4-mapped IPv6. */
struct sdp_tuple {
    uint8_t address[2][16];
    uint16_t port[2];
};

enum sdp_note_type {
    SDP_NOTE_LISTENS = 1, /* asks whether such a process listens on the server's port */
    SDP_NOTE_NO,
    SDP_NOTE_PERHAPS,
    SDP_NOTE_ASK,
    SDP_NOTE_YES
};

struct sdp_note {
    enum sdp_note_type type;
    uint8_t kind; /* of the transport to convert to */
    struct sdp_tuple tuple;
    uint8_t client_nonce[SDP_NONCE_OCTETS];
    uint8_t server_nonce[SDP_NONCE_OCTETS];
};

/* key NULL: no tag. */
void sdp_note_put(const struct sdp_note *note, const uint8_t *key, uint8_t octets[SDP_NOTE_OCTETS]);
bool sdp_note_get(const void *octets, size_t length, struct sdp_note *note);
bool sdp_note_tagged(const uint8_t octets[SDP_NOTE_OCTETS], const uint8_t *key);

void sdp_siphash(const uint8_t key[SDP_KEY_OCTETS], const void *data, size_t length,
                 uint8_t tag[SDP_TAG_OCTETS]);

/* Returns false if the address is not an IP address. */
bool sdp_address_get(const struct sockaddr *address, uint8_t octets[16], uint16_t *port);
bool sdp_address_local(const uint8_t octets[16]); /* loopback or unspecified */

/* Gets the tuple of a connected socket whose own end is `own`. */
bool sdp_tuple_get(int fd, enum sdp_end own, struct sdp_tuple *tuple);
bool sdp_tuple_within_host(const struct sdp_tuple *tuple);

socklen_t sdp_presence_name(uint16_t port, struct sockaddr_un *name);
/* Does a process with this library, on this host, listen on the port? */
bool sdp_presence_is_there(uint16_t port);
socklen_t sdp_holder_name(const struct sdp_tuple *tuple, struct sockaddr_un *name);

#endif /* ITAPI_ULP_SDP_AGREE_SDP_AGREE_MESSAGE_H */
