/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/sdp_explain.h"

#include "agree/sdp_agree.h"
#include "agree/sdp_agree_message.h"
#include "policy/sdp_rule.h"
#include "ulp/launch/launch_program.h"

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MISUSED 126

/* The name by which the library will know the program. */
static const char *short_name(const char *program)
{
    const char *slash = strrchr(program, '/');

    return slash ? slash + 1 : program;
}

static bool parse_place(const char *text, struct sockaddr_in6 *address)
{
    struct sdp_rule rule = {.prefix = 0};

    if (!sdp_rule_place(text, &rule) || rule.prefix != 128 || rule.port[0] != rule.port[1])
        return false;
    *address = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = htons(rule.port[0])};
    memcpy(&address->sin6_addr, rule.address, sizeof(rule.address));
    return true;
}

/* Returns true if the address is one of this host. */
static bool is_own(const struct sockaddr_in6 *address)
{
    struct sockaddr_in6 any = *address;
    uint8_t octets[16];
    uint16_t port;
    bool own;
    int fd;

    if (sdp_address_get((const struct sockaddr *)address, octets, &port) &&
        sdp_address_local(octets))
        return true;
    any.sin6_port = 0;
    fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return false;
    own = bind(fd, (struct sockaddr *)&any, sizeof(any)) == 0;
    (void)close(fd);
    return own;
}

static void explain_peer(const struct sockaddr_in6 *address,
                         const struct sdp_policy_settings *settings)
{
    const unsigned mapper = settings->mapper_port ? settings->mapper_port : SDP_MAPPER_PORT;
    const uint16_t port = ntohs(address->sin6_port);

    if (is_own(address))
        (void)printf("peer: on this host; %s listens on port %u under it_sdp now\n",
                     sdp_presence_is_there(port) ? "a program" : "no program", port);
    else if (settings->key_file)
        (void)printf("peer: another host; it is asked at UDP port %u, with the key in %s\n", mapper,
                     settings->key_file);
    else
        (void)printf("peer: another host; TCP, as there is no key to share with it\n");
}

static bool explain_program(const char *program)
{
    static const char *const why[] = {
        [LAUNCH_STATIC] = "statically linked",
        [LAUNCH_PRIVILEGED] = "it gets rights by its file (setuid, setgid or capabilities)",
        [LAUNCH_FOREIGN] = "built for another kind of processor",
    };
    enum launch_kind kind;
    char path[PATH_MAX];

    if (launch_find(program, path) != 0)
        return true;
    kind = launch_kind_of(path);
    if (kind != LAUNCH_FITS)
        (void)printf("program: TCP: %s\n", why[kind]);
    return kind == LAUNCH_FITS;
}

int sdp_explain(const struct sdp_policy *policy, int argc, char **argv)
{
    struct sdp_policy_answer answer;
    struct sockaddr_in6 address;
    const bool client = argc == 3 && strcmp(argv[0], "client") == 0;

    if (argc != 3 || (!client && strcmp(argv[0], "server") != 0) ||
        !parse_place(argv[2], &address)) {
        (void)fputs("it_sdp: --explain client|server PROGRAM ADDRESS:PORT\n", stderr);
        return MISUSED;
    }
    sdp_policy_ask(policy, client ? SDP_POLICY_CLIENT : SDP_POLICY_SERVER, short_name(argv[1]),
                   (struct sockaddr *)&address, &answer);
    (void)printf("%s as a %s, %s: %s\n", short_name(argv[1]), argv[0], argv[2],
                 answer.sdp ? "SDP, if the other end agrees; else TCP" : "TCP");
    if (answer.line > 0)
        (void)printf("rule: %s:%u: %s\n", answer.file, answer.line, answer.text);
    else
        (void)printf("rule: %s: %s\n", answer.file, answer.text);
    if (explain_program(argv[1]) && answer.sdp && client)
        explain_peer(&address, sdp_policy_settings(policy));
    return 0;
}
