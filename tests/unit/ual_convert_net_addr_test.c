/* SPDX-License-Identifier: BSD-2-Clause */
/* it_convert_net_addr: every pair of kinds, and arguments that are no address. */
#include "it_api.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <string.h>

static const it_net_addr_type_t kinds[] = {IT_IPV4, IT_IPV6, IT_IB_GID, IT_VIA_HOSTADDR};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* The text is an IPv6 address for a GID. For VIA its characters are the octets. */
static it_net_addr_t address(it_net_addr_type_t kind, const char *text)
{
    it_net_addr_t made;

    memset(&made, 0, sizeof(made));
    made.addr_type = kind;
    switch ((unsigned)kind) {
    case IT_IPV4:
        cr_assert_eq(inet_pton(AF_INET, text, &made.addr.ipv4), 1);
        break;
    case IT_IPV6:
        cr_assert_eq(inet_pton(AF_INET6, text, &made.addr.ipv6), 1);
        break;
    case IT_IB_GID:
        cr_assert_eq(inet_pton(AF_INET6, text, &made.addr.gid), 1);
        break;
    default:
        made.addr.via.len = (uint16_t)strlen(text);
        memcpy(made.addr.via.hostaddr, text, strlen(text));
        break;
    }
    return made;
}

static const struct row {
    it_net_addr_type_t from;
    const char *text;
    const char *results[KINDS]; /* in the order of `kinds`; NULL: cannot be converted */
} rows[] = {
    {IT_IPV4, "192.0.2.7", {"192.0.2.7", "::ffff:192.0.2.7", "::ffff:192.0.2.7", NULL}},
    {IT_IPV4, "0.0.0.0", {"0.0.0.0", "::ffff:0.0.0.0", "::ffff:0.0.0.0", NULL}},
    {IT_IPV6, "::ffff:192.0.2.7", {"192.0.2.7", "::ffff:192.0.2.7", "::ffff:192.0.2.7", NULL}},
    {IT_IPV6, "2001:db8::1", {NULL, "2001:db8::1", "2001:db8::1", NULL}},
    {IT_IPV6, "::192.0.2.7", {NULL, "::192.0.2.7", "::192.0.2.7", NULL}},
    {IT_IPV6, "::", {NULL, "::", "::", NULL}},
    {IT_IB_GID, "fe80::1", {NULL, "fe80::1", "fe80::1", NULL}},
    {IT_IB_GID, "::ffff:10.1.2.3", {"10.1.2.3", "::ffff:10.1.2.3", "::ffff:10.1.2.3", NULL}},
    {IT_VIA_HOSTADDR, "nine octs", {NULL, NULL, NULL, "nine octs"}},
    {IT_VIA_HOSTADDR, "", {NULL, NULL, NULL, ""}},
};

static void convert(const struct row *row, size_t kind, bool in_place)
{
    it_net_addr_t source = address(row->from, row->text);
    it_net_addr_t untouched, result, wanted;
    it_net_addr_t *to = in_place ? &source : &result;

    memset(&result, 0xa5, sizeof(result));
    untouched = *to;
    if (!row->results[kind]) {
        cr_assert_eq(it_convert_net_addr(&source, kinds[kind], to), IT_ERR_INVALID_CONVERSION,
                     "%s to %d", row->text, (int)kinds[kind]);
        cr_assert_eq(memcmp(to, &untouched, sizeof(untouched)), 0);
        return;
    }
    wanted = address(kinds[kind], row->results[kind]);
    cr_assert_eq(it_convert_net_addr(&source, kinds[kind], to), IT_SUCCESS, "%s to %d", row->text,
                 (int)kinds[kind]);
    cr_assert_eq(memcmp(to, &wanted, sizeof(wanted)), 0, "%s to %d", row->text, (int)kinds[kind]);
}

Test(ual_convert_net_addr, every_pair)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        for (size_t kind = 0; kind < KINDS; kind++) {
            convert(&rows[i], kind, false);
            convert(&rows[i], kind, true);
        }
    }
}

Test(ual_convert_net_addr, what_is_no_address)
{
    it_net_addr_t good = address(IT_IPV4, "192.0.2.7");
    it_net_addr_t bad = good;
    it_net_addr_t result;

    cr_assert_eq(it_convert_net_addr(NULL, IT_IPV4, &result), IT_ERR_FAULT);
    cr_assert_eq(it_convert_net_addr(&good, IT_IPV4, NULL), IT_ERR_FAULT);
    for (unsigned type = 0; type < 64; type++) {
        bool known =
            type == IT_IPV4 || type == IT_IPV6 || type == IT_IB_GID || type == IT_VIA_HOSTADDR;

        if (known)
            continue;
        bad.addr_type = (it_net_addr_type_t)type;
        cr_assert_eq(it_convert_net_addr(&bad, IT_IPV4, &result), IT_ERR_INVALID_NETADDR);
        cr_assert_eq(it_convert_net_addr(&good, (it_net_addr_type_t)type, &result),
                     IT_ERR_INVALID_CONVERSION);
    }
    bad = address(IT_VIA_HOSTADDR, "x");
    bad.addr.via.len = IT_MAX_VIA_ADDR_LEN;
    cr_assert_eq(it_convert_net_addr(&bad, IT_VIA_HOSTADDR, &result), IT_SUCCESS);
    bad.addr.via.len = IT_MAX_VIA_ADDR_LEN + 1;
    cr_assert_eq(it_convert_net_addr(&bad, IT_VIA_HOSTADDR, &result), IT_ERR_INVALID_NETADDR);
}
