/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A peer and a device that do anything. The first octet chooses the role. Then come steps: an octet
 * that says what happens and, for octets of the stream, their number and the octets. The result may
 * not depend on the cuts, no octet behind a frame may be taken, and there is one end.
 */
#include "tdi/agree/agree.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    STREAM_MAX = 4096,
    OUTPUT_MAX = 2048
};

struct run {
    struct agree agree;
    uint8_t in[STREAM_MAX];
    size_t in_length;
    uint8_t out[OUTPUT_MAX];
    size_t out_length;
    size_t piece;
    bool finished;
    bool blocked; /* its frames do not leave */
};

static const struct agree_terms own = {
    .kind = AGREE_IWARP, .family = 4, .address = {10, 77, 1, 1}, .token = "0123456789abcdef"};
static const uint8_t peer_address[AGREE_ADDRESS] = {10, 77, 1, 2};

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void settle(struct run *run)
{
    size_t length;
    const uint8_t *octets = agree_output(&run->agree, &length);
    enum agree_order order;

    require(length <= AGREE_FRAME_MAX);
    if (length > 0 && !run->blocked && run->agree.state != AGREE_OVER) {
        require(run->out_length + length <= OUTPUT_MAX);
        memcpy(run->out + run->out_length, octets, length);
        run->out_length += length;
        agree_sent(&run->agree, length);
    }
    while ((order = agree_next_order(&run->agree)) != AGREE_DO_NOTHING) {
        require(!run->finished);
        run->finished = order == AGREE_DO_FINISH;
    }
    require(run->finished == (run->agree.outcome != AGREE_PENDING));
    require(run->finished == (run->agree.state == AGREE_OVER));
}

/* Feeds more and more of the octets, from the heap. */
static void show(struct run *run, const uint8_t *octets, size_t length)
{
    size_t taken = 0;
    size_t shown = 0;

    while (shown < length && agree_wanted(&run->agree) > 0) {
        size_t wanted = agree_wanted(&run->agree);
        uint8_t *copy;
        size_t frame;

        shown = run->piece > length - shown ? length : shown + run->piece;
        if (shown - taken < wanted)
            continue;
        copy = malloc(shown - taken);
        require(copy != NULL);
        memcpy(copy, octets + taken, shown - taken);
        frame = agree_feed(&run->agree, copy, shown - taken);
        free(copy);
        require(frame <= shown - taken);
        settle(run);
        taken += frame;
        shown = frame > 0 ? taken : shown;
    }
    memmove(run->in, octets + taken, length - taken);
    run->in_length = length - taken;
}

static size_t arrive(struct run *run, const uint8_t *data, size_t size)
{
    size_t count = size > 0 ? data[0] : 0;
    uint8_t stream[STREAM_MAX];
    size_t length = run->in_length;

    if (size == 0)
        return 0;
    if (count > size - 1)
        count = size - 1;
    if (count > STREAM_MAX - length)
        count = STREAM_MAX - length;
    memcpy(stream, run->in, length);
    memcpy(stream + length, data + 1, count);
    show(run, stream, length + count);
    return 1 + count;
}

/* Writes the right key as far as the input allows. */
static size_t key(const uint8_t *data, size_t size, uint8_t octets[AGREE_KEY_FRAME])
{
    (void)agree_frame_encode_key(own.token, octets);
    if (size == 0)
        return 0;
    if (data[0] < AGREE_KEY_FRAME)
        octets[data[0]] ^= 1;
    return 1;
}

static size_t step(struct run *run, uint8_t what, const uint8_t *data, size_t size)
{
    uint8_t octets[AGREE_KEY_FRAME];
    size_t used = 0;

    switch (what % 10) {
    case 0:
    case 1:
        return arrive(run, data, size);
    case 2:
        agree_listening(&run->agree, 4711);
        break;
    case 3:
        used = key(data, size, octets);
        (void)agree_requested(&run->agree, octets, sizeof(octets));
        break;
    case 4:
        used = key(data, size, octets);
        agree_connected(&run->agree, octets, sizeof(octets));
        break;
    case 5:
        agree_unconnected(&run->agree);
        break;
    case 6:
        agree_give_up(&run->agree, AGREE_NO_RESOURCES);
        break;
    case 7:
        if (run->agree.state != AGREE_OVER)
            agree_expired(&run->agree);
        break;
    case 8:
        agree_stream_ended(&run->agree);
        break;
    default:
        run->blocked = !run->blocked;
        break;
    }
    settle(run);
    return used;
}

static void play(struct run *run, size_t piece, const uint8_t *data, size_t size)
{
    memset(run, 0, sizeof(*run));
    run->piece = piece;
    agree_init(&run->agree, data[0] & 1, &own, 4, peer_address);
    run->blocked = data[0] & 2;
    settle(run);
    for (size_t i = 1; i < size;) {
        uint8_t what = data[i++];

        i += step(run, what, data + i, size - i);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct run whole;
    static struct run octets;

    if (size == 0)
        return 0;
    play(&whole, SIZE_MAX, data, size);
    play(&octets, 1, data, size);
    require(whole.agree.state == octets.agree.state);
    require(whole.agree.outcome == octets.agree.outcome);
    require(whole.agree.reason == octets.agree.reason);
    require(whole.in_length == octets.in_length);
    require(whole.out_length == octets.out_length);
    require(memcmp(whole.out, octets.out, whole.out_length) == 0);
    return 0;
}
