/* SPDX-License-Identifier: BSD-2-Clause */
/* The numbers of messages wrap at 2^32: which are done, and whether there is room for more. */
#include "connection/sdp_object.h"
#include "support/check.h"

static struct sdp_connection connection;

/* The last message that is done has this number; so many more are under way. */
static void at(uint32_t done, uint32_t under_way)
{
    connection.tx_done = done;
    connection.tx_posted = connection.tx_signal = done + under_way;
    for (uint32_t i = 0; i < SDP_HEADS; i++)
        CHECK(sdp_post_is_done(&connection, done - i));
    for (uint32_t i = 1; i <= under_way; i++)
        CHECK(!sdp_post_is_done(&connection, done + i));
    CHECK_EQ(under_way < SDP_HEADS, sdp_post_room(&connection));
    /* The next one leaves half of the heads, or not. */
    CHECK_EQ(under_way + 1 >= SDP_HEADS / 2, sdp_post_completes(&connection, 0));
}

int main(void)
{
    connection.send_buffer = SDP_SEND_RING;
    for (uint32_t before = 0; before < 2 * SDP_HEADS; before++) {
        for (uint32_t under_way = 0; under_way <= SDP_HEADS; under_way++)
            at(SDP_HEADS - before, under_way);
    }
    return 0;
}
