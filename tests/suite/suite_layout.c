/* SPDX-License-Identifier: BSD-2-Clause */
#include "suite/suite_layout.h"

#include <string.h>

#define GUARD      0xa5
#define GUARD_SIZE 24

struct layout layout_make(void)
{
    static const size_t lengths[LAYOUT_PIECES] = {
        1,    2,    3,    4,    5,    7,    8,    63,   64,    65,    127,   512,   1000,
        1023, 1024, 1025, 1400, 1461, 4095, 4096, 4097, 10000, 32768, 65535, 65537, 200003};
    struct layout layout;

    layout.size = GUARD_SIZE;
    for (size_t i = 0; i < LAYOUT_PIECES; i++) {
        layout.piece[i].offset = layout.size + i % 8;
        layout.piece[i].length = lengths[i];
        layout.size = layout.piece[i].offset + lengths[i] + GUARD_SIZE;
    }
    return layout;
}

struct fx_buf layout_buf(struct suite_side *side, const struct layout *layout)
{
    /*
     * No small piece crosses a page: of up to 32 octets that siw sends by its own thread, such as a
     * Read's answer, it copies the wrong ones behind the boundary (siw_try_1seg).
     */
    struct fx_buf buf = fx_buf_make_paged(&side->node, layout->size);

    memset(buf.data, GUARD, buf.size);
    return buf;
}

void layout_fill(const struct layout *layout, struct fx_buf *buf, uint32_t seed)
{
    memset(buf->data, GUARD, buf->size);
    for (size_t i = 0; i < LAYOUT_PIECES; i++)
        fx_fill(buf->data + layout->piece[i].offset, layout->piece[i].length, seed + (uint32_t)i);
}

void layout_check(const struct layout *layout, const struct fx_buf *buf, uint32_t seed)
{
    size_t guard = 0;

    for (size_t i = 0; i < LAYOUT_PIECES; i++) {
        const struct layout_piece *piece = &layout->piece[i];

        if (!fx_is_byte(buf->data + guard, piece->offset - guard, GUARD))
            CHECK_FAIL("octets in front of piece %zu are not what they were", i);
        if (!fx_is_filled(buf->data + piece->offset, piece->length, seed + (uint32_t)i))
            CHECK_FAIL("piece %zu of %zu octets has wrong octets", i, piece->length);
        guard = piece->offset + piece->length;
    }
    CHECK(fx_is_byte(buf->data + guard, buf->size - guard, GUARD));
}
