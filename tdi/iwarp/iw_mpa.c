/* SPDX-License-Identifier: BSD-2-Clause */
#include "tdi/iwarp/iw_mpa.h"

#include "tdi/iwarp/iw_octets.h"

#include <string.h>

#define KEY 16

/* Frame flags (RFC 5044 7.1.1, RFC 6581 4). Other bits are sent as 0, and ignored. */
#define FLAG_MARKERS  0x80u
#define FLAG_CRC      0x40u
#define FLAG_REJECT   0x20u
#define FLAG_ENHANCED 0x10u

/* Enhanced word (RFC 6581 9.1). */
#define WORD              4
#define WORD_PEER_TO_PEER UINT32_C(0x80000000)
#define WORD_SEND         UINT32_C(0x40000000)
#define WORD_WRITE        UINT32_C(0x00008000)
#define WORD_READ         UINT32_C(0x00004000)
#define WORD_IRD_SHIFT    16
#define WORD_DEPTH        UINT32_C(0x3fff)

/* Offsets in the frame. */
enum {
    FLAGS = 16,
    REVISION = 17,
    PD_LENGTH = 18,
    PRIVATE_DATA = 20
};

_Static_assert(PRIVATE_DATA == IW_MPA_FRAME, "MPA frame");

static const char iw_mpa_request_key[] = "MPA ID Req Frame";
static const char iw_mpa_reply_key[] = "MPA ID Rep Frame";

_Static_assert(sizeof(iw_mpa_request_key) == KEY + 1, "Request key");
_Static_assert(sizeof(iw_mpa_reply_key) == KEY + 1, "Reply key");

void iw_mpa_init(struct iw_mpa *mpa, bool initiator, const struct iw_mpa_config *config)
{
    memset(mpa, 0, sizeof(*mpa));
    mpa->initiator = initiator;
    mpa->config = *config;
    mpa->verdict = IW_MPA_MORE;
}

/* ---- Enhanced word --------------------------------------------------------- */

static uint32_t iw_mpa_word(bool peer_to_peer, unsigned rtr, uint32_t ird, uint32_t ord)
{
    uint32_t word = ird << WORD_IRD_SHIFT | ord;

    if (!peer_to_peer) /* without it the RTR bits must be 0 (RFC 6581 9.1) */
        return word;
    return word | WORD_PEER_TO_PEER | (rtr & IW_RTR_SEND ? WORD_SEND : 0) |
           (rtr & IW_RTR_WRITE ? WORD_WRITE : 0) | (rtr & IW_RTR_READ ? WORD_READ : 0);
}

static unsigned iw_mpa_word_rtr(uint32_t word)
{
    return (word & WORD_SEND ? (unsigned)IW_RTR_SEND : 0u) |
           (word & WORD_WRITE ? (unsigned)IW_RTR_WRITE : 0u) |
           (word & WORD_READ ? (unsigned)IW_RTR_READ : 0u);
}

static uint32_t iw_mpa_word_ird(uint32_t word)
{
    return word >> WORD_IRD_SHIFT & WORD_DEPTH;
}

static uint32_t iw_mpa_word_ord(uint32_t word)
{
    return word & WORD_DEPTH;
}

static uint32_t iw_mpa_depth(uint32_t depth)
{
    return depth < IW_MPA_DEPTH_MAX ? depth : IW_MPA_DEPTH_MAX;
}

/* ---- Encoding -------------------------------------------------------------- */

/* The frame holds word when flags has FLAG_ENHANCED. */
static size_t iw_mpa_encode(const struct iw_mpa *mpa, unsigned flags, unsigned revision,
                            uint32_t word, const void *private_data, size_t private_length,
                            uint8_t *dst)
{
    size_t length = PRIVATE_DATA;

    memcpy(dst, mpa->initiator ? iw_mpa_request_key : iw_mpa_reply_key, KEY);
    dst[FLAGS] = (uint8_t)flags;
    dst[REVISION] = (uint8_t)revision;
    if (flags & FLAG_ENHANCED) {
        iw_store32(dst + length, word);
        length += WORD;
    }
    if (private_length > IW_MPA_FRAME_MAX - length)
        private_length = IW_MPA_FRAME_MAX - length;
    if (private_length > 0)
        memcpy(dst + length, private_data, private_length);
    length += private_length;
    iw_store16(dst + PD_LENGTH, (uint16_t)(length - PRIVATE_DATA));
    return length;
}

