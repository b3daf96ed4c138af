/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks which half-open stream is closed when there are too many. */
#include "vp/uiwarp/net/uiw_half_open.h"

#include <criterion/criterion.h>

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#define STREAMS 64u
#define NO_MAX  1000000u

static struct uiw_half_open_table table;
static struct uiw_half_open streams[STREAMS];

static it_net_addr_t address(const char *text)
{
    it_net_addr_t address = {.addr_type = strchr(text, ':') ? IT_IPV6 : IT_IPV4};

    if (address.addr_type == IT_IPV6)
        cr_assert_eq(inet_pton(AF_INET6, text, &address.addr.ipv6), 1);
    else
        cr_assert_eq(inet_pton(AF_INET, text, &address.addr.ipv4), 1);
    return address;
}

static void come(unsigned stream, const char *from)
{
    it_net_addr_t source = address(from);

    cr_assert(uiw_half_open_add(&table, &streams[stream], &source));
}

static void go(unsigned stream)
{
    uiw_half_open_remove(&table, &streams[stream]);
}

/* Returns the number of the stream that has to go, or -1. */
static int excess(const char *from, unsigned share, unsigned max)
{
    it_net_addr_t source = address(from);
    struct uiw_half_open *stream = uiw_half_open_excess(&table, &source, share, max);

    return stream ? (int)(stream - streams) : -1;
}

static void open_table(void)
{
    cr_assert(uiw_half_open_init(&table));
}

static void close_table(void)
{
    for (unsigned i = 0; i < STREAMS; i++)
        go(i);
    cr_assert_eq(table.all.count, 0);
    cr_assert(base_list_is_empty(&table.all.entries));
    uiw_half_open_fini(&table);
}

TestSuite(uiw_half_open, .init = open_table, .fini = close_table);

Test(uiw_half_open, the_oldest_of_all)
{
    cr_assert_eq(excess("192.0.2.1", 9, 0), -1);
    come(0, "192.0.2.1");
    come(1, "192.0.2.2");
    come(2, "192.0.2.3");
    cr_assert_eq(excess("192.0.2.3", 9, 3), -1);
    cr_assert_eq(excess("192.0.2.3", 9, 2), 0);
    go(0);
    cr_assert_eq(excess("192.0.2.3", 9, 2), -1);
    cr_assert_eq(excess("192.0.2.3", 9, 1), 1);
}

/* A stream whose Request is complete leaves from the middle of the list. */
Test(uiw_half_open, in_any_order)
{
    for (unsigned i = 0; i < 5; i++)
        come(i, "192.0.2.1");
    go(2);
    go(4);
    go(0);
    go(0); /* once more: nothing happens */
    cr_assert_eq(table.all.count, 2);
    cr_assert_eq(excess("192.0.2.2", 9, 1), 1);
    come(0, "192.0.2.1");
    go(1);
    cr_assert_eq(excess("192.0.2.1", 1, NO_MAX), 3);
    go(3);
    cr_assert_eq(excess("192.0.2.1", 0, NO_MAX), 0);
}

/*
 * A source with more than its share loses its own oldest stream, even if other sources have older
 * ones and the total is exceeded.
 */
Test(uiw_half_open, the_oldest_of_the_source)
{
    come(0, "192.0.2.1");
    come(1, "192.0.2.2");
    come(2, "192.0.2.2");
    cr_assert_eq(excess("192.0.2.2", 2, NO_MAX), -1);
    cr_assert_eq(excess("192.0.2.2", 1, NO_MAX), 1);
    cr_assert_eq(excess("192.0.2.2", 1, 2), 1);
    cr_assert_eq(excess("192.0.2.1", 1, 2), 0);
    cr_assert_eq(excess("192.0.2.3", 1, 2), 0);
    cr_assert_eq(excess("192.0.2.3", 1, NO_MAX), -1);
}

Test(uiw_half_open, what_counts_as_one_source)
{
    static const struct {
        const char *first;
        const char *second;
        bool same;
    } pairs[] = {
        {"192.0.2.1", "192.0.2.1", true},
        {"192.0.2.1", "192.0.3.1", false},
        {"2001:db8:1:2::1", "2001:db8:1:2:ffff::2", true},
        {"2001:db8:1:2::1", "2001:db8:1:3::1", false},
        {"fe80::1", "fe80::1", true},
        {"fe80::1", "fe80::2", false}, /* neighbours on one link */
        {"::1", "127.0.0.1", false},
    };

    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        come(0, pairs[i].first);
        come(1, pairs[i].second);
        cr_assert_eq(excess(pairs[i].second, 1, NO_MAX), pairs[i].same ? 0 : -1, "pair %zu", i);
        go(0);
        go(1);
    }
}

/* Addresses that shared a bucket in one table must not share one in another. */
Test(uiw_half_open, the_hash_is_secret)
{
    static struct uiw_half_open_table other;

    cr_assert(uiw_half_open_init(&other));
    cr_assert_neq(memcmp(table.secret, other.secret, sizeof(other.secret)), 0);
    uiw_half_open_fini(&other);
}

/* Compares the table with a list that is searched from the beginning. */
Test(uiw_half_open, like_a_plain_list)
{
    unsigned order[STREAMS]; /* by age */
    unsigned source[STREAMS];
    unsigned count = 0;
    uint32_t random = 1;

    for (unsigned turn = 0; turn < 20000; turn++) {
        unsigned stream;
        unsigned from;
        unsigned of_source = 0;
        int expected = -1;
        char text[32];

        random = random * 1664525u + 1013904223u;
        stream = (random >> 8) % STREAMS;
        from = (random >> 20) % 7;
        for (unsigned i = 0; i < count; i++)
            of_source += source[order[i]] == from;
        for (unsigned i = count; i-- > 0;)
            if (of_source > 9 ? source[order[i]] == from : count > 40)
                expected = (int)order[i];
        (void)snprintf(text, sizeof(text), "198.51.100.%u", from);
        cr_assert_eq(excess(text, 9, 40), expected, "turn %u", turn);
        if (streams[stream].source) {
            unsigned at = 0;

            while (order[at] != stream)
                at++;
            memmove(&order[at], &order[at + 1], (--count - at) * sizeof(order[0]));
            go(stream);
        } else {
            order[count++] = stream;
            source[stream] = from;
            come(stream, text);
        }
        cr_assert_eq(table.all.count, count);
    }
}
