/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A small endpoint behind iw_rx_ops: memory regions, receives, open Reads, with canaries on both
 * sides of each buffer. It logs all calls, so that two runs can be compared.
 */
#ifndef ITAPI_TESTS_VECTORS_IW_MODEL_H
#define ITAPI_TESTS_VECTORS_IW_MODEL_H

#include "tdi/iwarp/iw_atomic.h"
#include "tdi/iwarp/iw_rx.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IW_MODEL_CANARY       16
#define IW_MODEL_CANARY_OCTET 0xa5
#define IW_MODEL_BUFFER_MAX   131072
#define IW_MODEL_LOG_MAX      16384
#define IW_MODEL_ZONE         1

/* For loops over octets: libFuzzer learns nothing from them, and they would take half the time. */
#ifdef __clang__
#define IW_MODEL_PLAIN __attribute__((no_sanitize("coverage")))
#else
#define IW_MODEL_PLAIN
#endif

enum {
    IW_MODEL_WRITE = 1,
    IW_MODEL_READ = 2,
    IW_MODEL_ATOMIC = 4
};
enum {
    IW_MODEL_REGIONS = 3,
    IW_MODEL_RECEIVES = 8
};

struct iw_model_buffer {
    uint32_t length;
    uint8_t octets[IW_MODEL_CANARY + IW_MODEL_BUFFER_MAX + IW_MODEL_CANARY];
};

struct iw_model_region {
    uint32_t stag; /* 0: gone */
    unsigned zone;
    unsigned rights;
    uint64_t base;
    struct iw_model_buffer buffer;
};

struct iw_model {
    struct iw_model_region regions[IW_MODEL_REGIONS];
    unsigned receives; /* posted */
    unsigned received;
    struct iw_model_buffer receive[IW_MODEL_RECEIVES];
    struct iw_read_request read; /* the one open Read of this side; sink_stag 0: none */
    uint32_t read_placed;
    struct iw_model_buffer sink;
    unsigned ird;
    unsigned reads;     /* Read and Atomic Requests that are not answered */
    unsigned atomics;   /* Atomic Requests of this side that are not answered */
    uint32_t atomic_id; /* id of the oldest; later ones count up */
    bool mapped;
    unsigned maps_left; /* the map after so many maps fails */
    uint32_t map_most;  /* octets of one map */
    size_t log_length;
    char log[IW_MODEL_LOG_MAX];
};

static inline void iw_model_say(struct iw_model *model, const char *format, ...)
{
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = vsnprintf(model->log + model->log_length, sizeof(model->log) - model->log_length,
                       format, arguments);
    va_end(arguments);
    if (length > 0 && (size_t)length < sizeof(model->log) - model->log_length)
        model->log_length += (size_t)length;
}

static inline void iw_model_buffer_init(struct iw_model_buffer *buffer, uint32_t length)
{
    buffer->length = length;
    memset(buffer->octets, IW_MODEL_CANARY_OCTET, length + 2 * (size_t)IW_MODEL_CANARY);
}

static inline bool iw_model_buffer_intact(const struct iw_model_buffer *buffer)
{
    uint8_t canary[IW_MODEL_CANARY];

    memset(canary, IW_MODEL_CANARY_OCTET, sizeof(canary));
    return memcmp(buffer->octets, canary, sizeof(canary)) == 0 &&
           memcmp(buffer->octets + sizeof(canary) + buffer->length, canary, sizeof(canary)) == 0;
}

static inline bool iw_model_intact(const struct iw_model *model)
{
    bool intact = iw_model_buffer_intact(&model->sink) && !model->mapped;

    for (unsigned i = 0; i < IW_MODEL_REGIONS; i++)
        intact = intact && iw_model_buffer_intact(&model->regions[i].buffer);
    for (unsigned i = 0; i < model->receives; i++)
        intact = intact && iw_model_buffer_intact(&model->receive[i]);
    return intact;
}

