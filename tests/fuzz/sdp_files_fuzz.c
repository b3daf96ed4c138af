/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files that SDP reads: its policy, a key, a program that it_sdp is to start. The first octet
 * chooses. Each question to a policy that is accepted has an answer, and a refused one a complaint.
 */
#include "agree/sdp_agree_object.h"
#include "policy/sdp_policy.h"

#include "fuzz_file.h"
#include "ulp/launch/launch_program.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdbool.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void ask_for(const struct sdp_policy *policy, const struct sockaddr *address)
{
    static const char *const programs[] = {"ssh", "a.out", ""};
    struct sdp_policy_answer answer;

    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
        sdp_policy_ask(policy, SDP_POLICY_CLIENT, programs[i], address, &answer);
        require(answer.file && answer.text);
        sdp_policy_ask(policy, SDP_POLICY_SERVER, programs[i], address, &answer);
        require(answer.file && answer.text);
    }
}

static void ask(const struct sdp_policy *policy)
{
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(22)};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(65535)};

    four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    six.sin6_addr = in6addr_loopback;
    ask_for(policy, (const struct sockaddr *)(const void *)&four);
    ask_for(policy, (const struct sockaddr *)(const void *)&six);
    require(sdp_policy_settings(policy)->patience_ms <= 60000);
    require(sdp_policy_settings(policy)->negative_s <= 86400);
}

static void try_policy(const char *path)
{
    struct sdp_policy *policy = NULL;
    char *complaint;
    int status = sdp_policy_load(path, &policy, &complaint);

    require(status == 0 || (status < 0 && !policy && complaint));
    if (status == 0) {
        ask(policy);
        sdp_policy_free(policy);
    }
    free(complaint);
}

/* A key is 32 hexadecimal digits, whatever follows. */
static void try_key(const char *path, const uint8_t *data, size_t size)
{
    bool digits = size >= 2 * SDP_KEY_OCTETS;

    for (size_t i = 0; digits && i < 2 * SDP_KEY_OCTETS; i++)
        digits = isxdigit(data[i]) != 0;
    require(sdp_agree_read_key(path) == digits);
    require((sdp_agree_key() != NULL) == digits);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path;

    if (size == 0)
        return 0;
    path = fuzz_file(data + 1, size - 1);
    switch (data[0] % 3) {
    case 0:
        try_policy(path);
        break;
    case 1:
        try_key(path, data + 1, size - 1);
        break;
    default:
        (void)launch_kind_of(path);
        break;
    }
    return 0;
}
