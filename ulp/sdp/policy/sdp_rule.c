/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/sdp_rule.h"

#include <arpa/inet.h>
#include <fnmatch.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IPV4_BITS 96 /* length of the prefix ahead of an IPv4 address */

static const uint8_t ipv4_in_ipv6[12] = {[10] = 0xff, [11] = 0xff};

static bool parse_number(const char *text, unsigned most, unsigned *value)
{
    char *end;
    unsigned long found;

    if (*text < '0' || *text > '9')
        return false;
    found = strtoul(text, &end, 10);
    *value = (unsigned)found;
    return *end == '\0' && found <= most;
}

static bool parse_address(char *text, struct sdp_rule *rule)
{
    char *slash = strchr(text, '/');
    unsigned bits = 128;

    if (strcmp(text, "*") == 0) {
        rule->prefix = 0;
        return true;
    }
    if (slash)
        *slash++ = '\0';
    if (inet_pton(AF_INET, text, rule->address + 12) == 1) {
        memcpy(rule->address, ipv4_in_ipv6, sizeof(ipv4_in_ipv6));
        if (slash && !parse_number(slash, 32, &bits))
            return false;
        rule->prefix = slash ? bits + IPV4_BITS : 128;
        return true;
    }
    if (inet_pton(AF_INET6, text, rule->address) != 1 ||
        (slash && !parse_number(slash, 128, &bits)))
        return false;
    rule->prefix = bits;
    return true;
}

static bool parse_ports(char *text, struct sdp_rule *rule)
{
    char *dash = strchr(text, '-');
    unsigned first = 0;
    unsigned last = 65535;

    if (strcmp(text, "*") != 0) {
        if (dash)
            *dash++ = '\0';
        if (!parse_number(text, 65535, &first) || !parse_number(dash ? dash : text, 65535, &last) ||
            first > last)
            return false;
    }
    rule->port[0] = (uint16_t)first;
    rule->port[1] = (uint16_t)last;
    return true;
}

bool sdp_rule_place(const char *text, struct sdp_rule *rule)
{
    char copy[SDP_RULE_TEXT_MAX];
    char *colon;
    char *address = copy;

    if (strlen(text) >= sizeof(copy))
        return false;
    (void)strcpy(copy, text);
    colon = strrchr(copy, ':');
    if (!colon)
        return false;
    *colon = '\0';
    if (copy[0] == '[') {
        char *end = strchr(copy, ']');

        if (!end || (end[1] != '\0' && end[1] != '/'))
            return false;
        memmove(end, end + 1, strlen(end));
        address = copy + 1;
    }
    return parse_address(address, rule) && parse_ports(colon + 1, rule);
}

static bool parse_role(const char *text, struct sdp_rule *rule)
{
    static const struct {
        const char *name;
        bool role[2];
    } roles[] = {
        {"client", {[SDP_POLICY_CLIENT] = true}},
        {"connect", {[SDP_POLICY_CLIENT] = true}},
        {"server", {[SDP_POLICY_SERVER] = true}},
        {"listen", {[SDP_POLICY_SERVER] = true}},
        {"*", {true, true}},
    };

    for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
        if (strcmp(text, roles[i].name) != 0)
            continue;
        memcpy(rule->role, roles[i].role, sizeof(rule->role));
        return true;
    }
    return false;
}

/* Splits at blanks. Returns false if the number of words is not count. */
static bool split(char *text, char **words, int count)
{
    char *rest = NULL;

    text[strcspn(text, "#\r\n")] = '\0';
    for (int i = 0; i < count; i++) {
        words[i] = strtok_r(i == 0 ? text : NULL, " \t", &rest);
        if (!words[i])
            return false;
    }
    return strtok_r(NULL, " \t", &rest) == NULL;
}

const char *sdp_rule_parse(const char *text, unsigned line, struct sdp_rule *rule)
{
    char copy[SDP_RULE_TEXT_MAX];
    char *words[5];

    memset(rule, 0, sizeof(*rule));
    rule->line = line;
    if (strlen(text) >= sizeof(copy))
        return "a shorter line";
    (void)strcpy(copy, text);
    (void)strcpy(rule->text, text);
    rule->text[strcspn(rule->text, "\r\n")] = '\0';
    if (!split(copy, words, 5))
        return "use tcp|sdp ROLE PROGRAM ADDRESS:PORT";
    rule->sdp = strcmp(words[1], "tcp") != 0;
    if (rule->sdp && strcmp(words[1], "sdp") != 0 && strcmp(words[1], "both") != 0)
        return "tcp or sdp behind use";
    if (!parse_role(words[2], rule))
        return "client, server or * as role";
    if (strlen(words[3]) >= sizeof(rule->program))
        return "a shorter name of a program";
    (void)strcpy(rule->program, words[3]);
    if (!sdp_rule_place(words[4], rule))
        return "ADDRESS[/PREFIX]:PORT[-PORT], * for either, [] around IPv6";
    return NULL;
}

/* ---- Matching ------------------------------------------------------------------------------- */

static bool within(const uint8_t address[16], const struct sdp_rule *rule)
{
    const unsigned octets = rule->prefix / 8;
    const unsigned bits = rule->prefix % 8;

    return memcmp(address, rule->address, octets) == 0 &&
           (bits == 0 || (address[octets] ^ rule->address[octets]) >> (8 - bits) == 0);
}

static bool at_place(const struct sdp_rule *rule, const struct sockaddr *address)
{
    uint8_t octets[16];
    uint16_t port;

    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *in = (const void *)address;

        memcpy(octets, ipv4_in_ipv6, sizeof(ipv4_in_ipv6));
        memcpy(octets + 12, &in->sin_addr, 4);
        port = ntohs(in->sin_port);
    } else if (address->sa_family == AF_INET6) {
        const struct sockaddr_in6 *in6 = (const void *)address;

        memcpy(octets, &in6->sin6_addr, sizeof(octets));
        port = ntohs(in6->sin6_port);
    } else {
        return false;
    }
    return within(octets, rule) && port >= rule->port[0] && port <= rule->port[1];
}

bool sdp_rule_matches(const struct sdp_rule *rule, enum sdp_policy_role role, const char *program,
                      const struct sockaddr *address)
{
    return rule->role[role] && at_place(rule, address) && fnmatch(rule->program, program, 0) == 0;
}
