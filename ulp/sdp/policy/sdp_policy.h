/* SPDX-License-Identifier: BSD-2-Clause */
/* The rules file: which sockets may become SDP. docs/sdp.md describes its language. */
#ifndef ITAPI_ULP_SDP_POLICY_SDP_POLICY_H
#define ITAPI_ULP_SDP_POLICY_SDP_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

struct sdp_policy;

enum sdp_policy_role {
    SDP_POLICY_CLIENT, /* calls connect; the address is the peer's */
    SDP_POLICY_SERVER  /* calls listen, or has accepted; the address is its own */
};

struct sdp_policy_answer {
    bool sdp;         /* SDP if the peer agrees; false: TCP */
    unsigned line;    /* of the rule in the file; 0: no rule matches */
    const char *file; /* or "built in" */
    const char *text; /* the rule; a built-in rule is followed by its reason */
};

/* The other settings of the file; 0 or NULL: not set. */
struct sdp_policy_settings {
    const char *key_file;  /* configured, $IT_SDP_KEY, the site's, the user's; or NULL */
    const char *interface; /* IT-API's name of the Interface */
    uint16_t mapper_port;
    uint32_t patience_ms;
    uint32_t negative_s;
    uint32_t zcopy_from; /* octets; valid if zcopy_set */
    bool zcopy_set;
    bool crc_off;
};

/*
 * path NULL: $IT_SDP_CONFIG, otherwise SYSCONFDIR/itapi/sdp.conf, otherwise only the built-in
 * rules. The built-in rules are appended to those of the file. Below 0: -errno, and *complaint
 * (freed by the caller) is a line with the place and the mistake. Later calls do not read the file
 * again.
 */
int sdp_policy_load(const char *path, struct sdp_policy **policy, char **complaint);
void sdp_policy_free(struct sdp_policy *policy);

/* program: the last part of its path. Thread-safe; uses no heap and no file. */
void sdp_policy_ask(const struct sdp_policy *policy, enum sdp_policy_role role, const char *program,
                    const struct sockaddr *address, struct sdp_policy_answer *answer);

const struct sdp_policy_settings *sdp_policy_settings(const struct sdp_policy *policy);

/*
 * Returns ~/.config/itapi/sdp.key, whether it exists or not; freed by the caller. NULL: no home
 * directory.
 */
char *sdp_policy_home_key(void);

/* Returns the name of this process in rules: the last part of the name it was started by. */
const char *sdp_policy_program(void);

#endif /* ITAPI_ULP_SDP_POLICY_SDP_POLICY_H */
