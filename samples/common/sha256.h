/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SHA-256 (FIPS 180-4), enough to compare files: small and portable, not fast.
 */
#ifndef ITAPI_SAMPLES_COMMON_SHA256_H
#define ITAPI_SAMPLES_COMMON_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_SIZE      32                    /* bytes of a digest */
#define SHA256_TEXT_SIZE (2 * SHA256_SIZE + 1) /* bytes of its text, the NUL included */

/* The digest of length bytes. */
void sha256(const void *data, size_t length, unsigned char digest[SHA256_SIZE]);

/* The digest in hexadecimal. */
void sha256_text(const unsigned char digest[SHA256_SIZE], char text[SHA256_TEXT_SIZE]);

#endif
