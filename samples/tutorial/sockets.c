/* SPDX-License-Identifier: BSD-2-Clause */
#include "sockets.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

void fail(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

int listen_on(const char *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((in_port_t)atoi(port))};
    socklen_t length = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM, 0);

    if (bind(listener, (struct sockaddr *)&address, sizeof(address)) != 0 ||
        listen(listener, SOMAXCONN) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &length) != 0)
        fail("listen", strerror(errno));
    printf("listening on port %d\n", ntohs(address.sin_port));
    fflush(stdout);
    return listener;
}

int connect_to(const char *host, const char *port)
{
    struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found;
    int error = getaddrinfo(host, port, &hints, &found);
    int tcp;

    if (error != 0)
        fail(host, gai_strerror(error));
    tcp = socket(found->ai_family, SOCK_STREAM, 0);
    if (connect(tcp, found->ai_addr, found->ai_addrlen) != 0)
        fail(host, strerror(errno));
    freeaddrinfo(found);
    return tcp;
}

bool read_line(int tcp, char line[LINE_SIZE])
{
    size_t length = 0;

    while (length < LINE_SIZE && recv(tcp, line + length, 1, 0) == 1) {
        if (line[length] == '\n') {
            line[length] = '\0';
            return true;
        }
        length++;
    }
    return false;
}

void write_line(int tcp, const char *line)
{
    char text[LINE_SIZE + 1];
    int length = snprintf(text, sizeof(text), "%.*s\n", LINE_SIZE - 1, line);

    /* If the peer has disconnected, the missing answer shows it. */
    (void)!send(tcp, text, (size_t)length, MSG_NOSIGNAL);
}

int run(int argc, char **argv, void (*serve)(int tcp), void (*ask)(int tcp, char **texts))
{
    if (argc >= 2 && argc <= 3 && strcmp(argv[1], "server") == 0) {
        int listener = listen_on(argc == 3 ? argv[2] : "0");

        for (;;) {
            int tcp = accept(listener, NULL, NULL);

            serve(tcp);
            close(tcp);
        }
    }
    if (argc >= 5 && strcmp(argv[1], "client") == 0) {
        int tcp = connect_to(argv[2], argv[3]);

        ask(tcp, argv + 4);
        close(tcp);
        return 0;
    }
    fprintf(stderr, "usage: %s server [PORT]\n       %s client HOST PORT TEXT...\n", argv[0],
            argv[0]);
    return 2;
}
