/* SPDX-License-Identifier: BSD-2-Clause */
#include "tdi/agree/agree_frame.h"

#include <string.h>

#define FRAME_MAGIC    8u
#define FRAME_TERMS    40u /* octets of an offer or answer before the private data */
#define FRAME_END      4u
#define FRAME_BODY_MAX (AGREE_FRAME_MAX - AGREE_HEADER)

/* The first octet begins no text, no TLS record and no MPA frame. */
static const uint8_t frame_magic[FRAME_MAGIC] = {0xc7, 'I', 'T', '-', 'A', '\r', '\n', 0x1a};

static uint16_t load16(const uint8_t *src)
{
    return (uint16_t)((unsigned)src[0] << 8 | src[1]);
}

static void store16(uint8_t *dst, size_t value)
{
    dst[0] = (uint8_t)(value >> 8);
    dst[1] = (uint8_t)value;
}

static size_t frame_encode_header(enum agree_type type, size_t body, uint8_t *dst)
{
    memcpy(dst, frame_magic, FRAME_MAGIC);
    dst[8] = AGREE_VERSION;
    dst[9] = (uint8_t)type;
    store16(dst + 10, body);
    return AGREE_HEADER + body;
}

size_t agree_frame_encode_terms(enum agree_type type, const struct agree_terms *terms, uint8_t *dst)
{
    uint8_t *body = dst + AGREE_HEADER;

    body[0] = terms->kind;
    body[1] = terms->family;
    store16(body + 2, terms->port);
    memcpy(body + 4, terms->address, AGREE_ADDRESS);
    memcpy(body + 20, terms->token, AGREE_TOKEN);
    store16(body + 36, terms->private_length);
    store16(body + 38, 0);
    memcpy(body + FRAME_TERMS, terms->private_data, terms->private_length);
    return frame_encode_header(type, FRAME_TERMS + terms->private_length, dst);
}

size_t agree_frame_encode_end(enum agree_type type, enum agree_reason reason, uint8_t *dst)
{
    uint8_t *body = dst + AGREE_HEADER;

    memset(body, 0, FRAME_END);
    body[0] = (uint8_t)reason;
    body[1] = AGREE_VERSION;
    return frame_encode_header(type, FRAME_END, dst);
}

size_t agree_frame_encode_empty(enum agree_type type, uint8_t *dst)
{
    return frame_encode_header(type, 0, dst);
}

size_t agree_frame_encode_key(const uint8_t token[AGREE_TOKEN], uint8_t *dst)
{
    memcpy(dst + AGREE_HEADER, token, AGREE_TOKEN);
    return frame_encode_header(AGREE_KEY, AGREE_TOKEN, dst);
}

/* ---------------------------------------------------------------- decoding */

static bool frame_decode_terms(const uint8_t *body, size_t length, struct agree_terms *terms)
{
    if (length < FRAME_TERMS)
        return false;
    terms->kind = body[0];
    terms->family = body[1];
    terms->port = load16(body + 2);
    memcpy(terms->address, body + 4, AGREE_ADDRESS);
    memcpy(terms->token, body + 20, AGREE_TOKEN);
    terms->private_length = load16(body + 36);
    if ((terms->family != 4 && terms->family != 6) || terms->private_length > AGREE_PRIVATE_MAX ||
        terms->private_length != length - FRAME_TERMS)
        return false;
    memcpy(terms->private_data, body + FRAME_TERMS, terms->private_length);
    return true;
}

/* A side's last frames are understood in every version: there may be more behind the reason. */
static bool frame_decode_body(const uint8_t *body, size_t length, struct agree_frame *frame)
{
    if (frame->type == AGREE_REFUSE || frame->type == AGREE_ABORT) {
        frame->reason = length > 0 ? body[0] : AGREE_NO_REASON;
        return true;
    }
    if (frame->version != AGREE_VERSION)
        return true;
    switch (frame->type) {
    case AGREE_OFFER:
    case AGREE_ANSWER:
        return frame_decode_terms(body, length, &frame->terms);
    case AGREE_READY:
    case AGREE_COMMIT:
        return length == 0;
    case AGREE_KEY:
        if (length != AGREE_TOKEN)
            return false;
        memcpy(frame->terms.token, body, AGREE_TOKEN);
        return true;
    default:
        return false;
    }
}

enum agree_found agree_frame_find(const uint8_t *octets, size_t length, struct agree_frame *frame,
                                  size_t *wanted)
{
    size_t seen = length < FRAME_MAGIC ? length : FRAME_MAGIC;
    size_t body;

    if (memcmp(octets, frame_magic, seen) != 0)
        return AGREE_STRANGE;
    *wanted = length < FRAME_MAGIC ? length + 1 : AGREE_HEADER;
    if (length < AGREE_HEADER)
        return AGREE_MORE;
    body = load16(octets + 10);
    if (octets[8] == 0 || body > FRAME_BODY_MAX)
        return AGREE_STRANGE;
    *wanted = AGREE_HEADER + body;
    if (length < *wanted)
        return AGREE_MORE;
    memset(frame, 0, sizeof(*frame));
    frame->version = octets[8];
    frame->type = octets[9];
    frame->length = *wanted;
    frame->malformed = !frame_decode_body(octets + AGREE_HEADER, body, frame);
    return AGREE_WHOLE;
}

bool agree_token_equal(const uint8_t a[AGREE_TOKEN], const uint8_t b[AGREE_TOKEN])
{
    /* volatile keeps the compiler from stopping at the first difference. */
    volatile uint8_t difference = 0;

    for (size_t i = 0; i < AGREE_TOKEN; i++)
        difference = (uint8_t)(difference | (a[i] ^ b[i]));
    return difference == 0;
}
