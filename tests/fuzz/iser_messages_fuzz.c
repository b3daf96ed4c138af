/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What iSER decodes outside of a session. The first octet chooses: iSER headers and the PDU behind
 * one, the checks of a header segment, keys and values, binary values, CHAP for either end (texts
 * divided by an octet of 255). A header that is accepted has the same meaning after encoding.
 */
#include "auth/iser_chap.h"
#include "auth/iser_digest.h"
#include "pdu/iser_pdu.h"
#include "pdu/iser_text.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void try_header(const uint8_t *data, size_t size)
{
    uint8_t octets[ISER_HEADER + ISER_BHS] = {0};
    struct iser_header header, again;
    struct iser_pdu pdu;

    if (!iser_header_decode(data, size, &header))
        return;
    iser_header_encode(&header, octets);
    require(iser_header_decode(octets, header.kind == ISER_CONTROL ? sizeof(octets) : ISER_HEADER,
                               &again));
    require(header.kind == again.kind && header.reject == again.reject);
    require(header.has_write == again.has_write && header.has_read == again.has_read);
    require(header.write_stag == again.write_stag && header.write_base == again.write_base);
    require(header.read_stag == again.read_stag && header.read_base == again.read_base);
    if (header.kind != ISER_CONTROL ||
        !iser_pdu_decode(data + ISER_HEADER, size - ISER_HEADER, &pdu))
        return;
    (void)iser_pdu_fault(pdu.bhs);
    require(pdu.ahs >= data && pdu.data + pdu.length <= data + size);
    require(pdu.ahs + pdu.ahs_length == pdu.data);
}

static void try_text(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data, *key, *value;
    size_t at = 0, key_length, pairs = 0;
    uint64_t number;

    if (!iser_text_is_legal(text, size))
        return;
    while (iser_text_next(text, size, &at, &key, &key_length, &value)) {
        char name[ISER_KEY_MAX + 1];

        require(++pairs <= ISER_PAIRS_MAX && key_length >= 1 && key_length <= ISER_KEY_MAX);
        memcpy(name, key, key_length);
        name[key_length] = '\0';
        require(iser_text_find(text, size, name) == value);
        require(!iser_text_number(value, 65536, &number) || number <= 65536);
    }
    require(at == size);
}

static void try_binary(const uint8_t *data, size_t size)
{
    char *value = malloc(size + 1);
    uint8_t *octets = malloc(64);
    size_t length = 0;

    require(value && octets);
    memcpy(value, data, size);
    value[size] = '\0';
    if (iser_binary_decode(value, octets, 64, &length))
        require(length >= 1 && length <= 64);
    free(octets);
    free(value);
}

static void try_chap(const uint8_t *data, size_t size, bool target)
{
    static const struct itiser_secret secrets[] = {
        {.name = "one", .secret = (const uint8_t *)"a secret of one", .length = 15},
        {.name = "other", .secret = (const uint8_t *)"another secret.", .length = 15}};
    static struct iser_text out;
    iser_chap_verdict_t verdict = ISER_CHAP_MORE;
    struct iser_chap chap;

    memset(&chap, 0, sizeof(chap));
    while (verdict == ISER_CHAP_MORE && size > 0) {
        const uint8_t *end = memchr(data, 255, size);
        size_t length = end ? (size_t)(end - data) : size;

        out.length = 0;
        out.overflow = false;
        if (!iser_text_is_legal((const char *)data, length))
            return;
        verdict = target ? iser_chap_step(&chap, &secrets[0], &secrets[1], (const char *)data,
                                          length, &out)
                         : iser_chap_initiate(&chap, &secrets[0], &secrets[1], (const char *)data,
                                              length, &out);
        require(!out.overflow && iser_text_is_legal(out.octets, out.length));
        length += end != NULL;
        data += length;
        size -= length;
    }
    require(verdict != ISER_CHAP_DONE); /* nobody proves a secret by chance */
}

static void try_target(const uint8_t *data, size_t size)
{
    try_chap(data, size, true);
}

static void try_initiator(const uint8_t *data, size_t size)
{
    try_chap(data, size, false);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const tries[])(const uint8_t *data, size_t size) = {
        try_header, try_text, try_binary, try_target, try_initiator};
    uint8_t *copy; /* so that the octet behind the end is not ours */

    if (size == 0)
        return 0;
    copy = malloc(size - 1 ? size - 1 : 1);
    require(copy != NULL);
    memcpy(copy, data + 1, size - 1);
    tries[data[0] % (sizeof(tries) / sizeof(tries[0]))](copy, size - 1);
    free(copy);
    return 0;
}
