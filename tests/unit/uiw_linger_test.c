/* SPDX-License-Identifier: BSD-2-Clause */
/* Streams that are being closed, by peers that stay: how many descriptors they may take. */
#include "vp/uiwarp/connect/uiw_conn_private.h"

#include <criterion/criterion.h>

#include <sys/resource.h>
#include <unistd.h>

#define DESCRIPTORS 256
#define LINGER_MAX  (DESCRIPTORS / 8)
#define STREAMS     (LINGER_MAX + 8)

struct bed {
    it_ia_handle_t ia;
    struct uiw_ia *uiw;
    int peers[STREAMS];
    unsigned begun;
    unsigned most; /* that there were at a time */
};

static void bed_open(struct bed *bed)
{
    struct rlimit limit;

    *bed = (struct bed){.begun = 0};
    cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = DESCRIPTORS;
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    cr_assert_eq(it_ia_create("uiwarp", 2, 1, &bed->ia), IT_SUCCESS);
    bed->uiw = uiw_ia_of((struct ual_ia *)(void *)bed->ia);
}

/* On the loop thread: asserts nothing. */
static void begin_all(void *argument)
{
    struct bed *bed = argument;

    for (; bed->begun < STREAMS; bed->begun++) {
        int ends[2];

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
            return;
        bed->peers[bed->begun] = ends[0];
        uiw_linger(&bed->uiw->cm.lingering, ends[1], "last words", 10);
        if (bed->uiw->cm.lingering.count > bed->most)
            bed->most = bed->uiw->cm.lingering.count;
    }
}

/* The oldest go first, and each peer still gets what it was to get. */
Test(uiw_linger, a_part_of_the_descriptors)
{
    struct bed bed;

    bed_open(&bed);
    evd_loop_call(bed.uiw->ual->evd.loop, begin_all, &bed);
    cr_assert_eq(bed.begun, STREAMS);
    cr_assert_eq(bed.most, LINGER_MAX);
    for (unsigned i = 0; i < STREAMS; i++) {
        char words[16];

        cr_assert_eq(recv(bed.peers[i], words, sizeof(words), 0), 10);
        cr_assert_eq(recv(bed.peers[i], words, sizeof(words), 0), 0);
    }
    for (unsigned i = 0; i < STREAMS - LINGER_MAX; i++)
        cr_assert_lt(send(bed.peers[i], "x", 1, MSG_NOSIGNAL), 0, "nobody is at the other end");
    cr_assert_eq(it_ia_free(bed.ia), IT_SUCCESS);
    for (unsigned i = 0; i < STREAMS; i++)
        (void)close(bed.peers[i]);
}
