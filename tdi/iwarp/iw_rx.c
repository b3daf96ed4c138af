/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An FPDU takes one of two paths. If all its octets are in the consumed buffer, or in the carry if
 * it is short, iw_rx_whole checks, places and reports it at once. A longer FPDU that arrives in
 * pieces goes through the states: iw_rx_begin at its header, then payload, then trailer.
 */
#include "tdi/iwarp/iw_rx.h"

#include "tdi/iwarp/iw_crc.h"
#include "tdi/iwarp/iw_octets.h"
#include "tdi/iwarp/iw_rx_message.h"
#include "tdi/iwarp/iw_wire.h"

#include <string.h>

_Static_assert(IW_RX_CARRY <= UINT8_MAX, "carry_length is an octet");
_Static_assert(IW_RX_CARRY >=
                   IW_LENGTH_FIELD + IW_UNTAGGED_HEADER + IW_TERMINATE_MAX + IW_TRAILER_MAX,
               "a Terminate fits");

void iw_rx_init(struct iw_rx *rx, const struct iw_rx_ops *ops, void *context, bool crc)
{
    memset(rx, 0, sizeof(*rx));
    rx->ops = ops;
    rx->context = context;
    rx->crc = crc;
    rx->state = IW_RX_HEADER;
    for (unsigned qn = 0; qn < sizeof(rx->next_msn) / sizeof(rx->next_msn[0]); qn++)
        rx->next_msn[qn] = 1;
}

static enum iw_error iw_rx_fail(struct iw_rx *rx, enum iw_error error)
{
    rx->state = IW_RX_DEAD;
    return error;
}

static void iw_rx_keep_header(struct iw_rx *rx, const uint8_t *header, size_t length)
{
    if (length > sizeof(rx->header))
        length = sizeof(rx->header);
    memcpy(rx->header, header, length);
    rx->header_length = (uint8_t)length;
}

static uint32_t iw_rx_fpdu_length(uint32_t ulpdu_length)
{
    return IW_LENGTH_FIELD + ulpdu_length + iw_pad(ulpdu_length) + IW_CRC_FIELD;
}

/* ---- Placement ------------------------------------------------------------- */

static void iw_rx_scatter(const struct iovec *iov, unsigned count, const uint8_t *src,
                          size_t length)
{
    for (unsigned i = 0; i < count && length > 0; i++) {
        size_t part = iov[i].iov_len < length ? iov[i].iov_len : length;

        if (part > 0)
            iw_copy_payload(iov[i].iov_base, src, part);
        src += part;
        length -= part;
    }
}

/* Places length > 0 octets of the payload, which begin at offset in it. */
static enum iw_error iw_rx_place(struct iw_rx *rx, uint32_t offset, const uint8_t *src,
                                 uint32_t length)
{
    struct iovec iov[IW_RX_IOV_MAX];

    for (uint32_t end = offset + length; offset < end;) {
        uint32_t mapped = end - offset;
        unsigned count = 0;
        enum iw_error error = rx->ops->map(rx->context, &rx->segment, offset, &mapped, iov, &count);

        if (error != IW_OK)
            return error;
        iw_rx_scatter(iov, count, src, mapped);
        rx->ops->unmap(rx->context);
        src += mapped;
        offset += mapped;
    }
    return IW_OK;
}

/* ---- An FPDU that is there as a whole -------------------------------------- */

static bool iw_rx_crc_good(const uint8_t *fpdu, size_t length)
{
    size_t covered = length - IW_CRC_FIELD;
    uint32_t value = iw_crc_final(iw_crc_update(IW_CRC_INIT, fpdu, covered));

    return value == iw_load_crc(fpdu + covered);
}

static enum iw_error iw_rx_place_whole(struct iw_rx *rx, const uint8_t *payload)
{
    enum iw_error error;

    if (rx->ops->place)
        return rx->ops->place(rx->context, &rx->segment, payload);
    error = rx->ops->check(rx->context, &rx->segment);
    if (error != IW_OK || rx->segment.length == 0)
        return error;
    return iw_rx_place(rx, 0, payload, rx->segment.length);
}

static enum iw_error iw_rx_whole_ulpdu(struct iw_rx *rx, const uint8_t *ulpdu)
{
    size_t header_length;
    enum iw_error error;
    bool ask;

    error =
        iw_decode_header(ulpdu, rx->ulpdu_length, rx->ulpdu_length, &rx->segment, &header_length);
    if (error != IW_OK)
        return error;
    error = iw_rx_admit_alone(rx, &ask);
    if (error == IW_OK && ask)
        error = iw_rx_place_whole(rx, ulpdu + header_length);
    if (error != IW_OK)
        return error;
    return iw_rx_report(rx, ulpdu + header_length);
}

