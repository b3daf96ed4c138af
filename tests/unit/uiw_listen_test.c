/* SPDX-License-Identifier: BSD-2-Clause */
/* A listen point and each result of accept(2). */

#include "support/it_fixture.h"
#include "support/raw_peer.h"
#include "vp/uiwarp/connect/uiw_conn_private.h"

#include <criterion/criterion.h>

#include <errno.h>
#include <event2/event.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BUDGET 64u /* streams for each wake */

/* The script of accept4(): it fails with this error so many times, then no stream is waiting. */
static _Thread_local struct {
    bool on;
    int error;
    unsigned times;
    unsigned calls;
} script;

int accept4(int fd, struct sockaddr *address, socklen_t *length, int flags)
{
    if (!script.on)
        return (int)syscall(SYS_accept4, fd, address, length, flags);
    script.calls++;
    errno = script.times > 0 ? script.error : EAGAIN;
    script.times -= script.times > 0;
    return -1;
}

static struct {
    struct fx_node node;
    struct event_base *base;
    it_listen_handle_t listen;
    uint16_t port;
    struct uiw_ia *ia;
    struct uiw_listener *listener;
} bed;

static void bed_open(void)
{
    fx_node_open(&bed.node);
    bed.base = event_base_new();
    CHECK_OK(itx_ia_set_event_base(bed.node.ia, bed.base));
    bed.ia = uiw_ia_of((struct ual_ia *)(void *)bed.node.ia);
    bed.listen = fx_listen(&bed.node, &bed.port);
    bed.listener = uiw_listen_of((struct ual_listen *)(void *)bed.listen)->listener;
}

static void bed_close(void)
{
    fx_node_close(&bed.node);
    event_base_free(bed.base);
    check_done();
}

/* Returns how often accept4() was called. */
static unsigned bed_wake(int error, unsigned times)
{
    struct evd_io *io = &bed.listener->sockets[0].io;

    script.on = true;
    script.error = error;
    script.times = times;
    script.calls = 0;
    io->ready(io->argument, EVD_IO_READ);
    script.on = false;
    return script.calls;
}

/* These errors belong to a stream that has died in the queue. */
Test(uiw_listen, goes_on_behind_a_stream_that_has_died, .init = bed_open, .fini = bed_close)
{
    static const int errors[] = {EINTR,       ECONNABORTED, EPROTO, ENETDOWN,
                                 ENOPROTOOPT, EHOSTDOWN,    ENONET, EHOSTUNREACH,
                                 EOPNOTSUPP,  ENETUNREACH,  EPERM};

    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
        EXPECT_EQ(3, bed_wake(errors[i], 2));
        EXPECT(!bed.listener->resume.active);
    }
}

Test(uiw_listen, lets_others_have_their_turn, .init = bed_open, .fini = bed_close)
{
    EXPECT_EQ(BUDGET, bed_wake(ECONNABORTED, 1000));
}

/* There is no stream to close: without a pause the loop would spin. */
Test(uiw_listen, pauses_without_descriptors, .init = bed_open, .fini = bed_close)
{
    struct evd_timer *timer;

    timer = &bed.listener->resume;
    EXPECT_EQ(1, bed_wake(EMFILE, 1000));
    EXPECT(timer->active && !bed.listener->sockets[0].io.active);
    evd_timer_stop(timer);
    timer->expired(timer->argument);
    EXPECT(!timer->active && bed.listener->sockets[0].io.active);
    EXPECT_EQ(1, bed_wake(ENOMEM, 1000));
    EXPECT(timer->active);
}

/* For each new stream the oldest one is closed, then the listener tries once more. */
Test(uiw_listen, drops_one_that_has_said_nothing, .init = bed_open, .fini = bed_close)
{
    struct raw_peer peers[2];

    for (unsigned i = 0; i < 2; i++) {
        struct sockaddr_storage from = {.ss_family = AF_INET};
        int fd;

        raw_socket_pair(&peers[i], &fd);
        uiw_accept_begin(bed.ia, bed.listener, fd, &from);
    }
    EXPECT_EQ(2, bed.ia->cm.half_open.all.count);
    EXPECT_EQ(2, bed_wake(EMFILE, 1));
    EXPECT_EQ(1, bed.ia->cm.half_open.all.count);
    EXPECT(!bed.listener->resume.active);
    EXPECT_EQ(2, bed_wake(ENFILE, 2));
    EXPECT_EQ(0, bed.ia->cm.half_open.all.count);
    EXPECT(bed.listener->resume.active);
    EXPECT_EQ(2, bed.ia->cm.half_open_refused);
    for (unsigned i = 0; i < 2; i++) {
        EXPECT_EQ(RAW_RESET, raw_drain(&peers[i]));
        raw_close(&peers[i]);
    }
}

Test(uiw_listen, is_found_by_port_and_spigot, .init = bed_open, .fini = bed_close)
{
    it_conn_qual_t qual = {.type = IT_IANA_PORT};

    qual.conn_qual.port = bed.port;
    EXPECT((void *)uiw_listen_find(bed.ia, &qual, bed.node.spigot) == (void *)bed.listen);
    EXPECT(uiw_listen_find(bed.ia, &qual, bed.node.spigot + 1) == NULL);
    qual.conn_qual.port ^= 1;
    EXPECT(uiw_listen_find(bed.ia, &qual, bed.node.spigot) == NULL);
    qual = (it_conn_qual_t){.type = IT_IANA_LR_PORT};
    qual.conn_qual.lr_port.local = bed.port;
    EXPECT((void *)uiw_listen_find(bed.ia, &qual, bed.node.spigot) == (void *)bed.listen);
    qual.type = (it_conn_qual_type_t)0;
    EXPECT(uiw_listen_find(bed.ia, &qual, bed.node.spigot) == NULL);
}
