/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Copies a file from one machine to another without a copy inside the programs: both map their
 * file, and the client reads from one mapping into the other, with several Reads outstanding.
 *
 *     file_copy server FILE [PORT]
 *     file_copy client HOST PORT FILE
 */
#include "setup.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE_SIZE ((size_t)1 << 20)

static void *map_file(int file, size_t length, int protection)
{
    void *start = mmap(NULL, length, protection, MAP_SHARED, file, 0);

    if (start == MAP_FAILED)
        fail("mmap", strerror(errno));
    return start;
}

static void serve(const char *name, const char *port)
{
    int file = open(name, O_RDONLY);
    struct adapter adapter;
    struct place content;
    struct stat status;

    if (file < 0 || fstat(file, &status) != 0)
        fail(name, strerror(errno));
    if (status.st_size == 0)
        fail(name, "there is nothing in it");
    adapter_open(&adapter);
    (void)memory_register(&adapter, map_file(file, (size_t)status.st_size, PROT_READ),
                          (size_t)status.st_size, IT_PRIV_LOCAL_READ | IT_PRIV_REMOTE_READ,
                          &content);
    listen_at(&adapter, adapter.events, port);
    for (;;) {
        (void)poll(&(struct pollfd){.fd = adapter.fd, .events = POLLIN}, 1, -1);
        serve_place(&adapter, &content);
    }
}

/* A copy in progress. */
struct copy {
    struct adapter adapter;
    it_ep_handle_t ep;
    struct place theirs;
    it_lmr_handle_t lmr;
    char *mine;
    uint64_t asked; /* octets for which Reads have been posted */
    unsigned int under_way;
};

static void ask_for_next(struct copy *copy)
{
    uint64_t rest = copy->theirs.length - copy->asked;
    it_lmr_triplet_t piece =
        piece_of(copy->lmr, copy->mine + copy->asked, rest < PIECE_SIZE ? rest : PIECE_SIZE);

    if (rest == 0)
        return;
    check(it_post_rdma_read(copy->ep, &piece, 1, 0, TOLD, copy->theirs.address + copy->asked,
                            copy->theirs.key),
          "it_post_rdma_read");
    copy->asked += piece.length;
    copy->under_way++;
}

static void fetch(const char *host, const char *port, const char *name)
{
    int file = open(name, O_RDWR | O_CREAT | O_TRUNC, 0666);
    struct copy copy = {0};

    if (file < 0)
        fail(name, strerror(errno));
    adapter_open(&copy.adapter);
    copy.ep = connect_to(&copy.adapter, host, port, &copy.theirs);
    if (ftruncate(file, (off_t)copy.theirs.length) != 0)
        fail(name, strerror(errno));
    copy.mine = map_file(file, copy.theirs.length, PROT_READ | PROT_WRITE);
    copy.lmr = memory_register(&copy.adapter, copy.mine, copy.theirs.length, IT_PRIV_LOCAL, NULL);
    for (int i = 0; i < READS_MAX; i++)
        ask_for_next(&copy);
    for (; copy.under_way > 0; copy.under_way--) {
        it_event_t event = wait_for(&copy.adapter, IT_DTO_RDMA_READ_CMPL_EVENT);

        completed(&event);
        ask_for_next(&copy);
    }
    printf("copied: %llu octets\n", (unsigned long long)copy.asked);
    disconnect(&copy.adapter, copy.ep);
}

int main(int argc, char **argv)
{
    if (argc >= 3 && argc <= 4 && strcmp(argv[1], "server") == 0)
        serve(argv[2], argc == 4 ? argv[3] : "0");
    else if (argc == 5 && strcmp(argv[1], "client") == 0)
        fetch(argv[2], argv[3], argv[4]);
    else
        fail("usage", "file_copy server FILE [PORT] | client HOST PORT FILE");
    return 0;
}