/* Fast path for the most common message, a Send of one segment. */
static bool iw_rx_take_usual(struct iw_rx *rx, const uint8_t *ulpdu)
{
    bool solicited;

    if (!rx->ops->take || rx->send_open || rx->ulpdu_length <= IW_UNTAGGED_HEADER ||
        !iw_is_usual_send(ulpdu, rx->next_msn[IW_QN_SEND], &solicited) ||
        !rx->ops->take(rx->context, ulpdu + IW_UNTAGGED_HEADER,
                       rx->ulpdu_length - IW_UNTAGGED_HEADER, solicited))
        return false;
    rx->segment.opcode = solicited ? IW_OP_SEND_SE : IW_OP_SEND;
    rx->segment.last = true;
    rx->next_msn[IW_QN_SEND]++;
    rx->fpdus++;
    return true;
}

static enum iw_error iw_rx_whole(struct iw_rx *rx, const uint8_t *fpdu, size_t length)
{
    const uint8_t *ulpdu = fpdu + IW_LENGTH_FIELD;
    enum iw_error error;

    rx->ulpdu_length = iw_load16(fpdu);
    if (rx->crc && !iw_rx_crc_good(fpdu, length))
        return iw_rx_fail(rx, IW_ERR_MPA_CRC);
    if (iw_rx_take_usual(rx, ulpdu))
        return IW_OK;
    error = iw_rx_whole_ulpdu(rx, ulpdu);
    if (error == IW_OK)
        return IW_OK;
    iw_rx_keep_header(rx, ulpdu, rx->ulpdu_length);
    return iw_rx_fail(rx, error);
}

/* ---- An FPDU in pieces ----------------------------------------------------- */

/* Returns how many octets the carry must hold to decide the next step. */
static size_t iw_rx_carry_needed(const struct iw_rx *rx)
{
    uint32_t length;

    if (rx->carry_length < IW_LENGTH_FIELD)
        return IW_LENGTH_FIELD;
    length = iw_rx_fpdu_length(iw_load16(rx->carry));
    if (length <= IW_RX_CARRY)
        return length;
    if (rx->carry_length < IW_LENGTH_FIELD + IW_TAGGED_HEADER)
        return IW_LENGTH_FIELD + IW_TAGGED_HEADER;
    return IW_LENGTH_FIELD + iw_header_length(rx->carry + IW_LENGTH_FIELD);
}

/* Moves octets to the carry until it holds `needed`. Returns how many it moved. */
static size_t iw_rx_carry_fill(struct iw_rx *rx, const uint8_t *data, size_t left, size_t needed)
{
    size_t part = needed - rx->carry_length;

    if (part > left)
        part = left;
    memcpy(rx->carry + rx->carry_length, data, part);
    rx->carry_length = (uint8_t)(rx->carry_length + part);
    return part;
}

/* Begins a long FPDU, whose header is in the carry. */
static enum iw_error iw_rx_begin(struct iw_rx *rx)
{
    const uint8_t *ulpdu = rx->carry + IW_LENGTH_FIELD;
    size_t available = rx->carry_length - (size_t)IW_LENGTH_FIELD;
    size_t header_length;
    enum iw_error error;

    rx->ulpdu_length = iw_load16(rx->carry);
    rx->placed = 0;
    if (rx->crc)
        rx->crc_value = iw_crc_update(IW_CRC_INIT, rx->carry, rx->carry_length);
    iw_rx_keep_header(rx, ulpdu, available);
    error = iw_decode_header(ulpdu, available, rx->ulpdu_length, &rx->segment, &header_length);
    if (error == IW_OK)
        error = iw_rx_admit(rx);
    rx->carry_length = 0;
    rx->verdict = error;
    rx->state = IW_RX_PAYLOAD;
    if (error == IW_OK)
        return IW_OK;
    if (!rx->crc)
        return iw_rx_fail(rx, error);
    rx->segment.length = rx->ulpdu_length - (uint32_t)available;
    rx->state = IW_RX_REFUSED;
    return IW_OK;
}

static enum iw_error iw_rx_header(struct iw_rx *rx, const uint8_t *data, size_t left, size_t *taken)
{
    size_t needed;

    if (rx->carry_length == 0 && left >= IW_LENGTH_FIELD) {
        *taken = iw_rx_fpdu_length(iw_load16(data));
        if (*taken <= left)
            return iw_rx_whole(rx, data, *taken);
    }
    *taken = 0;
    for (;;) {
        needed = iw_rx_carry_needed(rx);
        if (rx->carry_length == needed)
            break;
        if (*taken == left)
            return IW_OK;
        *taken += iw_rx_carry_fill(rx, data + *taken, left - *taken, needed);
    }
    if (needed != iw_rx_fpdu_length(iw_load16(rx->carry)))
        return iw_rx_begin(rx);
    rx->carry_length = 0;
    return iw_rx_whole(rx, rx->carry, needed);
}

static void iw_rx_advance(struct iw_rx *rx, uint32_t length)
{
    rx->placed += length;
    if (rx->placed == rx->segment.length)
        rx->state = IW_RX_TRAILER;
}