/* Prepares the receiver of iw_negative.h, with buffers of `size` and so many receives. */
static inline void iw_model_init(struct iw_model *model, uint32_t size, unsigned receives)
{
    static const struct iw_model_region regions[IW_MODEL_REGIONS] = {
        {.stag = 0x11223344, .zone = 1, .rights = IW_MODEL_WRITE, .base = 0x10002000},
        {.stag = 0x55667788, .zone = 1, .rights = IW_MODEL_READ, .base = 0},
        {.stag = 0x99aa0001, .zone = 2, .rights = IW_MODEL_WRITE, .base = 0x10002000},
    };

    for (unsigned i = 0; i < IW_MODEL_REGIONS; i++) {
        model->regions[i].stag = regions[i].stag;
        model->regions[i].zone = regions[i].zone;
        model->regions[i].rights = regions[i].rights;
        model->regions[i].base = regions[i].base;
        iw_model_buffer_init(&model->regions[i].buffer, size);
    }
    for (unsigned i = 0; i < receives; i++)
        iw_model_buffer_init(&model->receive[i], size);
    iw_model_buffer_init(&model->sink, size);
    model->receives = receives;
    model->received = 0;
    model->read.sink_stag = 0;
    model->read_placed = 0;
    model->ird = 1;
    model->reads = 0;
    model->atomics = 0;
    model->atomic_id = 0;
    model->mapped = false;
    model->maps_left = UINT32_MAX;
    model->map_most = UINT32_MAX;
    model->log_length = 0;
    model->log[0] = 0;
}

static inline void iw_model_post_read(struct iw_model *model, uint32_t stag, uint64_t to,
                                      uint32_t length)
{
    model->read.sink_stag = stag;
    model->read.sink_to = to;
    model->read.length = length;
    model->read_placed = 0;
}

static inline struct iw_model_region *iw_model_find(struct iw_model *model, uint32_t stag)
{
    for (unsigned i = 0; i < IW_MODEL_REGIONS; i++) {
        if (stag != 0 && model->regions[i].stag == stag)
            return &model->regions[i];
    }
    return NULL;
}

static inline bool iw_model_inside(const struct iw_model_region *region, uint64_t to,
                                   uint32_t length)
{
    uint64_t size = region->buffer.length;

    return to >= region->base && to - region->base <= size && length <= size - (to - region->base);
}

static inline enum iw_error iw_model_check_write(struct iw_model *model,
                                                 const struct iw_segment *segment)
{
    const struct iw_model_region *region = iw_model_find(model, segment->stag);

    if (segment->length == 0)
        abort(); /* the core may not ask */
    if (!region)
        return IW_ERR_DDP_INVALID_STAG;
    if (region->zone != IW_MODEL_ZONE)
        return IW_ERR_DDP_STAG_STREAM;
    if (!(region->rights & IW_MODEL_WRITE))
        return IW_ERR_RDMAP_ACCESS;
    if (segment->to > UINT64_MAX - (segment->length - 1))
        return IW_ERR_DDP_TO_WRAP;
    return iw_model_inside(region, segment->to, segment->length) ? IW_OK : IW_ERR_DDP_BOUNDS;
}

static inline enum iw_error iw_model_check_response(const struct iw_model *model,
                                                    const struct iw_segment *segment)
{
    uint32_t left = model->read.length - model->read_placed;

    if (model->read.sink_stag == 0)
        return IW_ERR_RDMAP_OPCODE;
    if (model->read.length > 0 && segment->stag != model->read.sink_stag)
        return IW_ERR_DDP_INVALID_STAG;
    if (model->read.length > 0 && segment->to != model->read.sink_to + model->read_placed)
        return IW_ERR_DDP_BOUNDS;
    if (segment->length > left || segment->last != (segment->length == left))
        return IW_ERR_DDP_BOUNDS;
    return IW_OK;
}

