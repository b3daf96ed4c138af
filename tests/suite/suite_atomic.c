/* SPDX-License-Identifier: BSD-2-Clause */
/* Atomic operations of the near side on the far side's memory. */
#include "suite/suite.h"

#define WORDS 16

static it_ep_handle_t atomic_ep(struct suite_side *side, bool enable)
{
    it_ep_attributes_t attr = suite_attr();
    it_ep_handle_t ep;

    attr.srv.rc.atomics_enable = enable ? IT_TRUE : IT_FALSE;
    ep = fx_ep(&side->node, &attr);
    suite_join(side, ep);
    return ep;
}

static struct fx_buf words_make(struct suite_side *side)
{
    return fx_buf_make_as(side->node.pz, WORDS * 8, IT_PRIV_ALL, IT_ADDR_MODE_ABSOLUTE);
}

static uint64_t *word(const struct fx_buf *buf, size_t index)
{
    return (uint64_t *)(void *)buf->data + index;
}

struct atomics {
    struct suite_side *side;
    it_ep_handle_t ep;
    struct fx_buf results;
    struct suite_region words;
};

/* Returns the earlier value. */
static uint64_t add(struct atomics *atomics, size_t index, uint64_t value)
{
    it_lmr_triplet_t segment = fx_seg(&atomics->results, 8, 8);

    CHECK_OK(it_post_atomic(atomics->ep, IT_FETCH_AND_ADD, value, 0, &segment, 1, FX_SIGNAL,
                            atomics->words.address + index * 8, atomics->words.key));
    fx_done_len(atomics->side->node.request_evd, atomics->ep, IT_DTO_FETCH_ADD_CMPL_EVENT, 1, 8);
    return *word(&atomics->results, 1);
}

static uint64_t swap_if(struct atomics *atomics, size_t index, uint64_t compare, uint64_t value)
{
    it_lmr_triplet_t segment = fx_seg(&atomics->results, 8, 8);

    CHECK_OK(it_post_atomic(atomics->ep, IT_COMPARE_AND_SWAP, value, compare, &segment, 2,
                            FX_SIGNAL, atomics->words.address + index * 8, atomics->words.key));
    fx_done_len(atomics->side->node.request_evd, atomics->ep, IT_DTO_CMP_SWAP_CMPL_EVENT, 2, 8);
    return *word(&atomics->results, 1);
}

#define BIG UINT64_C(0x1122334455667788)

static void values_near(struct suite_side *side)
{
    struct atomics atomics = {.side = side, .ep = atomic_ep(side, true)};

    atomics.results = fx_buf_make(&side->node, 64);
    atomics.words = suite_hear_region(side);
    CHECK_EQ(BIG, add(&atomics, 3, 1));
    CHECK_EQ(BIG + 1, add(&atomics, 3, UINT64_MAX)); /* wraps */
    CHECK_EQ(BIG, add(&atomics, 3, 0));
    CHECK_EQ(UINT64_MAX, add(&atomics, 4, 2));
    CHECK_EQ(1, swap_if(&atomics, 4, 1, BIG));
    CHECK_EQ(BIG, swap_if(&atomics, 4, 1, 5)); /* not equal: no change */
    CHECK_EQ(BIG, swap_if(&atomics, 4, BIG, 6));
    CHECK_EQ(0, *word(&atomics.results, 0));
    CHECK_EQ(0, *word(&atomics.results, 2));
    suite_part(side, atomics.ep);
}

static void values_far(struct suite_side *side)
{
    struct fx_buf words = words_make(side);
    it_ep_handle_t ep = atomic_ep(side, true);

    *word(&words, 3) = BIG;
    *word(&words, 4) = UINT64_MAX;
    suite_tell_region(side, &words);
    suite_part(side, ep);
    CHECK(fx_is_byte(words.data, 24, 0));
    CHECK_EQ(BIG, *word(&words, 3));
    CHECK_EQ(6, *word(&words, 4));
    CHECK(fx_is_byte(words.data + 40, words.size - 40, 0));
}

