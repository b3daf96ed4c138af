/* SPDX-License-Identifier: BSD-2-Clause */
/* One rule: use tcp|sdp|both ROLE PROGRAM ADDRESS[/PREFIX]:PORT[-PORT] */
#ifndef ITAPI_ULP_SDP_POLICY_SDP_RULE_H
#define ITAPI_ULP_SDP_POLICY_SDP_RULE_H

#include "policy/sdp_policy.h"

#define SDP_RULE_TEXT_MAX    256
#define SDP_RULE_PROGRAM_MAX 64

struct sdp_rule {
    bool sdp;
    bool role[2];                       /* by enum sdp_policy_role */
    char program[SDP_RULE_PROGRAM_MAX]; /* a pattern for fnmatch(3) */
    uint8_t address[16];                /* IPv4 as IPv4-mapped IPv6 */
    unsigned prefix;                    /* bits of it that are compared */
    uint16_t port[2];                   /* first and last */
    unsigned line;                      /* 0: built in */
    char text[SDP_RULE_TEXT_MAX];
};

/* Returns NULL, or what was expected instead. */
const char *sdp_rule_parse(const char *text, unsigned line, struct sdp_rule *rule);

bool sdp_rule_matches(const struct sdp_rule *rule, enum sdp_policy_role role, const char *program,
                      const struct sockaddr *address);

/*
 * Parses ADDRESS[/PREFIX] or *, in brackets for IPv6, and :PORT[-PORT] or :*. Returns false if it
 * is neither.
 */
bool sdp_rule_place(const char *text, struct sdp_rule *rule);

#endif /* ITAPI_ULP_SDP_POLICY_SDP_RULE_H */
