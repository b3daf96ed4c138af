/* SPDX-License-Identifier: BSD-2-Clause */
/* The IB extension: immediate values and atomics, and calls outside the extension. */
#include "udapl_kit.h"

#include <dat2/dat_ib_extensions.h>
#include <string.h>

static struct kit_side active, passive;
static DAT_UINT64 word, result;
static DAT_LMR_HANDLE word_lmr, result_lmr;
static DAT_LMR_TRIPLET result_at;
static DAT_RMR_TRIPLET word_at;

static DAT_LMR_HANDLE register_word(const struct kit_side *side, DAT_UINT64 *place,
                                    DAT_LMR_CONTEXT *lmr_context, DAT_RMR_CONTEXT *rmr_context)
{
    DAT_REGION_DESCRIPTION region = {.for_va = place};
    DAT_MEM_PRIV_FLAGS rights = (DAT_MEM_PRIV_FLAGS)((unsigned)DAT_MEM_PRIV_ALL_FLAG |
                                                     (unsigned)DAT_IB_MEM_PRIV_REMOTE_ATOMIC);
    DAT_LMR_HANDLE lmr;

    CHECK_DAT(dat_lmr_create(side->ia, DAT_MEM_TYPE_VIRTUAL, region, sizeof(*place), side->pz,
                             rights, DAT_VA_TYPE_VA, &lmr, lmr_context, rmr_context, NULL, NULL));
    return lmr;
}

static void open_pair(void)
{
    DAT_LMR_CONTEXT unused_lmr;
    DAT_RMR_CONTEXT unused_rmr;

    kit_side_open_on(&active, "itapi-ib");
    kit_side_open_on(&passive, "itapi-ib");
    kit_join(&active, &passive);
    result_lmr = register_word(&active, &result, &result_at.lmr_context, &unused_rmr);
    word_lmr = register_word(&passive, &word, &unused_lmr, &word_at.rmr_context);
    result_at.virtual_address = (DAT_VADDR)(uintptr_t)&result;
    word_at.virtual_address = (DAT_VADDR)(uintptr_t)&word;
    result_at.segment_length = word_at.segment_length = sizeof(word);
}

static void close_pair(void)
{
    kit_part(&active, &passive);
    CHECK_DAT(dat_lmr_free(result_lmr));
    CHECK_DAT(dat_lmr_free(word_lmr));
    kit_side_close(&active);
    kit_side_close(&passive);
}

/* Takes the next completion, which must be one of the extension. Returns its data. */
static DAT_IB_EXTENSION_EVENT_DATA next(DAT_EVD_HANDLE evd, DAT_UINT64 cookie, DAT_IB_EXT_TYPE type,
                                        DAT_IB_DTOS operation, DAT_VLEN length)
{
    DAT_EVENT event = kit_next(evd, (DAT_EVENT_NUMBER)DAT_IB_DTO_EVENT);
    const DAT_DTO_COMPLETION_EVENT_DATA *done = &event.event_data.dto_completion_event_data;
    DAT_IB_EXTENSION_EVENT_DATA data;

    memcpy(&data, event.event_extension_data, sizeof(data));
    EXPECT_EQ(type, data.type);
    EXPECT_EQ((int)DAT_OP_SUCCESS, (int)data.status);
    EXPECT_EQ(DAT_DTO_SUCCESS, done->status);
    EXPECT_EQ(cookie, done->user_cookie.as_64);
    EXPECT_EQ((int)operation, (int)done->operation);
    EXPECT_EQ(length, done->transfered_length);
    return data;
}

static void write_with_immediate(DAT_UINT64 cookie, size_t length, DAT_UINT32 immediate)
{
    DAT_LMR_TRIPLET from = kit_local(&active, 0, length);
    DAT_LMR_TRIPLET into = kit_local(&passive, KIT_BUFFER / 2, 0);
    DAT_RMR_TRIPLET to = kit_remote(&passive, 0, length);

    memset(active.buffer, (int)immediate, length);
    CHECK_DAT(dat_ep_post_recv(passive.ep, 1, &into, kit_cookie(cookie + 1),
                               DAT_COMPLETION_DEFAULT_FLAG));
    CHECK_DAT(dat_ib_post_rdma_write_immed(active.ep, 1, &from, kit_cookie(cookie), &to, immediate,
                                           DAT_COMPLETION_DEFAULT_FLAG));
    (void)next(active.request, cookie, DAT_IB_RDMA_WRITE_IMMED, DAT_IB_DTO_RDMA_WRITE_IMMED,
               length);
    EXPECT_EQ(immediate, next(passive.recv, cookie + 1, DAT_IB_RDMA_WRITE_IMMED_DATA,
                              DAT_IB_DTO_RECV_IMMED, length)
                             .val.immed.data);
    EXPECT_EQ(0, memcmp(active.buffer, passive.buffer, length));
}

