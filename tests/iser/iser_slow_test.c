/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Initiators whose octets arrive one by one, in all ways in. Connections that end within the first
 * octets. Each with low water marks, and on a system that refuses them, as TCP also passes them
 * over when it lacks memory.
 */
#include "iser_wire_kit.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct wire_bed bed;
static bool no_low_water;

/* The target calls this one instead of libc's. */
int setsockopt(int fd, int level, int name, const void *value, socklen_t length)
{
    if (no_low_water && level == SOL_SOCKET && name == SO_RCVLOWAT) {
        errno = ENOPROTOOPT;
        return -1;
    }
    return (int)syscall(SYS_setsockopt, fd, level, name, value, length);
}

static void nothing(struct wire_bed *target)
{
    (void)target;
}

/* The target has looked at the octet when this returns: a whole turn of its loop has passed. */
static void two_turns(void)
{
    wire_run(&bed, nothing);
    wire_run(&bed, nothing);
}

static void one_by_one(void)
{
    static const unsigned char inquiry[16] = {0x12};
    static struct wire_pdu pdu;

    bed.between = two_turns;
    for (unsigned way = WIRE_PLAIN; way < WIRE_WAYS; way++) {
        struct wire wire;

        WIRE_LOGIN(&wire, &bed, (enum wire_way)way, "InitialR2T=Yes");
        (void)wire_command(&wire, inquiry, &pdu);
        wire_logout(&wire);
    }
}

/* The login's time limit is not what ends them. */
static void ended(void)
{
    static const char *const words[] = {"", "C", "MPA ID Req Fram", "GET / HTTP/1.0\r\n\r\n"};

    bed.between = NULL;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        struct wire wire;
        char octet;
        size_t got;

        wire_connect(&wire, &bed, WIRE_PLAIN);
        CHECK(raw_send_part(&wire.raw, words[i], strlen(words[i])));
        two_turns();
        raw_finish(&wire.raw);
        CHECK(raw_receive(&wire.raw, &octet, 1, &got) != RAW_TIMEOUT);
        wire_free(&wire);
    }
}

int main(void)
{
    for (int refused = 0; refused < 2; refused++) {
        no_low_water = refused == 1;
        check_context(refused ? "no low water marks" : "low water marks");
        wire_prepare(&bed);
        bed.config.login_timeout_ms = 3600000;
        wire_open(&bed);
        one_by_one();
        ended();
        wire_close(&bed);
    }
    return 0;
}
