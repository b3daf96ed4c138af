/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs the library's own functions of two handshakes in each order and with each reordering that
 * their memory orders allow. Then weakens these memory orders to relaxed, one at a time; each time
 * the exploration must find an error.
 */
#include "models/model.h"
#include "models/model_run.h"

#include "vp/uiwarp/memory/uiw_mr.c" /* its functions, compiled with the model */
#include "vp/uiwarp/queue/uiw_token.h"

/* ---- The send token: posts are sent, by their own thread or by the holder ---- */

#define POSTERS 2u

static struct uiw_ep ep;
static _Atomic bool ready[POSTERS];
static uint64_t data[POSTERS]; /* of the post */
static uint64_t sent[POSTERS]; /* holder of the token */

static void token_begin(void)
{
    atomic_init(&ep.tx.token, UIW_TOKEN_FREE);
    for (unsigned i = 0; i < POSTERS; i++) {
        atomic_init(&ready[i], false);
        data[i] = sent[i] = 0;
    }
}

/* Does the same as drive_run() and uiw_sender_run() of the library. */
static void token_run(unsigned thread)
{
    (void)model_use(&data[thread], thread + 1);
    model_store(&ready[thread], sizeof(bool), true, memory_order_release, 0);
    if (!uiw_token_try_or_mark(&ep))
        return;
    do {
        for (unsigned i = 0; i < POSTERS; i++) {
            if (model_read(&sent[i]) == 0 &&
                model_load(&ready[i], sizeof(bool), memory_order_acquire, 0) != 0)
                (void)model_use(&sent[i], model_read(&data[i]));
        }
    } while (!uiw_token_drop_unless_marked(&ep));
}

static void token_end(void)
{
    MODEL_REQUIRE(*(volatile int *)(void *)&ep.tx.token == UIW_TOKEN_FREE);
    MODEL_REQUIRE(sent[0] == 1 && sent[1] == 2);
}

/* ---- Pins: memory is given back when nobody moves octets in it ---- */

enum {
    FIRST_STAG = 0x100,
    SECOND_STAG = 0x200
};

static struct uiw_mr mr;
static uint32_t pinned;
static uint64_t memory; /* the STag of the region that it belongs to */

static void pins_begin(uint32_t stag)
{
    memset(&mr, 0, sizeof(mr));
    atomic_init(&mr.stag, FIRST_STAG);
    memory = FIRST_STAG;
    pinned = stag;
}

static void pins_begin_first(void)
{
    pins_begin(FIRST_STAG);
}

static void pins_begin_second(void)
{
    pins_begin(SECOND_STAG);
}

static void pins_run(unsigned thread)
{
    static const struct uiw_region region;

    if (thread == 0) {
        (void)uiw_mr_shut(&mr);
        (void)model_use(&memory, SECOND_STAG);
        uiw_mr_open(&mr, &region, SECOND_STAG);
    } else if (uiw_mr_pin_entry(&mr, pinned)) {
        MODEL_REQUIRE(model_read(&memory) == pinned);
        uiw_mr_unpin(&mr);
    }
}

static void pins_end(void)
{
    MODEL_REQUIRE(*(volatile uint32_t *)(void *)&mr.pins == 0);
}

/* ---- All ---- */

static const struct model models[] = {
    {"send token", POSTERS, token_begin, token_run, token_end},
    {"pins, region that closes", 2, pins_begin_first, pins_run, pins_end},
    {"pins, region that opens", 2, pins_begin_second, pins_run, pins_end},
};

int main(void)
{
    /* The two stores and two loads of the pins have to be sequentially consistent. */
    return model_run(models, sizeof(models) / sizeof(models[0]), 4, 0);
}
