/* SPDX-License-Identifier: BSD-2-Clause */
/* Keys and values of Login and Text PDUs: KEY=VALUE, each ended by a NUL. */
#ifndef ITAPI_ULP_ISER_PDU_ISER_TEXT_H
#define ITAPI_ULP_ISER_PDU_ISER_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ISER_KEY_MAX   63u  /* octets of a key (RFC 7143 6.1) */
#define ISER_VALUE_MAX 255u /* of a value, unless it is a large one */
#define ISER_TEXT_MAX  8192u
#define ISER_PAIRS_MAX 128u /* of one text: looking for a repeated key stays cheap */

/*
 * Returns true if the octets are at most ISER_PAIRS_MAX pairs KEY=VALUE, each NUL-terminated, with
 * keys of 1 to ISER_KEY_MAX printable octets and no key twice. An empty text is legal.
 */
bool iser_text_is_legal(const char *text, size_t length);

/* Gets the next pair of a legal text from *at on, and advances *at. Returns false at the end. */
bool iser_text_next(const char *text, size_t length, size_t *at, const char **key,
                    size_t *key_length, const char **value);

/* Returns the value of a key in a legal text; NULL: the key is absent. */
const char *iser_text_find(const char *text, size_t length, const char *key);

/* Parses a decimal or 0x number; the whole value must be a number of at most max. */
bool iser_text_number(const char *value, uint64_t max, uint64_t *number);

/* A text being composed. */
struct iser_text {
    size_t length;
    bool overflow; /* a pair did not fit: the text is unusable */
    char octets[ISER_TEXT_MAX];
};

void iser_text_put(struct iser_text *text, const char *key, const char *value);
void iser_text_put_number(struct iser_text *text, const char *key, uint64_t value);

#endif
