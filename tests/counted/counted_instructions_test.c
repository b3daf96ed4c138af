/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The program whose instructions counted_instructions.sh counts.
 *
 * counted_instructions_test [PATTERN [MESSAGES]]
 */
#include "counted/counted_schedule.h"
#include "counted/counted_pattern.h"

#include <stdlib.h>
#include <string.h>

static const struct counted_pattern patterns[] = {
    {"ping-pong", COUNTED_PING_PONG, 64, 1, false, COUNTED_FAST},
    {"ping-pong-crc", COUNTED_PING_PONG, 64, 1, true, COUNTED_FAST},
    {"waiting", COUNTED_WAITING, 64, 1, false, COUNTED_FAST},
    {"waiting-crc", COUNTED_WAITING, 64, 1, true, COUNTED_FAST},
    {"sleeping", COUNTED_SLEEPING, 64, 1, false, COUNTED_FAST},
    {"write", COUNTED_WRITE, 64, COUNTED_DEPTH, false, COUNTED_FAST},
    {"write-apart", COUNTED_WRITE, 64, COUNTED_DEPTH, false, COUNTED_APART},
    {"write-coalesced", COUNTED_WRITE, 64, COUNTED_DEPTH, false, COUNTED_COALESCED},
    {"write-crc", COUNTED_WRITE, 64, COUNTED_DEPTH, true, COUNTED_COALESCED},
    {"send", COUNTED_SEND, 64, COUNTED_DEPTH, false, COUNTED_FAST},
    {"send-apart", COUNTED_SEND, 64, COUNTED_DEPTH, false, COUNTED_APART},
    {"send-coalesced", COUNTED_SEND, 64, COUNTED_DEPTH, false, COUNTED_COALESCED},
    {"send-crc", COUNTED_SEND, 64, COUNTED_DEPTH, true, COUNTED_COALESCED},
    {"read", COUNTED_READ, 64, 8, false, COUNTED_FAST},
    {"read-apart", COUNTED_READ, 64, 8, false, COUNTED_APART},
    {"read-coalesced", COUNTED_READ, 64, 8, false, COUNTED_COALESCED},
    {"read-crc", COUNTED_READ, 64, 8, true, COUNTED_COALESCED},
};

#define PATTERNS (sizeof(patterns) / sizeof(patterns[0]))

/*
 * After this many waits that were short by the held clock, a waiting thread polls first, even if it
 * lost the processor at the start of the connection and therefore slept at once for a while.
 */
#define WARM_UP 2400u

static void run(const struct counted_pattern *pattern, unsigned messages)
{
    struct counted_bed bed;

    counted_open(&bed, pattern);
    counted_settle(&bed);
    if (pattern->operation == COUNTED_WAITING)
        counted_warm_up(&bed, WARM_UP);
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
