/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/sdp_message.h"

#include <string.h>

#define VERSION_MAJOR_MASK 0xf0u
#define VERSION_MAJOR      0x20u
#define VERSION            0x22u
#define CAP_INVALIDATE     0x1u
#define CAP_MAX_ADVERTS    0x2u
#define HALF_SENDING       0x80u
#define MODE_SHIFT         4u
#define MODE_BITS          0x7u

static void put(unsigned char *out, size_t octets, uint64_t value)
{
    while (octets > 0) {
        out[--octets] = (unsigned char)value;
        value >>= 8;
    }
}

static uint64_t get(const unsigned char *in, size_t octets)
{
    uint64_t value = 0;

    while (octets-- > 0)
        value = value << 8 | *in++;
    return value;
}

/* The extension that may follow the head, by type. */
static const struct {
    bool known;
    bool payload; /* a payload may follow */
    uint8_t extension;
} forms[256] = {
    [SDP_DISCONN] = {true, false, 0},          [SDP_ABORT_CONN] = {true, false, 0},
    [SDP_SEND_SM] = {true, false, 0},          [SDP_RDMA_WR_COMPL] = {true, false, 4},
    [SDP_RDMA_RD_COMPL] = {true, false, 4},    [SDP_MODE_CHANGE] = {true, false, 4},
    [SDP_SRC_AVAIL_CANCEL] = {true, false, 0}, [SDP_SINK_AVAIL_CANCEL] = {true, false, 0},
    [SDP_SINK_CANCEL_ACK] = {true, false, 0},  [SDP_CH_RCV_BUF] = {true, false, 4},
    [SDP_CH_RCV_BUF_ACK] = {true, false, 4},   [SDP_SUSP_COMM] = {true, false, 8},
    [SDP_SUSP_COMM_ACK] = {true, false, 0},    [SDP_SINK_AVAIL] = {true, true, 20},
    [SDP_SRC_AVAIL] = {true, true, 16},        [SDP_DATA] = {true, true, 0},
};

/* ---- Head ----------------------------------------------------------------------------------- */

static void head_put(unsigned char *out, const struct sdp_message *message, size_t length)
{
    out[0] = message->mid;
    out[1] = message->flags;
    put(out + 2, 2, message->bufs);
    put(out + 4, 4, length);
    put(out + 8, 4, message->mseq);
    put(out + 12, 4, message->mseq_ack);
}

static bool head_get(const unsigned char *octets, size_t length, struct sdp_message *message)
{
    memset(message, 0, sizeof(*message));
    if (length < SDP_HEAD_OCTETS || get(octets + 4, 4) != length)
        return false;
    message->mid = octets[0];
    message->flags = octets[1];
    message->bufs = (uint16_t)get(octets + 2, 2);
    message->mseq = (uint32_t)get(octets + 8, 4);
    message->mseq_ack = (uint32_t)get(octets + 12, 4);
    return (message->flags & ~SDP_FLAGS) == 0;
}

/* ---- Messages ------------------------------------------------------------------------------- */

size_t sdp_message_head(uint8_t mid)
{
    return SDP_HEAD_OCTETS + forms[mid].extension;
}

static void place_put(unsigned char *out, const struct sdp_place *place)
{
    put(out, 4, place->size);
    put(out + 4, 4, place->key);
    put(out + 8, 8, place->addr);
}

size_t sdp_message_put(unsigned char *out, const struct sdp_message *message)
{
    unsigned char *extension = out + SDP_HEAD_OCTETS;
    size_t head = sdp_message_head(message->mid);

    head_put(out, message, head + message->payload_octets);
    switch (message->mid) {
    case SDP_SINK_AVAIL:
        put(extension + 16, 4, message->value);
        place_put(extension, &message->place);
        break;
    case SDP_SRC_AVAIL:
        place_put(extension, &message->place);
        break;
    case SDP_MODE_CHANGE:
        put(extension, 4, 0);
        extension[0] = (unsigned char)((message->sending_half ? HALF_SENDING : 0) |
                                       (unsigned)message->mode << MODE_SHIFT);
        break;
    case SDP_SUSP_COMM:
        put(extension, 8, message->service);
        break;
    default:
        put(extension, forms[message->mid].extension, message->value);
        break;
    }
    return head;
}

static bool extension_get(const unsigned char *extension, struct sdp_message *message)
{
    switch (message->mid) {
    case SDP_SINK_AVAIL:
    case SDP_SRC_AVAIL:
        message->place.size = (uint32_t)get(extension, 4);
        message->place.key = (uint32_t)get(extension + 4, 4);
        message->place.addr = get(extension + 8, 8);
        if (message->mid == SDP_SINK_AVAIL)
            message->value = (uint32_t)get(extension + 16, 4);
        return message->place.size > 0 && message->place.addr + message->place.size - 1 >=
                                              message->place.addr; /* does not wrap */
    case SDP_MODE_CHANGE:
        message->sending_half = (extension[0] & HALF_SENDING) != 0;
        message->mode = extension[0] >> MODE_SHIFT & MODE_BITS;
        return message->mode < SDP_MODES && (get(extension, 4) & 0x0fffffffu) == 0;
    case SDP_SUSP_COMM:
        message->service = get(extension, 8);
        return true;
    default:
        message->value = (uint32_t)get(extension, forms[message->mid].extension);
        return true;
    }
}