size_t iw_mpa_encode_request(const struct iw_mpa *mpa, const void *private_data,
                             size_t private_length, uint8_t *dst)
{
    const struct iw_mpa_config *config = &mpa->config;
    unsigned flags = config->crc ? FLAG_CRC : 0;
    unsigned rtr = config->rtr;
    uint32_t ird = config->suppress_depths ? IW_MPA_DEPTH_NONE : iw_mpa_depth(config->ird);
    uint32_t ord = config->suppress_depths ? IW_MPA_DEPTH_NONE : iw_mpa_depth(config->ord);

    if (config->revision < 2)
        return iw_mpa_encode(mpa, flags, 1, 0, private_data, private_length, dst);
    if (config->ord == 0) /* this side could not send that kind */
        rtr &= ~(unsigned)IW_RTR_READ;
    return iw_mpa_encode(mpa, flags | FLAG_ENHANCED, 2,
                         iw_mpa_word(config->peer_to_peer, rtr, ird, ord), private_data,
                         private_length, dst);
}

/*
 * Returns the kind of RTR that a responder asks for. It prefers a Read, which hardware initiators
 * expect. With an IRD of 0 a Read comes last: the responder must raise its IRD to 1 for it (RFC
 * 6581 9.2).
 */
static unsigned iw_mpa_responder_rtr(unsigned common, uint32_t ird)
{
    if ((common & IW_RTR_READ) && ird > 0)
        return IW_RTR_READ;
    if (common & IW_RTR_WRITE)
        return IW_RTR_WRITE;
    if (common & IW_RTR_SEND)
        return IW_RTR_SEND;
    return common & IW_RTR_READ;
}

/* Returns a depth for the Reply: 3fff answers 3fff, and leaves the local value. */
static void iw_mpa_responder_depths(struct iw_mpa *mpa)
{
    struct iw_mpa_result *result = &mpa->result;

    result->ird = iw_mpa_depth(mpa->config.ird);
    result->ord = iw_mpa_depth(mpa->config.ord);
    if (!result->enhanced)
        return;
    if (result->rtr == IW_RTR_READ && result->ird == 0)
        result->ird = 1;
    if (!mpa->config.suppress_depths && result->peer_ird != IW_MPA_DEPTH_NONE &&
        result->ord > result->peer_ird)
        result->ord = result->peer_ird;
}

/* Fills in all that follows from both frames, without depths and RTR. */
static void iw_mpa_start_result(struct iw_mpa *mpa)
{
    struct iw_mpa_result *result = &mpa->result;

    memset(result, 0, sizeof(*result));
    result->revision = mpa->peer_revision;
    result->enhanced = mpa->peer_enhanced;
    result->crc = mpa->config.crc || (mpa->peer_flags & FLAG_CRC) != 0;
    result->send_markers = (mpa->peer_flags & FLAG_MARKERS) != 0;
    if (!result->enhanced)
        return;
    result->peer_to_peer = (mpa->peer_word & WORD_PEER_TO_PEER) != 0;
    result->peer_ird = iw_mpa_word_ird(mpa->peer_word);
    result->peer_ord = iw_mpa_word_ord(mpa->peer_word);
}

static unsigned iw_mpa_reply_flags(const struct iw_mpa *mpa)
{
    bool crc = mpa->config.crc || (mpa->peer_flags & FLAG_CRC) != 0;

    return (crc ? FLAG_CRC : 0) | (mpa->peer_enhanced ? FLAG_ENHANCED : 0);
}

