/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What counted_instructions.sh counts the instructions of.
 * counted_instructions_test [PATTERN [MESSAGES]]
 */
#include "counted/counted_hold.h"
#include "counted/counted_pattern.h"

#include <stdlib.h>
#include <string.h>

static const struct counted_pattern patterns[] = {
    {"ping-pong", COUNTED_PING_PONG, 64, 1, false, false},
    {"ping-pong-crc", COUNTED_PING_PONG, 64, 1, true, false},
    {"write", COUNTED_WRITE, 64, COUNTED_DEPTH, false, false},
    {"write-coalesced", COUNTED_WRITE, 64, COUNTED_DEPTH, false, true},
    {"send", COUNTED_SEND, 64, COUNTED_DEPTH, false, false},
    {"send-coalesced", COUNTED_SEND, 64, COUNTED_DEPTH, false, true},
    {"waiting", COUNTED_WAITING, 64, 1, false, false},
    {"waiting-crc", COUNTED_WAITING, 64, 1, true, false},
    {"write-crc", COUNTED_WRITE, 64, COUNTED_DEPTH, true, false},
    {"send-crc", COUNTED_SEND, 64, COUNTED_DEPTH, true, false},
    {"read", COUNTED_READ, 64, 8, false, false},
    {"read-crc", COUNTED_READ, 64, 8, true, false},
};

#define PATTERNS (sizeof(patterns) / sizeof(patterns[0]))

static void run(const struct counted_pattern *pattern, unsigned messages)
{
    struct counted_bed bed;

    counted_open(&bed, pattern);
    counted_hold(2);
    counted_run(&bed, messages);
    counted_release();
    counted_close(&bed);
}

int main(int argc, char **argv)
{
    unsigned messages = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 1280;
    bool found = false;

    for (size_t i = 0; i < PATTERNS; i++) {
        if (argc > 1 && strcmp(argv[1], patterns[i].name) != 0)
            continue;
        run(&patterns[i], messages);
        found = true;
    }
    CHECK(found);
    check_done();
    return EXIT_SUCCESS;
}
