/* SPDX-License-Identifier: BSD-2-Clause */
#include "pdu/iser_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- reading */

bool iser_text_next(const char *text, size_t length, size_t *at, const char **key,
                    size_t *key_length, const char **value)
{
    const char *pair = text + *at;
    const char *equals;

    if (*at >= length)
        return false;
    equals = strchr(pair, '=');
    if (!equals)
        return false;
    *key = pair;
    *key_length = (size_t)(equals - pair);
    *value = equals + 1;
    *at += strlen(pair) + 1;
    return true;
}

static bool text_key_is_legal(const char *key, size_t length)
{
    if (length == 0 || length > ISER_KEY_MAX)
        return false;
    for (size_t i = 0; i < length; i++)
        if (key[i] <= ' ' || key[i] > '~')
            return false;
    return true;
}

static bool text_has_before(const char *text, const char *pair, const char *key, size_t key_length)
{
    for (; text < pair; text += strlen(text) + 1)
        if (strncmp(text, key, key_length) == 0 && text[key_length] == '=')
            return true;
    return false;
}

bool iser_text_is_legal(const char *text, size_t length)
{
    const char *key, *value;
    size_t at = 0, key_length, pairs = 0;

    if (length == 0)
        return true;
    if (text[length - 1] != '\0')
        return false;
    while (at < length) {
        const char *pair = text + at;

        if (!iser_text_next(text, length, &at, &key, &key_length, &value) ||
            ++pairs > ISER_PAIRS_MAX || !text_key_is_legal(key, key_length) ||
            text_has_before(text, pair, key, key_length))
            return false;
    }
    return true;
}

const char *iser_text_find(const char *text, size_t length, const char *key)
{
    const char *found, *value;
    size_t at = 0, key_length;

    while (iser_text_next(text, length, &at, &found, &key_length, &value))
        if (key_length == strlen(key) && memcmp(found, key, key_length) == 0)
            return value;
    return NULL;
}

bool iser_text_number(const char *value, uint64_t max, uint64_t *number)
{
    bool hexadecimal = value[0] == '0' && (value[1] == 'x' || value[1] == 'X');
    const char *digits = hexadecimal ? value + 2 : value;
    unsigned long long read;
    char *end;

    if (digits[0] == '\0' ||
        strspn(digits, hexadecimal ? "0123456789abcdefABCDEF" : "0123456789") != strlen(digits))
        return false;
    errno = 0;
    read = strtoull(digits, &end, hexadecimal ? 16 : 10);
    if (errno != 0 || read > max)
        return false;
    *number = read;
    return true;
}

/* ---------------------------------------------------------------- writing */

void iser_text_put(struct iser_text *text, const char *key, const char *value)
{
    size_t key_length = strlen(key), value_length = strlen(value);
    char *to = text->octets + text->length;

    if (key_length + value_length + 2 > sizeof(text->octets) - text->length) {
        text->overflow = true;
        return;
    }
    /* "=" follows. NOLINTNEXTLINE(bugprone-not-null-terminated-result) */
    memcpy(to, key, key_length);
    to[key_length] = '=';
    memcpy(to + key_length + 1, value, value_length + 1);
    text->length += key_length + value_length + 2;
}

void iser_text_put_number(struct iser_text *text, const char *key, uint64_t value)
{
    char number[24];

    (void)snprintf(number, sizeof(number), "%" PRIu64, value);
    iser_text_put(text, key, number);
}