/* Returns the enhanced word of a Reply with these depths and the RTR bits. */
static uint32_t iw_mpa_reply_word(const struct iw_mpa *mpa, unsigned rtr, uint32_t ird,
                                  uint32_t ord)
{
    bool suppress = mpa->config.suppress_depths;

    if (suppress || iw_mpa_word_ord(mpa->peer_word) == IW_MPA_DEPTH_NONE)
        ird = IW_MPA_DEPTH_NONE;
    if (suppress || iw_mpa_word_ird(mpa->peer_word) == IW_MPA_DEPTH_NONE)
        ord = IW_MPA_DEPTH_NONE;
    return iw_mpa_word((mpa->peer_word & WORD_PEER_TO_PEER) != 0, rtr, ird, ord);
}

size_t iw_mpa_encode_reply(struct iw_mpa *mpa, const void *private_data, size_t private_length,
                           uint8_t *dst)
{
    struct iw_mpa_result *result = &mpa->result;
    unsigned rtr = mpa->config.rtr;

    iw_mpa_start_result(mpa);
    if (result->peer_to_peer)
        result->rtr = iw_mpa_responder_rtr(iw_mpa_word_rtr(mpa->peer_word) & rtr, mpa->config.ird);
    if (result->rtr != 0) /* else no kind is common: name those of this side */
        rtr = result->rtr;
    iw_mpa_responder_depths(mpa);
    return iw_mpa_encode(mpa, iw_mpa_reply_flags(mpa), mpa->peer_revision,
                         iw_mpa_reply_word(mpa, rtr, result->ird, result->ord), private_data,
                         private_length, dst);
}

size_t iw_mpa_encode_reject(const struct iw_mpa *mpa, const void *private_data,
                            size_t private_length, uint8_t *dst)
{
    /* The depths that this side would have needed (RFC 6581 9.1). */
    uint32_t word = iw_mpa_reply_word(mpa, mpa->config.rtr, iw_mpa_depth(mpa->config.ird),
                                      iw_mpa_depth(mpa->config.ord));

    return iw_mpa_encode(mpa, iw_mpa_reply_flags(mpa) | FLAG_REJECT, mpa->peer_revision, word,
                         private_data, private_length, dst);
}

size_t iw_mpa_encode_refusal(const struct iw_mpa *mpa, uint8_t *dst)
{
    return iw_mpa_encode(mpa, FLAG_REJECT, mpa->peer_revision, 0, NULL, 0, dst);
}

/* ---- Decoding -------------------------------------------------------------- */

static enum iw_mpa_verdict iw_mpa_terminate(struct iw_mpa *mpa, enum iw_error error)
{
    mpa->error = error;
    return IW_MPA_TERMINATE;
}

/* Returns the RTR that the initiator sends; a Write and a Read consume no receive. */
static unsigned iw_mpa_initiator_rtr(unsigned common, uint32_t ord)
{
    if (common & IW_RTR_WRITE)
        return IW_RTR_WRITE;
    if ((common & IW_RTR_READ) && ord > 0)
        return IW_RTR_READ;
    return common & IW_RTR_SEND;
}

static enum iw_mpa_verdict iw_mpa_judge_enhanced_reply(struct iw_mpa *mpa)
{
    const struct iw_mpa_config *config = &mpa->config;
    struct iw_mpa_result *result = &mpa->result;

    if (!config->suppress_depths && result->peer_ird < result->ord)
        result->ord = result->peer_ird;
    if (!config->suppress_depths && result->peer_ord != IW_MPA_DEPTH_NONE &&
        result->peer_ord > result->ird)
        return iw_mpa_terminate(mpa, IW_ERR_MPA_IRD);
    if (result->peer_to_peer != config->peer_to_peer)
        return iw_mpa_terminate(mpa, IW_ERR_MPA_RTR);
    if (!result->peer_to_peer)
        return IW_MPA_DONE;
    result->rtr = iw_mpa_initiator_rtr(iw_mpa_word_rtr(mpa->peer_word) & config->rtr, result->ord);
    if (result->rtr == 0)
        return iw_mpa_terminate(mpa, IW_ERR_MPA_RTR);
    return IW_MPA_DONE;
}