/* Takes payload: places that of a good FPDU, skips that of a refused one. */
static enum iw_error iw_rx_payload(struct iw_rx *rx, const uint8_t *data, size_t left,
                                   size_t *taken)
{
    uint32_t part = rx->segment.length - rx->placed;

    if (part > left)
        part = (uint32_t)left;
    *taken = part;
    if (rx->state == IW_RX_PAYLOAD) {
        enum iw_error error = iw_rx_place(rx, rx->placed, data, part);

        if (error != IW_OK)
            return iw_rx_fail(rx, error);
    }
    if (rx->crc)
        rx->crc_value = iw_crc_update(rx->crc_value, data, part);
    iw_rx_advance(rx, part);
    return IW_OK;
}

static enum iw_error iw_rx_trailer(struct iw_rx *rx, const uint8_t *data, size_t left,
                                   size_t *taken)
{
    size_t pad = iw_pad(rx->ulpdu_length);
    enum iw_error error;

    *taken = iw_rx_carry_fill(rx, data, left, pad + IW_CRC_FIELD);
    if (rx->carry_length < pad + IW_CRC_FIELD)
        return IW_OK;
    rx->carry_length = 0;
    rx->state = IW_RX_HEADER;
    if (rx->crc) {
        uint32_t value = iw_crc_final(iw_crc_update(rx->crc_value, rx->carry, pad));

        if (value != iw_load_crc(rx->carry + pad))
            return iw_rx_fail(rx, IW_ERR_MPA_CRC);
    }
    error = rx->verdict;
    if (error == IW_OK) /* a data segment: control messages of this length are refused */
        error = iw_rx_report(rx, NULL);
    return error == IW_OK ? IW_OK : iw_rx_fail(rx, error);
}

/* ---- Entry points ---------------------------------------------------------- */

enum iw_error iw_rx_consume(struct iw_rx *rx, const uint8_t *data, size_t length)
{
    enum iw_error error = IW_OK;

    while (length > 0 && error == IW_OK) {
        size_t taken = 0;

        switch (rx->state) {
        case IW_RX_HEADER:
            error = iw_rx_header(rx, data, length, &taken);
            break;
        case IW_RX_PAYLOAD:
        case IW_RX_REFUSED:
            error = iw_rx_payload(rx, data, length, &taken);
            break;
        case IW_RX_TRAILER:
            error = iw_rx_trailer(rx, data, length, &taken);
            break;
        case IW_RX_DEAD:
            return IW_OK;
        }
        data += taken;
        length -= taken;
    }
    return error;
}

uint32_t iw_rx_direct_wanted(const struct iw_rx *rx)
{
    return rx->state == IW_RX_PAYLOAD ? rx->segment.length - rx->placed : 0;
}

enum iw_error iw_rx_direct_begin(struct iw_rx *rx, uint32_t *wanted, struct iovec *iov,
                                 unsigned *count)
{
    uint32_t most = iw_rx_direct_wanted(rx);
    enum iw_error error;

    *count = 0;
    if (*wanted > most)
        *wanted = most;
    if (*wanted == 0)
        return IW_OK;
    error = rx->ops->map(rx->context, &rx->segment, rx->placed, wanted, iov, count);
    if (error != IW_OK) {
        *count = 0;
        return iw_rx_fail(rx, error);
    }
    rx->mapped = *wanted;
    if (!rx->crc)
        return IW_OK;
    /* A copy, because the caller may change iov while it reads. */
    rx->direct_count = *count;
    memcpy(rx->direct, iov, *count * sizeof(iov[0]));
    return IW_OK;
}

enum iw_error iw_rx_direct_end(struct iw_rx *rx, uint32_t arrived)
{
    if (rx->mapped == 0)
        return IW_OK;
    if (arrived > rx->mapped)
        arrived = rx->mapped;
    if (rx->crc)
        rx->crc_value = iw_crc_update_iov(rx->crc_value, rx->direct, rx->direct_count, arrived);
    rx->ops->unmap(rx->context);
    rx->mapped = 0;
    iw_rx_advance(rx, arrived);
    return IW_OK;
}

uint32_t iw_rx_arrived(const struct iw_rx *rx)
{
    bool within = rx->state == IW_RX_PAYLOAD || rx->state == IW_RX_TRAILER;

    return rx->send_mo + (within && !rx->segment.tagged ? rx->placed : 0);
}

bool iw_rx_at_boundary(const struct iw_rx *rx)
{
    return rx->state == IW_RX_DEAD || (rx->state == IW_RX_HEADER && rx->carry_length == 0);
}

void iw_rx_fill_terminate(const struct iw_rx *rx, enum iw_error error,
                          struct iw_terminate *terminate)
{
    iw_terminate_fill(terminate, error, rx->header, rx->header_length, rx->ulpdu_length);
}
