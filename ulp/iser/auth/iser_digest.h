/* SPDX-License-Identifier: BSD-2-Clause */
/* Digests of CHAP, and binary values in texts. */
#ifndef ITAPI_ULP_ISER_AUTH_ISER_DIGEST_H
#define ITAPI_ULP_ISER_AUTH_ISER_DIGEST_H

#include "pdu/iser_text.h"

#define ISER_DIGEST_MAX 32u

/*
 * Returns the length in octets of the digest of algorithm 5 (MD5), 6 (SHA1), 7 (SHA-256) or 8
 * (SHA3-256); 0: unknown, or not allowed by libcrypto.
 */
size_t iser_digest_length(unsigned algorithm);

/*
 * Computes the digest of id, secret and challenge, in this order. Returns false if libcrypto
 * refuses.
 */
bool iser_digest(unsigned algorithm, uint8_t id, const uint8_t *secret, size_t secret_length,
                 const uint8_t *challenge, size_t challenge_length,
                 uint8_t digest[ISER_DIGEST_MAX]);

/*
 * Decodes a binary value, 0x hexadecimal or 0b base64; returns false if it is neither, or too long.
 */
bool iser_binary_decode(const char *value, uint8_t *octets, size_t room, size_t *length);
/* Appends KEY=0x... */
void iser_binary_put(struct iser_text *text, const char *key, const uint8_t *octets, size_t length);

#endif
