/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Feeds a startup frame to both roles. The first four octets are the configuration. The verdict may
 * not depend on the cuts. A responder's answer must be a frame that an initiator accepts.
 */
#include "tdi/iwarp/iw_mpa.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    SETTINGS = 4
};

static void require(bool condition)
{
    if (!condition)
        abort();
}

static size_t feed(struct iw_mpa *mpa, const uint8_t *data, size_t length, size_t piece)
{
    size_t taken = 0;

    while (taken < length && iw_mpa_wanted(mpa) > 0) {
        size_t part = iw_mpa_wanted(mpa);

        require(mpa->length + part <= IW_MPA_FRAME_MAX);
        if (part > piece)
            part = piece;
        if (part > length - taken)
            part = length - taken;
        iw_mpa_feed(mpa, data + taken, part);
        taken += part;
    }
    require((iw_mpa_wanted(mpa) > 0) == (mpa->verdict == IW_MPA_MORE));
    return taken;
}

static void check_reply(struct iw_mpa *responder)
{
    /* The frame has exactly its maximum length, on the heap. */
    uint8_t *frame = malloc(IW_MPA_FRAME_MAX);
    uint8_t private_data[IW_MPA_PRIVATE_MAX] = {0};
    const struct iw_mpa_config config = {.revision = responder->peer_revision,
                                         .peer_to_peer =
                                             responder->peer_enhanced && responder->peer_word >> 31,
                                         .rtr = 7,
                                         .ird = IW_MPA_DEPTH_MAX,
                                         .ord = IW_MPA_DEPTH_MAX};
    struct iw_mpa initiator;
    size_t most = IW_MPA_PRIVATE_MAX - (responder->peer_enhanced ? 4u : 0u); /* its word */
    size_t length;

    require(frame);
    length = iw_mpa_encode_reject(responder, private_data, most, frame);
    iw_mpa_init(&initiator, true, &config);
    require(feed(&initiator, frame, length, 1) == length);
    require(initiator.verdict == IW_MPA_REJECTED && initiator.private_length == most);
    length = iw_mpa_encode_reply(responder, private_data, most, frame);
    iw_mpa_init(&initiator, true, &config);
    require(feed(&initiator, frame, length, SIZE_MAX) == length);
    require(initiator.verdict == IW_MPA_DONE || initiator.verdict == IW_MPA_TERMINATE);
    require(initiator.result.enhanced == responder->result.enhanced);
    require(initiator.result.peer_to_peer == responder->result.peer_to_peer);
    free(frame);
}

static void run(bool initiator, const struct iw_mpa_config *config, const uint8_t *data,
                size_t size)
{
    struct iw_mpa whole;
    struct iw_mpa octets;
    size_t taken;

    iw_mpa_init(&whole, initiator, config);
    iw_mpa_init(&octets, initiator, config);
    taken = feed(&whole, data, size, SIZE_MAX);
    require(feed(&octets, data, size, 1) <= taken);
    require(octets.verdict == whole.verdict && octets.error == whole.error);
    require(octets.private_length == whole.private_length);
    require(memcmp(&octets.result, &whole.result, sizeof(whole.result)) == 0);
    if (whole.verdict == IW_MPA_DONE && !initiator)
        check_reply(&whole);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct iw_mpa_config config;

    if (size < SETTINGS)
        return 0;
    config = (struct iw_mpa_config){
        .revision = 1 + (data[0] & 1),
        .crc = data[0] & 2,
        .peer_to_peer = data[0] & 4,
        .suppress_depths = data[0] & 8,
        .rtr = data[1] & 7,
        .ird = data[2],
        .ord = data[3],
    };
    run(false, &config, data + SETTINGS, size - SETTINGS);
    run(true, &config, data + SETTINGS, size - SETTINGS);
    return 0;
}
