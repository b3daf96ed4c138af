/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a connection that is not used keeps: one page for what it has sent, one for what it has got.
 * The page of the peer's Hello is given back.
 */
#include "connection/sdp_object.h"
#include "sdp_kit.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

static struct sdp_connection *pair[2];

/* Returns how many pages are there from a page on, of so many octets. */
static unsigned pages(struct sdp_connection *connection, unsigned char *first, size_t octets)
{
    static unsigned char resident[1 << 16];
    size_t count = (octets + (size_t)sysconf(_SC_PAGESIZE) - 1) / (size_t)sysconf(_SC_PAGESIZE);
    unsigned there = 0;

    CHECK(count <= sizeof(resident));
    CHECK(pthread_mutex_lock(&connection->lock) == 0);
    CHECK(mincore(first, octets, resident) == 0);
    CHECK(pthread_mutex_unlock(&connection->lock) == 0);
    for (size_t i = 0; i < count; i++)
        there += resident[i] & 1u;
    return there;
}

/* Both have heard the Hello before the first octet, which arrives in the second slot. */
static void greeted(void)
{
    sdp_kit_pair(pair, NULL);
    for (unsigned i = 0; i < 2; i++) {
        sdp_watch(pair[i], SDP_WATCH_NOTHING);
        sdp_kit_send_stream(pair[i], 0, 1, 1);
    }
    for (unsigned i = 0; i < 2; i++)
        sdp_kit_check_stream(pair[i], 0, 1, 1);
    for (unsigned i = 0; i < 2; i++) {
        CHECK_EQ(0, pages(pair[i], sdp_slot(pair[i], 0), 1));
        CHECK_EQ(2, pages(pair[i], pair[i]->memory, pair[i]->memory_size));
    }
}

/* Messages still arrive in the first slot when its turn comes. */
static void goes_on(void)
{
    for (unsigned i = 0; i < 3 * SDP_BUFFERS; i++) {
        sdp_kit_send_stream(pair[0], i * 100, 100, 100);
        sdp_kit_check_stream(pair[1], i * 100, 100, 100);
    }
    CHECK_EQ(1, pages(pair[1], sdp_slot(pair[1], 0), 1));
    CHECK(sdp_close(pair[0], NULL) == 0 && sdp_close(pair[1], NULL) == 0);
}

int main(void)
{
    greeted();
    goes_on();
    return 0;
}