static inline enum iw_error iw_model_check_send(struct iw_model *model,
                                                const struct iw_segment *segment)
{
    uint32_t size = model->receive[0].length;

    if (model->received == model->receives)
        return IW_ERR_DDP_NO_BUFFER;
    if (segment->mo > size || segment->length > size - segment->mo)
        return IW_ERR_DDP_TOO_LONG;
    if (segment->opcode == IW_OP_SEND_INV || segment->opcode == IW_OP_SEND_SE_INV) {
        const struct iw_model_region *region = iw_model_find(model, segment->stag);

        if (!region || region->zone != IW_MODEL_ZONE)
            return IW_ERR_RDMAP_CANNOT_INVALIDATE;
    }
    return IW_OK;
}

static inline enum iw_error iw_model_check(void *context, const struct iw_segment *segment)
{
    struct iw_model *model = context;

    if (segment->opcode == IW_OP_WRITE)
        return iw_model_check_write(model, segment);
    if (segment->opcode == IW_OP_READ_RESPONSE)
        return iw_model_check_response(model, segment);
    return iw_model_check_send(model, segment);
}

static inline uint8_t *iw_model_target(struct iw_model *model, const struct iw_segment *segment)
{
    struct iw_model_region *region;

    if (segment->opcode == IW_OP_READ_RESPONSE)
        return model->sink.octets + IW_MODEL_CANARY + model->read_placed;
    if (!segment->tagged)
        return model->receive[model->received].octets + IW_MODEL_CANARY + segment->mo;
    region = iw_model_find(model, segment->stag);
    if (!region)
        abort(); /* mapped without a successful check */
    return region->buffer.octets + IW_MODEL_CANARY + (segment->to - region->base);
}

/* Maps up to three pieces: 1 octet, 7 octets, the rest. */
static inline enum iw_error iw_model_map(void *context, const struct iw_segment *segment,
                                         uint32_t offset, uint32_t *mapped, struct iovec *iov,
                                         unsigned *count)
{
    static const uint32_t pieces[] = {1, 7, UINT32_MAX};
    struct iw_model *model = context;
    uint8_t *at = iw_model_target(model, segment) + offset;
    uint32_t length = *mapped;

    if (model->mapped || length == 0 || offset > segment->length ||
        length > segment->length - offset)
        abort();
    if (model->maps_left-- == 0)
        return IW_ERR_DDP_LOCAL;
    model->mapped = true;
    if (length > model->map_most)
        length = model->map_most;
    *mapped = length;
    for (*count = 0; length > 0; ++*count) {
        uint32_t part = pieces[*count] < length ? pieces[*count] : length;

        iov[*count].iov_base = at;
        iov[*count].iov_len = part;
        at += part;
        length -= part;
    }
    return IW_OK;
}

static inline void iw_model_unmap(void *context)
{
    struct iw_model *model = context;

    if (!model->mapped)
        abort();
    model->mapped = false;
}

static inline IW_MODEL_PLAIN uint32_t iw_model_digest(const uint8_t *octets, uint32_t length)
{
    uint32_t digest = 2166136261u;

    for (; length > 0; length--)
        digest = (digest ^ *octets++) * 16777619u;
    return digest;
}

static inline enum iw_error iw_model_done(void *context, const struct iw_segment *segment)
{
    struct iw_model *model = context;
    uint32_t digest = 0;

    if (model->mapped)
        abort();
    if (segment->length > 0)
        digest = iw_model_digest(iw_model_target(model, segment), segment->length);
    if (segment->tagged)
        iw_model_say(model, "%x%s %x:%llx+%x =%08x\n", segment->opcode, segment->last ? "" : "-",
                     segment->stag, (unsigned long long)segment->to, segment->length, digest);
    else
        iw_model_say(model, "%x%s %u/%x+%x ~%x =%08x\n", segment->opcode, segment->last ? "" : "-",
                     segment->msn, segment->mo, segment->length, segment->stag, digest);
    if (segment->opcode == IW_OP_READ_RESPONSE) {
        model->read_placed += segment->length;
        if (segment->last)
            model->read.sink_stag = 0;
    }
    if (segment->tagged || !segment->last)
        return IW_OK;
    model->received++;
    if (segment->opcode == IW_OP_SEND_INV || segment->opcode == IW_OP_SEND_SE_INV) {
        struct iw_model_region *region = iw_model_find(model, segment->stag);

        if (!region)
            return IW_ERR_RDMAP_CANNOT_INVALIDATE;
        region->stag = 0;
    }
    return IW_OK;
}

