/* SPDX-License-Identifier: BSD-2-Clause */
#include "auth/iser_digest.h"

#include <openssl/evp.h>
#include <string.h>

/* ---- Digests ------------------------------------------------------------------------ */

static const EVP_MD *method(unsigned algorithm)
{
    switch (algorithm) {
    case 5:
        return EVP_md5();
    case 6:
        return EVP_sha1();
    case 7:
        return EVP_sha256();
    case 8:
        return EVP_sha3_256();
    default:
        return NULL;
    }
}

bool iser_digest(unsigned algorithm, uint8_t id, const uint8_t *secret, size_t secret_length,
                 const uint8_t *challenge, size_t challenge_length, uint8_t digest[ISER_DIGEST_MAX])
{
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool good = context && method(algorithm) &&
                EVP_DigestInit_ex(context, method(algorithm), NULL) == 1 &&
                EVP_DigestUpdate(context, &id, 1) == 1 &&
                EVP_DigestUpdate(context, secret, secret_length) == 1 &&
                EVP_DigestUpdate(context, challenge, challenge_length) == 1 &&
                EVP_DigestFinal_ex(context, digest, NULL) == 1;

    EVP_MD_CTX_free(context);
    return good;
}

size_t iser_digest_length(unsigned algorithm)
{
    uint8_t digest[ISER_DIGEST_MAX];

    if (!method(algorithm) || !iser_digest(algorithm, 0, digest, 0, digest, 0, digest))
        return 0;
    return (size_t)EVP_MD_get_size(method(algorithm));
}

/* ---- Binary values -------------------------------------------------------------------- */

static int index_of(const char *digits, char digit)
{
    const char *at = digit ? strchr(digits, digit) : NULL;

    return at ? (int)(at - digits) : -1;
}

static int hex_digit(char digit)
{
    return digit >= 'A' && digit <= 'F' ? digit - 'A' + 10 : index_of("0123456789abcdef", digit);
}

static bool decode_hex(const char *text, uint8_t *octets, size_t room, size_t *length)
{
    *length = 0;
    for (; *text; text += 2) {
        int high = hex_digit(text[0]), low = high < 0 ? -1 : hex_digit(text[1]);

        if (low < 0 || *length == room)
            return false;
        octets[(*length)++] = (uint8_t)(high << 4 | low);
    }
    return *length > 0;
}

static bool decode_base64(const char *text, uint8_t *octets, size_t room, size_t *length)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t count = strspn(text, digits);
    uint32_t bits = 0;

    *length = 0;
    if (strlen(text) % 4 != 0 || count % 4 == 1 ||
        strspn(text + count, "=") != (4 - count % 4) % 4 ||
        count + (4 - count % 4) % 4 != strlen(text))
        return false;
    for (size_t i = 0; i < count; i++) {
        bits = bits << 6 | (uint32_t)index_of(digits, text[i]);
        if (i % 4 == 0)
            continue;
        if (*length == room)
            return false;
        octets[(*length)++] = (uint8_t)(bits >> (6 - 2 * (i % 4)));
    }
    return *length > 0;
}

bool iser_binary_decode(const char *value, uint8_t *octets, size_t room, size_t *length)
{
    if (value[0] != '0')
        return false;
    if (value[1] == 'x' || value[1] == 'X')
        return decode_hex(value + 2, octets, room, length);
    return (value[1] == 'b' || value[1] == 'B') && decode_base64(value + 2, octets, room, length);
}

void iser_binary_put(struct iser_text *text, const char *key, const uint8_t *octets, size_t length)
{
    char value[2 + 2 * ISER_DIGEST_MAX + 1] = "0x";

    for (size_t i = 0; i < length && i < ISER_DIGEST_MAX; i++) {
        value[2 + 2 * i] = "0123456789abcdef"[octets[i] >> 4];
        value[3 + 2 * i] = "0123456789abcdef"[octets[i] & 15];
    }
    iser_text_put(text, key, value);
}