static void swap_near(struct suite_side *side)
{
    struct atomics atomics = {.side = side, .ep = atomic_ep(side, true)};
    it_lmr_triplet_t segment;

    atomics.results = fx_buf_make(&side->node, 64);
    atomics.words = suite_hear_region(side);
    segment = fx_seg(&atomics.results, 0, 8);
    CHECK_OK(itx_post_atomic_swap(atomics.ep, BIG, &segment, 4, FX_SIGNAL, atomics.words.address,
                                  atomics.words.key));
    fx_done_len(side->node.request_evd, atomics.ep, IT_DTO_CMP_SWAP_CMPL_EVENT, 4, 8);
    CHECK_EQ(77, *word(&atomics.results, 0));
    suite_part(side, atomics.ep);
}

static void swap_far(struct suite_side *side)
{
    struct fx_buf words = words_make(side);
    it_ep_handle_t ep = atomic_ep(side, true);

    *word(&words, 0) = 77;
    suite_tell_region(side, &words);
    suite_part(side, ep);
    CHECK_EQ(BIG, *word(&words, 0));
}

/* ---- Against each other ---------------------------------------------------------------------- */

#define CONNECTIONS 3
#define ADDITIONS   40

/*
 * Several connections add to one word, with many atomics open at once. Each sum is returned once.
 */
static void together(struct suite_side *side)
{
    struct fx_buf words = words_make(side);
    it_ep_handle_t ep[CONNECTIONS];

    for (size_t i = 0; i < CONNECTIONS; i++)
        ep[i] = atomic_ep(side, true);
    if (side->near) {
        struct fx_buf results =
            fx_buf_make(&side->node, sizeof(uint64_t) * CONNECTIONS * ADDITIONS);
        struct suite_region region = suite_hear_region(side);
        bool seen[CONNECTIONS * ADDITIONS] = {false};

        for (size_t n = 0; n < (size_t)CONNECTIONS * ADDITIONS; n++) {
            it_lmr_triplet_t segment = fx_seg(&results, n * 8, 8);

            CHECK_OK(it_post_atomic(ep[n % CONNECTIONS], IT_FETCH_AND_ADD, 1, 0, &segment, n,
                                    FX_SIGNAL, region.address, region.key));
        }
        for (size_t n = 0; n < (size_t)CONNECTIONS * ADDITIONS; n++)
            CHECK_EQ(IT_DTO_SUCCESS, fx_next(side->node.request_evd).dto_cmpl.dto_status);
        for (size_t n = 0; n < (size_t)CONNECTIONS * ADDITIONS; n++) {
            uint64_t was = *word(&results, n);

            CHECK(was < (uint64_t)CONNECTIONS * ADDITIONS && !seen[was]);
            seen[was] = true;
        }
    } else {
        suite_tell_region(side, &words);
    }
    for (size_t i = 0; i < CONNECTIONS; i++)
        suite_part(side, ep[i]);
    if (!side->near)
        CHECK_EQ((uint64_t)CONNECTIONS * ADDITIONS, *word(&words, 0));
}

/* ---- Not allowed ----------------------------------------------------------------------------- */

/* First the memory refuses the atomic, then the endpoint. */
static void refused(struct suite_side *side)
{
    for (int round = 0; round < 2; round++) {
        struct fx_buf words = round == 0 ? fx_buf_make(&side->node, WORDS * 8) : words_make(side);
        it_ep_handle_t ep = atomic_ep(side, round == 0);

        if (side->near) {
            struct suite_region region = suite_hear_region(side);
            it_lmr_triplet_t segment = fx_seg(&words, 0, 8);
            it_event_t event;

            CHECK_OK(it_post_atomic(ep, IT_FETCH_AND_ADD, 1, 0, &segment, 1, FX_SIGNAL,
                                    region.address, region.key));
            event = fx_next(side->node.request_evd);
            suite_failed(&event, 1, IT_DTO_ERR_REMOTE_ACCESS);
        } else {
            suite_tell_region(side, &words);
        }
        suite_ended(side, ep);
        CHECK(fx_is_byte(words.data, words.size, 0));
        suite_meet(side, "refused");
        CHECK_OK(it_ep_free(ep));
    }
}

const struct suite_case suite_atomic_cases[] = {
    {.name = "atomic_values", .near = values_near, .far = values_far, .needs = SUITE_ATOMICS},
    {.name = "atomic_swap",
     .near = swap_near,
     .far = swap_far,
     .needs = SUITE_ATOMICS | SUITE_SWAP},
    {.name = "atomic_together", .near = together, .far = together, .needs = SUITE_ATOMICS},
    {.name = "atomic_refused", .near = refused, .far = refused, .needs = SUITE_ATOMICS},
    {0},
};
