/* SPDX-License-Identifier: BSD-2-Clause */
#include "hostile/hostile_writer.h"

#include <string.h>

static bool write_region(struct writer *writer, struct raw_bytes *stream)
{
    static unsigned char payload[WRITER_CHUNK];
    RAW_BYTES(ulpdu);
    unsigned round = atomic_load(&writer->rounds) + 1;
    bool sent;

    memset(payload, (int)(round & 0x7f) + 1, sizeof(payload));
    raw_reset(stream);
    for (size_t at = 0; at < WRITER_REGION; at += WRITER_CHUNK) {
        size_t part = WRITER_REGION - at < WRITER_CHUNK ? WRITER_REGION - at : WRITER_CHUNK;

        raw_tagged(&ulpdu, RAW_WRITE, writer->stag, writer->to + at, payload, part,
                   at + part == WRITER_REGION);
        raw_fpdu(stream, &ulpdu, writer->peer->crc);
    }
    sent = raw_send(writer->peer, stream);
    atomic_store(&writer->rounds, round);
    return sent;
}

static void *writer_main(void *argument)
{
    struct writer *writer = argument;
    RAW_BYTES(stream);

    while (write_region(writer, &stream))
        continue;
    return NULL;
}

void writer_start(struct writer *writer, struct raw_peer *peer, uint32_t stag, uint64_t to)
{
    *writer = (struct writer){.peer = peer, .stag = stag, .to = to};
    CHECK(pthread_create(&writer->thread, NULL, writer_main, writer) == 0);
}

void writer_await(const struct writer *writer, unsigned rounds)
{
    FX_WAIT_WHILE(atomic_load(&writer->rounds) < rounds, "writes");
}

void stays(const unsigned char *memory, const unsigned char *now, uint64_t microseconds)
{
    uint64_t end = fx_now_us() + microseconds;

    do
        CHECK(memcmp(memory, now, WRITER_REGION) == 0);
    while (fx_now_us() < end);
}