static inline enum iw_error iw_model_read_request(void *context,
                                                  const struct iw_read_request *request)
{
    struct iw_model *model = context;
    const struct iw_model_region *region = iw_model_find(model, request->source_stag);

    if (model->reads == model->ird)
        return IW_ERR_DDP_NO_BUFFER;
    if (request->length > 0) {
        if (!region)
            return IW_ERR_RDMAP_INVALID_STAG;
        if (region->zone != IW_MODEL_ZONE)
            return IW_ERR_RDMAP_STAG_STREAM;
        if (!(region->rights & IW_MODEL_READ))
            return IW_ERR_RDMAP_ACCESS;
        if (request->source_to > UINT64_MAX - (request->length - 1))
            return IW_ERR_RDMAP_TO_WRAP;
        if (!iw_model_inside(region, request->source_to, request->length))
            return IW_ERR_RDMAP_BOUNDS;
    }
    model->reads++;
    iw_model_say(model, "read %x:%llx+%x to %x:%llx\n", request->source_stag,
                 (unsigned long long)request->source_to, request->length, request->sink_stag,
                 (unsigned long long)request->sink_to);
    return IW_OK;
}

static inline enum iw_error iw_model_atomic_request(void *context,
                                                    const struct iw_atomic_request *request)
{
    struct iw_model *model = context;
    struct iw_model_region *region = iw_model_find(model, request->stag);
    uint64_t original;
    uint64_t result;
    uint8_t *at;

    if (!iw_atomic_is_known(request))
        return IW_ERR_RDMAP_OPCODE;
    if (model->reads == model->ird)
        return IW_ERR_DDP_NO_BUFFER;
    if (request->to % sizeof(original) != 0)
        return IW_ERR_RDMAP_STREAM;
    if (!region)
        return IW_ERR_RDMAP_INVALID_STAG;
    if (region->zone != IW_MODEL_ZONE)
        return IW_ERR_RDMAP_STAG_STREAM;
    if (!(region->rights & IW_MODEL_ATOMIC))
        return IW_ERR_RDMAP_ACCESS;
    if (!iw_model_inside(region, request->to, sizeof(original)))
        return IW_ERR_RDMAP_BOUNDS;
    model->reads++;
    at = region->buffer.octets + IW_MODEL_CANARY + (request->to - region->base);
    memcpy(&original, at, sizeof(original));
    result = iw_atomic_result(request, original);
    memcpy(at, &result, sizeof(result));
    iw_model_say(model, "atomic %u %x %x:%llx %llx to %llx\n", request->code, request->id,
                 request->stag, (unsigned long long)request->to, (unsigned long long)original,
                 (unsigned long long)result);
    return IW_OK;
}

static inline enum iw_error iw_model_atomic_response(void *context,
                                                     const struct iw_atomic_response *response)
{
    struct iw_model *model = context;

    if (model->atomics == 0)
        return IW_ERR_RDMAP_OPCODE;
    if (response->id != model->atomic_id)
        return IW_ERR_RDMAP_UNSPECIFIED;
    model->atomics--;
    model->atomic_id++;
    iw_model_say(model, "original %x %llx\n", response->id, (unsigned long long)response->original);
    return IW_OK;
}

static inline enum iw_error iw_model_immediate(void *context, uint64_t value, bool solicited)
{
    struct iw_model *model = context;

    if (model->received == model->receives)
        return IW_ERR_DDP_NO_BUFFER;
    model->received++;
    iw_model_say(model, "immediate%s %llx\n", solicited ? " se" : "", (unsigned long long)value);
    return IW_OK;
}

