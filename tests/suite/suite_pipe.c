/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages between the two sides of a case. */
#include "suite/suite.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define NAME_ROOM 64

/*
 * Tells ThreadSanitizer that requests of the other side after this message come after this side's
 * earlier work. ThreadSanitizer orders a send on one socket before a receive on another one, but
 * only for sockets that this process has made.
 */
static void pipe_order(void)
{
#if defined(__SANITIZE_THREAD__)
    static int own = -1;

    if (own == -1)
        own = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    (void)send(own, "", 1, MSG_NOSIGNAL); /* to nobody */
#endif
}

void suite_tell(struct suite_side *side, const void *message, size_t length)
{
    ssize_t sent;

    pipe_order();
    sent = send(side->pipe, message, length, MSG_NOSIGNAL);
    if (sent != (ssize_t)length)
        CHECK_FAIL("the other side cannot be told: %s", strerror(errno));
}

/* Waits without a limit: a side that fails is ended, and its parent ends the other side. */
void suite_hear(struct suite_side *side, void *message, size_t length)
{
    ssize_t heard;

    do {
        heard = recv(side->pipe, message, length, MSG_TRUNC);
    } while (heard == -1 && errno == EINTR);
    if (heard == 0 || (heard == -1 && errno == ECONNRESET))
        CHECK_FAIL("the other side has gone");
    if (heard != (ssize_t)length)
        CHECK_FAIL("the other side says %zd octets instead of %zu", heard, length);
}

void suite_meet(struct suite_side *side, const char *name)
{
    char own[NAME_ROOM] = "";
    char other[NAME_ROOM];

    (void)strncpy(own, name, sizeof(own) - 1);
    suite_tell(side, own, sizeof(own));
    suite_hear(side, other, sizeof(other));
    if (strncmp(own, other, sizeof(own)) != 0)
        CHECK_FAIL("here is \"%s\", the other side is at \"%.*s\"", own, NAME_ROOM, other);
}

void suite_tell_region(struct suite_side *side, const struct fx_buf *buf)
{
    struct suite_region region;

    memset(&region, 0, sizeof(region));
    region.address = fx_addr(buf, 0);
    region.key = buf->key;
    region.size = buf->size;
    suite_tell(side, &region, sizeof(region));
}

struct suite_region suite_hear_region(struct suite_side *side)
{
    struct suite_region region;

    suite_hear(side, &region, sizeof(region));
    return region;
}