bool sdp_message_get(const unsigned char *octets, size_t length, struct sdp_message *message)
{
    size_t head;

    if (!head_get(octets, length, message) || !forms[message->mid].known)
        return false;
    head = sdp_message_head(message->mid);
    if (length < head || (length > head && !forms[message->mid].payload))
        return false;
    message->payload = octets + head;
    message->payload_octets = (uint32_t)(length - head);
    if ((message->flags & SDP_FLAG_OOB_PRES) &&
        (message->mid != SDP_DATA || message->payload_octets == 0))
        return false;
    return extension_get(octets + SDP_HEAD_OCTETS, message);
}

/* ---- Hello ---------------------------------------------------------------------------------- */

/* Receives must hold a head and at least one octet; adverts and bufs are not 0. */
static bool hello_sane(const struct sdp_hello *hello)
{
    return hello->max_adverts > 0 && hello->receive_size > SDP_HEAD_OCTETS && hello->bufs > 0;
}

static bool hello_head(const unsigned char *octets, size_t length, uint8_t mid,
                       struct sdp_hello *hello)
{
    struct sdp_message head;

    memset(hello, 0, sizeof(*hello));
    if (!head_get(octets, length, &head) || head.mid != mid || head.mseq != 0)
        return false;
    hello->bufs = head.bufs;
    return length > SDP_HEAD_OCTETS &&
           (octets[SDP_HEAD_OCTETS] & VERSION_MAJOR_MASK) == VERSION_MAJOR;
}

void sdp_hello_put(unsigned char out[SDP_HELLO_OCTETS], const struct sdp_hello *hello)
{
    const struct sdp_message head = {.mid = SDP_HELLO, .bufs = hello->bufs};
    unsigned char *body = out + SDP_HEAD_OCTETS;

    memset(out, 0, SDP_HELLO_OCTETS);
    head_put(out, &head, SDP_HELLO_OCTETS);
    body[0] = VERSION;
    body[1] = (unsigned char)((unsigned)hello->ip_version << 4 |
                              (hello->invalidates ? CAP_INVALIDATE : 0));
    body[3] = (unsigned char)(hello->max_adverts < 255 ? hello->max_adverts : 255);
    if (hello->max_adverts > 255) {
        body[1] |= CAP_MAX_ADVERTS;
        put(body + 50, 2, hello->max_adverts);
    }
    put(body + 4, 4, hello->desired_size);
    put(body + 8, 4, hello->receive_size);
    put(body + 12, 2, hello->port);
    memcpy(body + 16, hello->source, sizeof(hello->source));
    memcpy(body + 32, hello->destination, sizeof(hello->destination));
}

bool sdp_hello_get(const unsigned char *octets, size_t length, struct sdp_hello *hello)
{
    const unsigned char *body = octets + SDP_HEAD_OCTETS;

    if (length != SDP_HELLO_OCTETS || !hello_head(octets, length, SDP_HELLO, hello))
        return false;
    hello->ip_version = body[1] >> 4;
    hello->invalidates = (body[1] & CAP_INVALIDATE) != 0;
    hello->max_adverts =
        (body[1] & CAP_MAX_ADVERTS) ? (uint16_t)get(body + 50, 2) : (uint16_t)body[3];
    hello->desired_size = (uint32_t)get(body + 4, 4);
    hello->receive_size = (uint32_t)get(body + 8, 4);
    hello->port = (uint16_t)get(body + 12, 2);
    memcpy(hello->source, body + 16, sizeof(hello->source));
    memcpy(hello->destination, body + 32, sizeof(hello->destination));
    return (hello->ip_version == 4 || hello->ip_version == 6) && hello_sane(hello);
}

void sdp_hello_ack_put(unsigned char out[SDP_HELLO_ACK_OCTETS], const struct sdp_hello *hello)
{
    const struct sdp_message head = {.mid = SDP_HELLO_ACK, .bufs = hello->bufs};
    unsigned char *body = out + SDP_HEAD_OCTETS;

    memset(out, 0, SDP_HELLO_ACK_OCTETS);
    head_put(out, &head, SDP_HELLO_ACK_OCTETS);
    body[0] = VERSION;
    body[3] = (unsigned char)(hello->max_adverts < 255 ? hello->max_adverts : 255);
    put(body + 4, 4, hello->receive_size);
}

bool sdp_hello_ack_get(const unsigned char *octets, size_t length, struct sdp_hello *hello)
{
    const unsigned char *body = octets + SDP_HEAD_OCTETS;

    if (length < SDP_HELLO_ACK_OCTETS || length > SDP_HELLO_ACK_MAX ||
        !hello_head(octets, length, SDP_HELLO_ACK, hello))
        return false;
    hello->max_adverts = body[3];
    hello->receive_size = (uint32_t)get(body + 4, 4);
    return hello_sane(hello);
}