static inline void iw_model_terminate(void *context, const struct iw_terminate *terminate)
{
    iw_model_say(context, "terminate %x%s\n", (unsigned)terminate->error & 0xffff,
                 terminate->little_endian_nibbles ? " siw" : "");
}

static inline const struct iw_rx_ops *iw_model_ops(void)
{
    static const struct iw_rx_ops ops = {
        .check = iw_model_check,
        .map = iw_model_map,
        .unmap = iw_model_unmap,
        .done = iw_model_done,
        .read_request = iw_model_read_request,
        .atomic_request = iw_model_atomic_request,
        .atomic_response = iw_model_atomic_response,
        .immediate = iw_model_immediate,
        .terminate = iw_model_terminate,
    };

    return &ops;
}

/* ---- Ways to feed ----------------------------------------------------------- */

/* Reads up to `most` octets straight into the destination, like readv. */
static inline enum iw_error iw_model_read_direct(struct iw_rx *rx, const uint8_t *data,
                                                 uint32_t most, uint32_t arrived, size_t *taken)
{
    struct iovec iov[IW_RX_IOV_MAX];
    unsigned count;
    enum iw_error error = iw_rx_direct_begin(rx, &most, iov, &count);

    *taken = 0;
    for (unsigned i = 0; i < count && *taken < arrived; i++) {
        size_t part = iov[i].iov_len < arrived - *taken ? iov[i].iov_len : arrived - *taken;

        memcpy(iov[i].iov_base, data + *taken, part);
        *taken += part;
    }
    if (iw_rx_direct_end(rx, (uint32_t)*taken) != IW_OK)
        abort();
    return error;
}

/*
 * Feeds pieces of random length; the payload by direct reads if `direct`. Each piece is copied to
 * the end of a block of the heap, so that a read past its end is found, and overwritten behind the
 * call.
 */
static inline IW_MODEL_PLAIN enum iw_error iw_model_feed(struct iw_rx *rx, const uint8_t *data,
                                                         size_t length, size_t longest, bool direct,
                                                         uint32_t seed)
{
    enum iw_error error = IW_OK;
    size_t room = longest < length ? longest : length;
    uint8_t *block = malloc(room ? room : 1);

    if (!block)
        abort();
    while (length > 0 && error == IW_OK) {
        size_t taken;
        uint32_t wanted = iw_rx_direct_wanted(rx);

        seed = seed * 1664525u + 1013904223u;
        taken = 1 + (seed >> 8) % longest;
        if (taken > length)
            taken = length;
        if (direct && wanted > 0) {
            uint32_t arrived = taken < wanted ? (uint32_t)taken : wanted;

            error = iw_model_read_direct(rx, data, wanted, arrived, &taken);
        } else {
            uint8_t *copy = block + room - taken;

            memcpy(copy, data, taken);
            error = iw_rx_consume(rx, copy, taken);
            memset(copy, 0xdd, taken);
        }
        data += taken;
        length -= taken;
    }
    free(block);
    return error;
}

/* Logs the end of a run: the error, and the Terminate that it asks for. */
static inline void iw_model_end(struct iw_model *model, const struct iw_rx *rx, enum iw_error error)
{
    struct iw_terminate terminate;

    iw_model_say(model, "end %x fpdus %llu boundary %d\n", (unsigned)error & 0xffff,
                 (unsigned long long)rx->fpdus, iw_rx_at_boundary(rx));
    if (error == IW_OK)
        return;
    iw_rx_fill_terminate(rx, error, &terminate);
    iw_model_say(model, "headers %d %d %d length %u =%08x =%08x\n", terminate.has_length,
                 terminate.has_ddp, terminate.has_rdmap, terminate.segment_length,
                 iw_model_digest(terminate.ddp, sizeof(terminate.ddp)),
                 iw_model_digest(terminate.rdmap, sizeof(terminate.rdmap)));
}

#endif
