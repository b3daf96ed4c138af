/* SPDX-License-Identifier: BSD-2-Clause */
/* Digests of CHAP, and how their octets are written in texts. */
#ifndef ITAPI_ULP_ISER_AUTH_ISER_DIGEST_H
#define ITAPI_ULP_ISER_AUTH_ISER_DIGEST_H

#include "pdu/iser_text.h"

#define ISER_DIGEST_MAX 32u

/* The octets of the digests of algorithm 5 (MD5), 6 (SHA1), 7 (SHA-256), 8 (SHA3-256); 0: there is
 * no such, or libcrypto does not allow it. */
size_t iser_digest_length(unsigned algorithm);

/* Of id, secret and challenge, in this order. False: libcrypto refuses. */
bool iser_digest(unsigned algorithm, uint8_t id, const uint8_t *secret, size_t secret_length,
                 const uint8_t *challenge, size_t challenge_length,
                 uint8_t digest[ISER_DIGEST_MAX]);

/* Octets of a binary value, 0x hexadecimal or 0b base64; false: it is not one, or longer. */
bool iser_binary_decode(const char *value, uint8_t *octets, size_t room, size_t *length);
/* KEY=0x... */
void iser_binary_put(struct iser_text *text, const char *key, const uint8_t *octets, size_t length);

#endif
