/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connections made one after the other leave no descriptor and no memory behind: 10,000 of them
 * with ITAPI_TEST_LONG in the environment. Neither do threads that end after a call.
 */
#include "exs_kit.h"

#include <dirent.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define CONNECTIONS 200
#define LONG        10000
#define WARM_UP     50
#define CALLERS     1500

struct usage {
    size_t descriptors;
    size_t heap;
    size_t mapped; /* pages */
};

static struct usage usage_now(void)
{
    struct usage usage = {0};
    DIR *folder = opendir("/proc/self/fd");
    FILE *file = fopen("/proc/self/statm", "r");

    CHECK(folder && file);
    while (readdir(folder))
        usage.descriptors++;
    CHECK(fscanf(file, "%zu", &usage.mapped) == 1);
    (void)closedir(folder);
    (void)fclose(file);
    usage.heap = mallinfo2().uordblks;
    return usage;
}

/* Makes one connection with some octets each way and each kind of close in turn. */
static void connect_once(int listener, int port, int round)
{
    struct sockaddr_in address = exs_kit_address(port);
    exs_qhandle_t queue = exs_qcreate(4);
    exs_acceptaddr_t element = {0};
    exs_event_t event;
    char text[8];
    int client = exs_socket(PF_INET, SOCK_STREAM, 0);
    int server;

    CHECK(client >= 0);
    CHECK_STARTS(exs_accept(listener, &element, 1, 0, queue));
    CHECK_STARTS(exs_blocking_connect(client, (struct sockaddr *)&address, sizeof(address)));
    event = exs_kit_expect(queue, EXS_EVT_ACCEPT, 0);
    server = event.exs_evt_union.exs_evt_accept.exs_evt_new_socket;
    CHECK_RESULT(4, exs_write(client, "abcd", 4));
    if (round % 2)
        CHECK_RESULT(4, exs_read(server, text, sizeof(text)));
    CHECK_STARTS(exs_close(round % 3 ? client : server,
                           round % 5 ? EXS_BLOCK : EXS_BLOCK | EXS_DONTLINGER, NULL, NULL));
    /* The other end may just learn that it was cut off. */
    if (exs_close(round % 3 ? server : client, EXS_BLOCK, NULL, NULL) != 0)
        CHECK(round % 5 == 0 && errno == ECONNRESET);
    CHECK_STARTS(exs_qdelete(queue));
}

static void *write_octet(void *argument)
{
    const struct exs_pair *pair = argument;

    CHECK_RESULT(1, exs_write(pair->client, "a", 1));
    return NULL;
}

static void call_from_threads(void)
{
    struct exs_pair pair;
    pthread_t thread;
    char octet;

    exs_pair_open(&pair, SOCK_STREAM);
    for (int i = 0; i < CALLERS; i++) {
        CHECK_RESULT(0, pthread_create(&thread, NULL, write_octet, &pair));
        CHECK_RESULT(1, exs_read(pair.server, &octet, 1));
        CHECK_RESULT(0, pthread_join(thread, NULL));
    }
    exs_pair_close(&pair);
}

int main(void)
{
    int rounds = getenv("ITAPI_TEST_LONG") ? LONG : CONNECTIONS;
    struct usage before;
    struct usage after;
    int port;
    int listener;

    /* A thread that frees for the first time would reserve 64 MiB for an arena of its own. */
    (void)mallopt(M_ARENA_MAX, 1);
    listener = exs_kit_listen(SOCK_STREAM, &port);
    for (int i = 0; i < WARM_UP; i++)
        connect_once(listener, port, i);
    before = usage_now();
    for (int i = 0; i < rounds; i++)
        connect_once(listener, port, i);
    call_from_threads();
    after = usage_now();
    printf("descriptors %zu -> %zu, heap %zu -> %zu, pages %zu -> %zu\n", before.descriptors,
           after.descriptors, before.heap, after.heap, before.mapped, after.mapped);
    /* The last connections may not be freed yet, which is a small part of all. */
    CHECK(after.descriptors <= before.descriptors + 16);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    CHECK(after.heap <= before.heap + (size_t)32 * 20000);
    CHECK(after.mapped <= before.mapped + (size_t)32 * 400);
#endif
    CHECK_STARTS(exs_blocking_close(listener));
    return 0;
}
