/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a connection that is not used keeps: one page for what it has sent, one for what it has got,
 * and the used parts of its objects. The page of the peer's Hello is given back.
 */
#include "connection/sdp_object.h"
#include "sdp_kit.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Sanitizers' allocators have memory of their own. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MEASURES_MEMORY false
#else
#define MEASURES_MEMORY true
#endif

static struct sdp_connection *pair[2];

/* Returns how many pages are there from a page on, of so many octets. */
static unsigned pages(struct sdp_connection *connection, unsigned char *first, size_t octets)
{
    static unsigned char resident[1 << 16];
    size_t count = (octets + (size_t)sysconf(_SC_PAGESIZE) - 1) / (size_t)sysconf(_SC_PAGESIZE);
    unsigned there = 0;

    CHECK(count <= sizeof(resident));
    CHECK(pthread_mutex_lock(&connection->lock) == 0);
    CHECK(mincore(first, octets, resident) == 0);
    CHECK(pthread_mutex_unlock(&connection->lock) == 0);
    for (size_t i = 0; i < count; i++)
        there += resident[i] & 1u;
    return there;
}

/*
 * Returns true if the kernel may not make huge pages of the memory: one octet would need 2 MiB
 * where it makes them unasked.
 */
static bool has_small_pages(const void *memory)
{
    FILE *file = fopen("/proc/self/smaps", "re");
    char line[512];
    bool inside = false;
    bool small = false;

    CHECK(file != NULL);
    while (fgets(line, sizeof(line), file)) {
        unsigned long from;
        unsigned long to;

        if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
            inside = (uintptr_t)memory >= from && (uintptr_t)memory < to;
        else if (inside && strncmp(line, "VmFlags:", 8) == 0)
            small = strstr(line, " nh") != NULL;
    }
    CHECK(fclose(file) == 0);
    return small;
}

/* Both have heard the Hello before the first octet, which arrives in the second slot. */
static void greeted(void)
{
    sdp_kit_pair(pair, NULL);
    for (unsigned i = 0; i < 2; i++) {
        sdp_watch(pair[i], SDP_WATCH_NOTHING);
        sdp_kit_send_stream(pair[i], 0, 1, 1);
    }
    for (unsigned i = 0; i < 2; i++)
        sdp_kit_check_stream(pair[i], 0, 1, 1);
    for (unsigned i = 0; i < 2; i++) {
        CHECK_EQ(0, pages(pair[i], sdp_slot(pair[i], 0), 1));
        CHECK_EQ(2, pages(pair[i], pair[i]->memory, pair[i]->memory_size));
        CHECK(access("/sys/kernel/mm/transparent_hugepage", F_OK) != 0 ||
              has_small_pages(pair[i]->memory));
    }
}

/* Messages still arrive in the first slot when its turn comes. */
static void goes_on(void)
{
    for (unsigned i = 0; i < 3 * SDP_BUFFERS; i++) {
        sdp_kit_send_stream(pair[0], i * 100, 100, 100);
        sdp_kit_check_stream(pair[1], i * 100, 100, 100);
    }
    CHECK_EQ(1, pages(pair[1], sdp_slot(pair[1], 0), 1));
    CHECK(sdp_close(pair[0], NULL) == 0 && sdp_close(pair[1], NULL) == 0);
}

/* ---- All of it ------------------------------------------------------------------------------ */

#define MANY 200u

/* Returns the value of a line of a file in /proc, in KiB. */
static long line_of(const char *path, const char *name)
{
    FILE *file = fopen(path, "re");
    char line[256];
    long value = -1;

    CHECK(file != NULL);
    while (value < 0 && fgets(line, sizeof(line), file))
        if (strncmp(line, name, strlen(name)) == 0)
            value = strtol(line + strlen(name), NULL, 10);
    CHECK(fclose(file) == 0 && value >= 0);
    return value;
}

/* Pages of this process, and those of its page table. */
static long memory_now(void)
{
    return line_of("/proc/self/smaps_rollup", "Private_Dirty:") +
           line_of("/proc/self/status", "VmPTE:");
}

static void make_greeted(struct sdp_connection *ends[2])
{
    sdp_kit_pair(ends, NULL);
    for (unsigned i = 0; i < 2; i++)
        sdp_kit_send_stream(ends[i], 0, 1, 1);
    for (unsigned i = 0; i < 2; i++)
        sdp_kit_check_stream(ends[i], 0, 1, 1);
}

/* Of the 40 KiB of an idle connection the kernel's sockets take 8: TCP's, and two of a face. */
static void many(void)
{
    static struct sdp_connection *pairs[MANY][2];
    long before;
    long each;

    make_greeted(pair); /* what all connections share */
    before = memory_now();
    for (unsigned i = 0; i < MANY; i++)
        make_greeted(pairs[i]);
    each = (memory_now() - before) / (2 * (long)MANY);
    if (each > 30)
        CHECK_FAIL("%ld KiB for each", each);
    for (unsigned i = 0; i < MANY; i++)
        CHECK(sdp_close(pairs[i][0], NULL) == 0 && sdp_close(pairs[i][1], NULL) == 0);
    CHECK(sdp_close(pair[0], NULL) == 0 && sdp_close(pair[1], NULL) == 0);
}

int main(void)
{
    if (MEASURES_MEMORY)
        many();
    greeted();
    goes_on();
    return 0;
}
