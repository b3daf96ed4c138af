/* SPDX-License-Identifier: BSD-2-Clause */
#include "endpoint/udapl_read.h"

#include "deliver/udapl_deliver.h"
#include "map/udapl_flags.h"

void udapl_read_shorten(struct udapl_segments *segments, uint64_t length)
{
    size_t i = 0;

    segments->length = length;
    for (; i < segments->count && length > 0; i++) {
        if (segments->segment[i].length > length)
            segments->segment[i].length = length;
        length -= segments->segment[i].length;
    }
    segments->count = i;
}

/* A part of a Read: `count` segments from `first` on. */
struct part {
    size_t first, count;
    uint64_t offset, length;
};

static bool next_part(const struct udapl_segments *segments, size_t most, struct part *part)
{
    part->first += part->count;
    part->offset += part->length;
    part->count = part->length = 0;
    while (part->count < most && part->first + part->count < segments->count)
        part->length += segments->segment[part->first + part->count++].length;
    return part->first + part->count < segments->count;
}

/*
 * Returns the flags of a part. Parts before the last one report only failures. Only the first part
 * has the fence.
 */
static it_dto_flags_t flags_of(DAT_COMPLETION_FLAGS flags, bool first, bool last)
{
    unsigned all = (unsigned)udapl_flags(flags);

    if (!first)
        all &= ~(unsigned)IT_BARRIER_FENCE_FLAG;
    if (!last)
        all &= ~((unsigned)IT_COMPLETION_FLAG | (unsigned)IT_NOTIFY_FLAG);
    return (it_dto_flags_t)all;
}

DAT_RETURN udapl_read_split(struct udapl_ep *ep, const struct udapl_segments *segments,
                            uint64_t cookie, const DAT_RMR_TRIPLET *remote,
                            DAT_COMPLETION_FLAGS flags)
{
    bool reported = !((unsigned)flags & (unsigned)DAT_COMPLETION_SUPPRESS_FLAG);
    struct udapl_record *record = udapl_record_take(&ep->records, cookie, reported);
    struct part part = {0, 0, 0, 0};
    it_status_t status;
    bool more;

    if (!record)
        return udapl_error(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_TEP);
    record->length = (uint32_t)segments->length;
    do {
        bool first = part.first + part.count == 0;

        more = next_part(segments, ep->read_segments, &part);
        status = it_post_rdma_read(ep->it, &segments->segment[part.first], part.count,
                                   (uintptr_t)record, flags_of(flags, first, !more),
                                   remote->virtual_address + part.offset, remote->rmr_context);
    } while (status == IT_SUCCESS && more);
    if (status == IT_SUCCESS)
        return DAT_SUCCESS;
    udapl_record_return(record);
    return status == IT_ERR_INVALID_EP_STATE ? udapl_state_error(udapl_ep_state(ep))
                                             : udapl_return(status);
}
