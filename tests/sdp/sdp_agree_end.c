/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One end of a connection between two hosts, for the script agree_between_hosts:
 *   server PORT KEY|- ours|stranger CONNECTIONS   tells "ready", then a line for each connection
 *   client ADDRESS PORT KEY|- CONNECTIONS         a line for each connection
 *   mapper liar|silent                            at the mapper's port, until it is killed
 * With $HASTY the client is patient for 200 ms, else for 3 s. A line: sdp or tcp; a server adds the
 * octets that its program would have read, a client whether it asked, and the microseconds between
 * the established connection and its first octet.
 */
#include "agree/sdp_agree.h"
#include "agree/sdp_agree_message.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void require(int good, const char *what)
{
    if (good)
        return;
    perror(what);
    exit(1);
}

static void start(const char *key)
{
    static const struct sdp_agree_host host = {0};
    const struct sdp_agree_settings settings = {.key_file = strcmp(key, "-") != 0 ? key : NULL,
                                                .patience_ms = getenv("HASTY") ? 200 : 3000};

    require(sdp_agree_start(&host, &settings) == 0, "sdp_agree_start");
}

static const char *decide(struct sdp_agreement *agreement, enum sdp_agree_call call)
{
    enum sdp_agree_verdict verdict;
    struct sdp_agree_wait wait;

    if (!agreement)
        return "tcp";
    while ((verdict = sdp_agree_settle(agreement, call, &wait)) == SDP_WAIT) {
        struct pollfd fds = {.fd = wait.fd[0], .events = POLLIN};

        (void)poll(&fds, 1, wait.timeout_us < 0 ? -1 : (int)(wait.timeout_us / 1000 + 1));
    }
    sdp_agree_free(agreement);
    return verdict == SDP_CONVERT ? "sdp" : "tcp";
}

static int server(char **argv)
{
    struct sockaddr_in6 address = {.sin6_family = AF_INET6,
                                   .sin6_port = htons((uint16_t)atoi(argv[0]))};
    const int on = 1;
    const int ours = strcmp(argv[2], "ours") == 0;
    int listener = socket(AF_INET6, SOCK_STREAM, 0);

    start(argv[1]);
    (void)setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    require(bind(listener, (struct sockaddr *)&address, sizeof(address)) == 0, "bind");
    require(listen(listener, 8) == 0, "listen");
    if (ours)
        sdp_agree_listening(listener);
    require(puts("ready") >= 0 && fflush(stdout) == 0, "ready");
    for (int i = atoi(argv[3]); i > 0; i--) {
        char text[256] = "";
        size_t length = 0;
        ssize_t more;
        int fd = accept(listener, NULL, NULL);
        const char *verdict;

        require(fd >= 0, "accept");
        verdict = decide(ours ? sdp_agree_accepted(fd, NULL) : NULL, SDP_READS);
        while ((more = read(fd, text + length, sizeof(text) - 1 - length)) > 0)
            length += (size_t)more;
        (void)printf("%s %s\n", verdict, text);
        (void)fflush(stdout);
        (void)close(fd);
    }
    return 0;
}

static long long now_us(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

static int client(char **argv)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)atoi(argv[1]))};

    require(inet_pton(AF_INET, argv[0], &address.sin_addr) == 1, "inet_pton");
    start(argv[2]);
    for (int i = atoi(argv[3]); i > 0; i--) {
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        struct sdp_agreement *agreement =
            sdp_agree_connecting(fd, (struct sockaddr *)&address, sizeof(address));
        const char *asked = agreement ? "asked" : "known";
        long long connected;
        const char *verdict;
        char octet;

        require(connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0, "connect");
        connected = now_us();
        verdict = decide(agreement, SDP_WRITES);
        (void)printf("%s %s %lld\n", verdict, asked, now_us() - connected);
        require(write(fd, "hello", 5) == 5, "write");
        (void)shutdown(fd, SHUT_WR);
        while (read(fd, &octet, 1) > 0) {
        }
        (void)close(fd);
    }
    return 0;
}

/* Answers yes to everything, or nothing. */
static void mapper(char **argv)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(SDP_MAPPER_PORT)};
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    uint8_t octets[SDP_NOTE_OCTETS];

    require(bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0, "bind");
    require(puts("ready") >= 0 && fflush(stdout) == 0, "ready");
    for (;;) {
        struct sockaddr_in from;
        socklen_t length = sizeof(from);
        struct sdp_note note;

        if (recvfrom(fd, octets, sizeof(octets), 0, (struct sockaddr *)&from, &length) < 0 ||
            strcmp(argv[0], "liar") != 0 || !sdp_note_get(octets, sizeof(octets), &note))
            continue;
        note.type = note.type == SDP_NOTE_LISTENS ? SDP_NOTE_PERHAPS : SDP_NOTE_YES;
        memset(note.server_nonce, 0x77, SDP_NONCE_OCTETS);
        sdp_note_put(&note, (const uint8_t *)"not the site's key", octets);
        (void)sendto(fd, octets, sizeof(octets), 0, (struct sockaddr *)&from, length);
    }
}

int main(int argc, char **argv)
{
    if (argc == 6 && strcmp(argv[1], "server") == 0)
        return server(argv + 2);
    if (argc == 6 && strcmp(argv[1], "client") == 0)
        return client(argv + 2);
    if (argc == 3 && strcmp(argv[1], "mapper") == 0)
        mapper(argv + 2);
    return 2;
}