static enum iw_mpa_verdict iw_mpa_judge_reply(struct iw_mpa *mpa)
{
    struct iw_mpa_result *result = &mpa->result;

    iw_mpa_start_result(mpa);
    result->ird = iw_mpa_depth(mpa->config.ird);
    result->ord = iw_mpa_depth(mpa->config.ord);
    if (mpa->peer_flags & FLAG_REJECT)
        return IW_MPA_REJECTED;
    if (!result->enhanced) /* a peer of revision 1, or without RFC 6581 */
        return IW_MPA_DONE;
    return iw_mpa_judge_enhanced_reply(mpa);
}

static enum iw_mpa_verdict iw_mpa_judge_request(const struct iw_mpa *mpa)
{
    /* A responder without any kind of RTR has no valid Reply to A=1. */
    if (mpa->peer_enhanced && (mpa->peer_word & WORD_PEER_TO_PEER) && mpa->config.rtr == 0)
        return IW_MPA_REFUSE;
    return IW_MPA_DONE;
}

/* Judges the complete frame. */
static enum iw_mpa_verdict iw_mpa_judge_frame(struct iw_mpa *mpa)
{
    size_t start = PRIVATE_DATA;

    if (mpa->peer_enhanced) {
        mpa->peer_word = iw_load32(mpa->frame + start);
        start += WORD;
    }
    mpa->private_data = mpa->frame + start;
    mpa->private_length = (uint16_t)(mpa->length - start);
    return mpa->initiator ? iw_mpa_judge_reply(mpa) : iw_mpa_judge_request(mpa);
}

/* Judges the first 20 octets, whose key is right. */
static enum iw_mpa_verdict iw_mpa_judge_start(struct iw_mpa *mpa)
{
    unsigned pd_length = iw_load16(mpa->frame + PD_LENGTH);

    mpa->peer_flags = mpa->frame[FLAGS];
    mpa->peer_revision = mpa->frame[REVISION];
    if (mpa->peer_revision < 1 || mpa->peer_revision > 2 ||
        mpa->peer_revision > mpa->config.revision)
        return IW_MPA_BAD;
    if (pd_length > IW_MPA_PRIVATE_MAX)
        return IW_MPA_BAD;
    /* Revision 1 reserves this bit. */
    mpa->peer_enhanced = mpa->peer_revision == 2 && (mpa->peer_flags & FLAG_ENHANCED) != 0;
    if (mpa->peer_enhanced && pd_length < WORD)
        return IW_MPA_BAD;
    return pd_length > 0 ? IW_MPA_MORE : iw_mpa_judge_frame(mpa);
}

static bool iw_mpa_key_right(const struct iw_mpa *mpa)
{
    size_t length = mpa->length < KEY ? mpa->length : KEY;

    return memcmp(mpa->frame, mpa->initiator ? iw_mpa_reply_key : iw_mpa_request_key, length) == 0;
}

size_t iw_mpa_wanted(const struct iw_mpa *mpa)
{
    if (mpa->verdict != IW_MPA_MORE)
        return 0;
    if (mpa->length < IW_MPA_FRAME)
        return IW_MPA_FRAME - (size_t)mpa->length;
    return IW_MPA_FRAME + (size_t)iw_load16(mpa->frame + PD_LENGTH) - mpa->length;
}

enum iw_mpa_verdict iw_mpa_feed(struct iw_mpa *mpa, const uint8_t *data, size_t length)
{
    size_t wanted = iw_mpa_wanted(mpa);
    bool start = mpa->length < IW_MPA_FRAME;

    if (length > wanted)
        length = wanted;
    if (length == 0)
        return mpa->verdict;
    memcpy(mpa->frame + mpa->length, data, length);
    mpa->length = (uint16_t)(mpa->length + length);
    if (start && !iw_mpa_key_right(mpa))
        mpa->verdict = IW_MPA_BAD;
    else if (length == wanted)
        mpa->verdict = start ? iw_mpa_judge_start(mpa) : iw_mpa_judge_frame(mpa);
    return mpa->verdict;
}
