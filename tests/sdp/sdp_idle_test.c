/* SPDX-License-Identifier: BSD-2-Clause */
/* What a connection that is not used keeps: the page of the peer's Hello is given back. */
#include "connection/sdp_object.h"
#include "sdp_kit.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

static struct sdp_connection *pair[2];

static bool has_page(struct sdp_connection *connection, size_t offset)
{
    unsigned char resident = 0;

    CHECK(pthread_mutex_lock(&connection->lock) == 0);
    CHECK(mincore(connection->memory + offset, 1, &resident) == 0);
    CHECK(pthread_mutex_unlock(&connection->lock) == 0);
    return (resident & 1) != 0;
}

static size_t page_of(const unsigned char *memory, const unsigned char *octet)
{
    return (size_t)(octet - memory) & ~((size_t)sysconf(_SC_PAGESIZE) - 1);
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
        CHECK(!has_page(pair[i], 0));
        CHECK(has_page(pair[i], page_of(pair[i]->memory, sdp_slot(pair[i], 1))));
    }
}

/* Messages still arrive in the first slot when its turn comes. */
static void goes_on(void)
{
    for (unsigned i = 0; i < 3 * SDP_BUFFERS; i++) {
        sdp_kit_send_stream(pair[0], i * 100, 100, 100);
        sdp_kit_check_stream(pair[1], i * 100, 100, 100);
    }
    CHECK(has_page(pair[1], 0));
    CHECK(sdp_close(pair[0], NULL) == 0 && sdp_close(pair[1], NULL) == 0);
}

int main(void)
{
    greeted();
    goes_on();
    return 0;
}