static void immediates(void)
{
    open_pair();
    for (unsigned i = 0; i < 100; i++) /* more than may be open at once */
        write_with_immediate(2 * i, 64 + i, 0xfedc0000 + i);
    close_pair();
}

/* Sends, Writes and receives without immediate values are unchanged. */
static void others_are_as_ever(void)
{
    DAT_LMR_TRIPLET from, into;
    DAT_RMR_TRIPLET to;

    open_pair();
    from = kit_local(&active, 0, 64);
    into = kit_local(&passive, KIT_BUFFER / 2, 64);
    to = kit_remote(&passive, 0, 64);
    CHECK_DAT(dat_ep_post_recv(passive.ep, 1, &into, kit_cookie(1), DAT_COMPLETION_DEFAULT_FLAG));
    CHECK_DAT(dat_ep_post_rdma_write(active.ep, 1, &from, kit_cookie(2), &to,
                                     DAT_COMPLETION_DEFAULT_FLAG));
    CHECK_DAT(dat_ep_post_send(active.ep, 1, &from, kit_cookie(3), DAT_COMPLETION_DEFAULT_FLAG));
    EXPECT_EQ(64, kit_done(active.request, kit_cookie(2)));
    EXPECT_EQ(64, kit_done(active.request, kit_cookie(3)));
    EXPECT_EQ(64, kit_done(passive.recv, kit_cookie(1)));
    close_pair();
}

static void atomics(void)
{
    open_pair();
    word = 0x54321;
    CHECK_DAT(dat_ib_post_cmp_and_swap(active.ep, 0x12345, 1, &result_at, kit_cookie(1), &word_at,
                                       DAT_COMPLETION_DEFAULT_FLAG));
    (void)next(active.request, 1, DAT_IB_CMP_AND_SWAP, DAT_IB_DTO_CMP_SWAP, 8);
    EXPECT_EQ(0x54321, result);
    EXPECT_EQ(0x54321, word);
    CHECK_DAT(dat_ib_post_cmp_and_swap(active.ep, 0x54321, 0x98765, &result_at, kit_cookie(2),
                                       &word_at, DAT_COMPLETION_DEFAULT_FLAG));
    (void)next(active.request, 2, DAT_IB_CMP_AND_SWAP, DAT_IB_DTO_CMP_SWAP, 8);
    EXPECT_EQ(0x54321, result);
    EXPECT_EQ(0x98765, word);
    CHECK_DAT(dat_ib_post_fetch_and_add(active.ep, 0x10, &result_at, kit_cookie(3), &word_at,
                                        DAT_COMPLETION_DEFAULT_FLAG));
    (void)next(active.request, 3, DAT_IB_FETCH_AND_ADD, DAT_IB_DTO_FETCH_ADD, 8);
    EXPECT_EQ(0x98765, result);
    EXPECT_EQ(0x98775, word);
    close_pair();
}

static void refused(void)
{
    DAT_LMR_TRIPLET seven = {.segment_length = 7};

    open_pair();
    seven = result_at;
    seven.segment_length = 7;
    EXPECT_TYPE(DAT_LENGTH_ERROR, dat_ib_post_fetch_and_add(active.ep, 1, &seven, kit_cookie(1),
                                                            &word_at, DAT_COMPLETION_DEFAULT_FLAG));
    EXPECT_TYPE(DAT_INVALID_PARAMETER,
                dat_ib_post_fetch_and_add(active.ep, 1, &result_at, kit_cookie(1), NULL,
                                          DAT_COMPLETION_DEFAULT_FLAG));
    EXPECT_TYPE(DAT_INVALID_PARAMETER,
                dat_ib_post_fetch_and_add(active.ep, 1, &result_at, kit_cookie(1), &word_at, 0x80));
    EXPECT_TYPE(DAT_INVALID_HANDLE,
                dat_ib_post_fetch_and_add(active.pz, 1, &result_at, kit_cookie(1), &word_at,
                                          DAT_COMPLETION_DEFAULT_FLAG));
    EXPECT_TYPE(DAT_LENGTH_ERROR, dat_ib_post_rdma_write_immed(active.ep, 1, &result_at,
                                                               kit_cookie(1), &(DAT_RMR_TRIPLET){0},
                                                               1, DAT_COMPLETION_DEFAULT_FLAG));
    EXPECT_TYPE(DAT_NOT_IMPLEMENTED, dat_extension_op(active.ep, DAT_IB_UD_SEND_OP));
    kit_is_empty(active.request);
    close_pair();
}

int main(void)
{
    immediates();
    others_are_as_ever();
    atomics();
    refused();
    check_done();
    return 0;
}
