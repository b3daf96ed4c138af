/* SPDX-License-Identifier: BSD-2-Clause */
#include "common/sha256.h"

#include <stdio.h>
#include <string.h>

#define BLOCK 64

/* First 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t value, unsigned int count)
{
    return value >> count | value << (32 - count);
}

static uint32_t load(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 |
           (uint32_t)bytes[3];
}

static void store(unsigned char *bytes, uint32_t value)
{
    bytes[0] = (unsigned char)(value >> 24);
    bytes[1] = (unsigned char)(value >> 16);
    bytes[2] = (unsigned char)(value >> 8);
    bytes[3] = (unsigned char)value;
}

/* Extends the 16 words of a block to the 64 of its message schedule. */
static void expand(uint32_t schedule[64], const unsigned char *block)
{
    for (size_t t = 0; t < 16; t++)
        schedule[t] = load(block + 4 * t);
    for (size_t t = 16; t < 64; t++) {
        uint32_t old = schedule[t - 15];
        uint32_t young = schedule[t - 2];
        uint32_t sigma0 = rotate(old, 7) ^ rotate(old, 18) ^ old >> 3;
        uint32_t sigma1 = rotate(young, 17) ^ rotate(young, 19) ^ young >> 10;

        schedule[t] = sigma1 + schedule[t - 7] + sigma0 + schedule[t - 16];
    }
}

static void compress(uint32_t state[8], const unsigned char *block)
{
    uint32_t schedule[64];
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];

    expand(schedule, block);
    for (size_t t = 0; t < 64; t++) {
        uint32_t sum1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
        uint32_t sum0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
        uint32_t first = h + sum1 + ((e & f) ^ (~e & g)) + constants[t] + schedule[t];
        uint32_t second = sum0 + ((a & b) ^ (a & c) ^ (b & c));

        h = g;
        g = f;
        f = e;
        e = d + first;
        d = c;
        c = b;
        b = a;
        a = first + second;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
    state[5] += f;
    state[6] += g;
    state[7] += h;
}

/* The rest of the data, a one bit, zeros, and the length in bits: one block or two. */
static void compress_tail(uint32_t state[8], const unsigned char *rest, size_t count,
                          uint64_t total)
{
    unsigned char tail[2 * BLOCK] = {0};
    size_t size = count + 1 + 8 <= BLOCK ? BLOCK : 2 * BLOCK;

    if (count > 0)
        memcpy(tail, rest, count);
    tail[count] = 0x80;
    store(tail + size - 8, (uint32_t)(total * 8 >> 32));
    store(tail + size - 4, (uint32_t)(total * 8));
    for (size_t offset = 0; offset < size; offset += BLOCK)
        compress(state, tail + offset);
}

void sha256(const void *data, size_t length, unsigned char digest[SHA256_SIZE])
{
    uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    const unsigned char *next = data;
    size_t left = length;

    for (; left >= BLOCK; left -= BLOCK, next += BLOCK)
        compress(state, next);
    compress_tail(state, next, left, length);
    for (size_t i = 0; i < 8; i++)
        store(digest + 4 * i, state[i]);
}

void sha256_text(const unsigned char digest[SHA256_SIZE], char text[SHA256_TEXT_SIZE])
{
    for (size_t i = 0; i < SHA256_SIZE; i++)
        (void)snprintf(text + 2 * i, 3, "%02x", digest[i]);
}
