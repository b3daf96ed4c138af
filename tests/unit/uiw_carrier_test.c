/* SPDX-License-Identifier: BSD-2-Clause */
/* Handling of the kernel's messages about interfaces. */
#include "vp/uiwarp/net/uiw_carrier.h"

#include "support/it_fixture.h"
#include "vp/uiwarp/queue/uiw.h"

#include <criterion/criterion.h>

#include <errno.h>
#include <event2/event.h>
#include <sys/socket.h>

static _Thread_local bool hearing;
static _Thread_local unsigned messages; /* messages that the kernel still has */
static _Thread_local int error;         /* then */

/* Replaces recv of the C library. */
ssize_t recv(int fd, void *octets, size_t length, int flags)
{
    if (!hearing)
        return recvfrom(fd, octets, length, flags, NULL, NULL);
    if (messages == 0) {
        errno = error;
        error = EAGAIN;
        return -1;
    }
    messages--;
    return (ssize_t)length;
}

static struct {
    struct fx_node node;
    struct event_base *base;
    it_evd_handle_t evd;
    struct uiw_carrier *carrier;
} bed;

static void bed_open(void)
{
    fx_node_open(&bed.node);
    bed.base = event_base_new();
    CHECK_OK(itx_ia_set_event_base(bed.node.ia, bed.base));
    bed.evd = fx_evd(&bed.node, IT_ASYNC_UNAFF_EVENT_STREAM, 8, IT_THRESHOLD_DISABLE);
    bed.carrier = &uiw_ia_of((struct ual_ia *)(void *)bed.node.ia)->carrier;
}

static void bed_close(void)
{
    fx_node_close(&bed.node);
    event_base_free(bed.base);
    check_done();
}

static void bed_hear(unsigned count, int then)
{
    messages = count;
    error = then;
    hearing = true;
    bed.carrier->io.ready(bed.carrier->io.argument, EVD_IO_READ);
    hearing = false;
    EXPECT_EQ(0, messages);
    EXPECT_EQ(EAGAIN, error);
}

/* The state of the host counts, not the message. */
Test(uiw_carrier, tells_what_has_changed_once, .init = bed_open, .fini = bed_close)
{
    it_event_t event;

    if (!bed.carrier->io.active)
        cr_skip_test("the kernel grants no rtnetlink");
    EXPECT(bed.carrier->online);
    bed_hear(3, EAGAIN);
    fx_empty(bed.evd);
    bed.carrier->online = false; /* pretends that the link was down */
    bed_hear(1, EAGAIN);
    event = fx_next(bed.evd);
    EXPECT_EQ(IT_ASYNC_UNAFF_SPIGOT_ONLINE, event.event_number);
    EXPECT_EQ(UIW_SPIGOT, event.unaff_async.spigot_id);
    EXPECT(bed.carrier->online);
    bed_hear(1, EAGAIN);
    fx_empty(bed.evd);
}

/* An interface that does not exist has no link. */
Test(uiw_carrier, tells_that_it_is_gone, .init = bed_open, .fini = bed_close)
{
    if (!bed.carrier->io.active)
        cr_skip_test("the kernel grants no rtnetlink");
    bed.carrier->interface = "no such one";
    bed_hear(1, EAGAIN);
    EXPECT_EQ(IT_ASYNC_UNAFF_SPIGOT_OFFLINE, fx_next(bed.evd).event_number);
}

/* If messages are lost or a signal comes, the remaining ones are read. */
Test(uiw_carrier, reads_on_behind_what_was_lost, .init = bed_open, .fini = bed_close)
{
    if (!bed.carrier->io.active)
        cr_skip_test("the kernel grants no rtnetlink");
    bed_hear(2, ENOBUFS);
    bed_hear(2, EINTR);
    fx_empty(bed.evd);
}
