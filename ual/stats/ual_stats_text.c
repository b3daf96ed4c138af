/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The snapshot: a line for the process, then for each IA a line, followed by one for each of its
 * EPs and those of its source, and a last line "end". A snapshot without that line is incomplete.
 * After its first word a line has NAME=VALUE pairs, separated by blanks.
 */
#include "ual/stats/ual_stats.h"

#include "base/base_clock.h"
#include "ual/object/ual_provider.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define TEXT_ROOM_MIN 8192u

struct text_member {
    const char *name;
    size_t offset;
};

#define MEMBER(type, member)                                                                       \
    {                                                                                              \
#member, offsetof(struct type, member)                                                     \
    }

static const struct text_member ia_members[] = {
    MEMBER(itx_counters, bytes_sent),
    MEMBER(itx_counters, bytes_received),
    MEMBER(itx_counters, fpdus_sent),
    MEMBER(itx_counters, fpdus_received),
    MEMBER(itx_counters, send_calls),
    MEMBER(itx_counters, receive_calls),
    MEMBER(itx_counters, send_retries),
    MEMBER(itx_counters, crc_errors),
    MEMBER(itx_counters, protocol_errors),
    MEMBER(itx_counters, terminates_sent),
    MEMBER(itx_counters, terminates_received),
    MEMBER(itx_counters, connections_accepted),
    MEMBER(itx_counters, connections_initiated),
    MEMBER(itx_counters, half_open_refused),
    MEMBER(itx_counters, half_open_timeouts),
    MEMBER(itx_counters, thread_wakeups),
    MEMBER(itx_counters, leader_changes),
    MEMBER(itx_counters, nudges),
};

static const struct text_member ep_members[] = {
    MEMBER(itx_ep_counters, requests_posted),     MEMBER(itx_ep_counters, requests_done),
    MEMBER(itx_ep_counters, receives_posted),     MEMBER(itx_ep_counters, receives_done),
    MEMBER(itx_ep_counters, bytes_sent),          MEMBER(itx_ep_counters, bytes_received),
    MEMBER(itx_ep_counters, fpdus_sent),          MEMBER(itx_ep_counters, fpdus_received),
    MEMBER(itx_ep_counters, send_calls),          MEMBER(itx_ep_counters, receive_calls),
    MEMBER(itx_ep_counters, send_retries),        MEMBER(itx_ep_counters, crc_errors),
    MEMBER(itx_ep_counters, protocol_errors),     MEMBER(itx_ep_counters, terminates_sent),
    MEMBER(itx_ep_counters, terminates_received), MEMBER(itx_ep_counters, nudges),
    MEMBER(itx_ep_counters, requests_ended),
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* ---------------------------------------------------------------- the text */

static bool text_make_room(struct ual_stats_text *text, size_t more)
{
    size_t room = text->room ? text->room : TEXT_ROOM_MIN;
    char *octets;

    while (room - text->length < more)
        room *= 2;
    if (room == text->room)
        return true;
    octets = realloc(text->octets, room);
    if (!octets) {
        text->failed = true;
        return false;
    }
    text->octets = octets;
    text->room = room;
    return true;
}

__attribute__((format(printf, 2, 3))) static void text_add(struct ual_stats_text *text,
                                                           const char *format, ...)
{
    char piece[256]; /* longer than any piece */
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = vsnprintf(piece, sizeof(piece), format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= sizeof(piece) || text->failed ||
        !text_make_room(text, (size_t)length))
        return;
    memcpy(text->octets + text->length, piece, (size_t)length);
    text->length += (size_t)length;
}

/* Replaces blanks and whatever a terminal would interpret. */
static void text_add_name(struct ual_stats_text *text, const char *key, const char *value)
{
    char clean[128];
    size_t length = 0;

    for (; length < sizeof(clean) - 1 && value[length]; length++)
        clean[length] = value[length] > ' ' && value[length] < 127 ? value[length] : '?';
    clean[length] = '\0';
    text_add(text, " %s=%s", key, clean);
}

static void text_add_members(struct ual_stats_text *text, const struct text_member *members,
                             size_t count, const void *counters)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t value;

        memcpy(&value, (const unsigned char *)counters + members[i].offset, sizeof(value));
        text_add(text, " %s=%" PRIu64, members[i].name, value);
    }
    text_add(text, "\n");
}

/* ---------------------------------------------------------------- EPs */

