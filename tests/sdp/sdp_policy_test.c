/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rules by program, role, address and port. The first matching rule counts. Also lines that are no
 * rules.
 */
#include "support/check.h"

#include "policy/sdp_policy.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[] = "/tmp/itapi_policy_XXXXXX";

static void remove_file(void)
{
    (void)unlink(path);
}

static int load(const char *text, struct sdp_policy **policy, char **complaint)
{
    FILE *file = fopen(path, "w");

    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
    return sdp_policy_load(path, policy, complaint);
}

static struct sockaddr_storage address_of(const char *text, uint16_t port)
{
    struct sockaddr_storage address = {0};
    struct sockaddr_in *in = (struct sockaddr_in *)&address;
    struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&address;

    if (inet_pton(AF_INET, text, &in->sin_addr) == 1) {
        in->sin_family = AF_INET;
        in->sin_port = htons(port);
    } else {
        CHECK(inet_pton(AF_INET6, text, &in6->sin6_addr) == 1);
        in6->sin6_family = AF_INET6;
        in6->sin6_port = htons(port);
    }
    return address;
}

static const char rules[] = "# a comment\n"
                            "\n"
                            "use tcp client curl* 192.0.2.0/24:80-89   # not these\n"
                            "use sdp client curl* *:*\n"
                            "use both server redis-server 127.0.0.1:6379\n"
                            "use tcp server * [2001:db8::/33]:*\n"
                            "use tcp * nc *:4242\n"
                            "use tcp listen redis-server *:*\n"
                            "patience 100\n"
                            "mapper-port 4000\n"
                            "key /nowhere/key\n"
                            "zcopy-from 0\n"
                            "crc off\n";

static const struct {
    enum sdp_policy_role role;
    const char *program, *address;
    uint16_t port;
    bool sdp;
    unsigned line; /* 0: a built-in rule */
} questions[] = {
    {SDP_POLICY_CLIENT, "curl", "192.0.2.7", 80, false, 3},
    {SDP_POLICY_CLIENT, "curl", "::ffff:192.0.2.7", 89, false, 3},
    {SDP_POLICY_CLIENT, "curl-x", "192.0.2.7", 90, true, 4},
    {SDP_POLICY_CLIENT, "curl", "192.0.3.7", 80, true, 4},
    {SDP_POLICY_CLIENT, "wget", "192.0.2.7", 80, true, 0},
    {SDP_POLICY_SERVER, "redis-server", "127.0.0.1", 6379, true, 5},
    {SDP_POLICY_SERVER, "redis-server", "127.0.0.1", 6380, false, 8},
    {SDP_POLICY_CLIENT, "redis-server", "127.0.0.1", 6380, true, 0},
    {SDP_POLICY_SERVER, "x", "2001:db8:7fff::1", 1, false, 6},
    {SDP_POLICY_SERVER, "x", "2001:db8:8000::1", 1, true, 0},
    {SDP_POLICY_SERVER, "nc", "0.0.0.0", 4242, false, 7},
    {SDP_POLICY_CLIENT, "nc", "::1", 4242, false, 7},
    {SDP_POLICY_SERVER, "sshd", "0.0.0.0", 22, false, 0},
    {SDP_POLICY_SERVER, "sshd-session", "::", 22, false, 0},
};

static void first_match_decides(const struct sdp_policy *policy)
{
    for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++) {
        struct sockaddr_storage address = address_of(questions[i].address, questions[i].port);
        struct sdp_policy_answer answer;

        sdp_policy_ask(policy, questions[i].role, questions[i].program, (struct sockaddr *)&address,
                       &answer);
        check_context(questions[i].program);
        CHECK_EQ(questions[i].sdp, answer.sdp);
        CHECK_EQ(questions[i].line, answer.line);
        CHECK(strcmp(answer.file, answer.line ? path : "built in") == 0);
    }
    check_context(NULL);
}

static void settings_are_read(const struct sdp_policy *policy)
{
    const struct sdp_policy_settings *settings = sdp_policy_settings(policy);

    CHECK_EQ(100, settings->patience_ms);
    CHECK_EQ(4000, settings->mapper_port);
    CHECK(strcmp(settings->key_file, "/nowhere/key") == 0);
    CHECK(settings->zcopy_set && settings->zcopy_from == 0 && settings->crc_off);
    CHECK_EQ(0, settings->negative_s);
}

/* The message names the line. */
static void bad_lines_are_told(void)
{
    static const char long_name[] =
        "use tcp client aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
        "aaaaaaaaaaaaaaaaaaaaaaaa *:*";
    static const char *const lines[] = {
        "use",
        "use tcp",
        "use udp client * *:*",
        "use tcp peer * *:*",
        "use tcp client * *",
        "use tcp client * 192.0.2.0/33:*",
        "use tcp client * 192.0.2:*",
        "use tcp client * *:70000",
        "use tcp client * *:9-8",
        "use tcp client * 2001:db8::zz:1",
        "use tcp client * [2001:db8::/129]:1",
        "use tcp client * *:* more",
        long_name,
        "patience",
        "patience -1",
        "patience 1 2",
        "mapper-port 0",
        "crc maybe",
        "speed 11",
    };

    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        struct sdp_policy *policy;
        char *complaint;
        char text[256];

        (void)snprintf(text, sizeof(text), "# first\n%s\n", lines[i]);
        check_context(lines[i]);
        CHECK(load(text, &policy, &complaint) < 0);
        CHECK(complaint && strstr(complaint, path) && strstr(complaint, ":2: expected: "));
        free(complaint);
    }
    check_context(NULL);
}

static void missing_file_is_told(void)
{
    struct sdp_policy *policy;
    char *complaint;

    CHECK(sdp_policy_load("/nowhere/sdp.conf", &policy, &complaint) < 0);
    CHECK(complaint && strstr(complaint, "/nowhere/sdp.conf"));
    free(complaint);
}

int main(void)
{
    struct sdp_policy *policy;
    char *complaint;
    int fd = mkstemp(path);

    CHECK(fd >= 0 && close(fd) == 0);
    check_at_end(remove_file);
    CHECK(load(rules, &policy, &complaint) == 0);
    first_match_decides(policy);
    settings_are_read(policy);
    sdp_policy_free(policy);
    bad_lines_are_told();
    missing_file_is_told();
    return 0;
}