/* Copied while the list is locked, written to the text afterwards. */
struct text_ep {
    const struct ual_ep *ep; /* only as a name */
    bool datagrams;
    int state;
    struct itx_ep_counters counters;
};

static size_t text_count_eps(struct ual_ia *ia)
{
    size_t count = 0;

    base_lock_take(&ia->evd.lock);
    BASE_LIST_EACH(const struct base_object, ep, &ia->evd.objects[IT_HANDLE_TYPE_EP], link)
        count++;
    base_lock_drop(&ia->evd.lock);
    return count;
}

static size_t text_copy_eps(struct ual_ia *ia, struct text_ep *eps, size_t room)
{
    const struct vp_provider *provider = ia->provider;
    size_t count = 0;

    base_lock_take(&ia->evd.lock);
    BASE_LIST_EACH(struct ual_ep, ep, &ia->evd.objects[IT_HANDLE_TYPE_EP], object.link) {
        if (count == room)
            break;
        eps[count] =
            (struct text_ep){.ep = ep,
                             .datagrams = ep->datagrams,
                             .state = atomic_load_explicit(&ep->state, memory_order_relaxed),
                             .counters.size = sizeof(eps[count].counters)};
        if (VP_PROVIDER_HAS(provider, ep_counters))
            provider->ep_counters(ep, &eps[count].counters);
        count++;
    }
    base_lock_drop(&ia->evd.lock);
    return count;
}

static const char *text_state(const struct text_ep *ep)
{
    if (!ep->datagrams)
        return itx_ep_state_string((it_ep_state_rc_t)ep->state);
    return ep->state == IT_EP_STATE_UD_OPERATIONAL ? "IT_EP_STATE_UD_OPERATIONAL"
                                                   : "IT_EP_STATE_UD_NONOPERATIONAL";
}

static void text_add_eps(struct ual_stats_text *text, const struct text_ep *eps, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        text_add(text, "ep id=%p", (const void *)eps[i].ep);
        text_add_name(text, "state", text_state(&eps[i]));
        text_add_members(text, ep_members, COUNT(ep_members), &eps[i].counters);
    }
}

/* ---------------------------------------------------------------- the whole */

static const char *text_transport(it_transport_type_t type)
{
    if (type == IT_IB_TRANSPORT)
        return "ib";
    return type == IT_IWARP_TCP_TRANSPORT ? "iwarp" : "other";
}

void ual_stats_begin(struct ual_stats_text *text)
{
    *text = (struct ual_stats_text){0};
    text_add(text, "itapi version=%d.%d pid=%ld", ITX_VERSION_MAJOR, ITX_VERSION_MINOR,
             (long)getpid());
    text_add_name(text, "program", program_invocation_short_name);
    text_add(text, " time_ns=%" PRIu64 "\n", base_now_ns());
}

void ual_stats_add_ia(struct ual_stats_text *text, struct ual_ia *ia)
{
    struct itx_counters counters = {.size = sizeof(counters)};
    size_t count = text_count_eps(ia);
    size_t room = count < UAL_STATS_EPS ? count : UAL_STATS_EPS;
    struct text_ep *eps = calloc(room ? room : 1, sizeof(*eps));

    if (!eps) {
        text->failed = true;
        return;
    }
    ia->provider->counters(ia, &counters);
    room = text_copy_eps(ia, eps, room);
    text_add(text, "ia id=%p", (void *)ia);
    text_add_name(text, "interface", ia->name);
    text_add_name(text, "transport",
                  text_transport(ia->provider->ia_attributes(ia)->transport_type));
    text_add(text, " eps=%zu eps_told=%zu", count, room);
    text_add_members(text, ia_members, COUNT(ia_members), &counters);
    text_add_eps(text, eps, room);
    free(eps);
}

/* Adds the complete lines of the source, made safe for a terminal. */
void ual_stats_add_source(struct ual_stats_text *text, itx_stats_source_t source, void *context)
{
    size_t room = source(context, NULL, 0) + 1;
    char *lines;
    size_t length;

    if (text->failed || !text_make_room(text, room))
        return;
    lines = text->octets + text->length;
    length = source(context, lines, room);
    if (length >= room)
        length = room - 1;
    while (length > 0 && lines[length - 1] != '\n')
        length--;
    for (size_t i = 0; i < length; i++)
        if (lines[i] != '\n' && (lines[i] < ' ' || lines[i] > '~'))
            lines[i] = '?';
    text->length += length;
}

void ual_stats_end(struct ual_stats_text *text)
{
    text_add(text, "end\n");
}
