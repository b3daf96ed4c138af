/* SPDX-License-Identifier: BSD-2-Clause */
/* Options of a converted socket: which are changed when, and which are restored. */
#include "support/raw_peer.h"
#include "vp/uiwarp/connect/uiw_conn_private.h"

#include <criterion/criterion.h>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

static struct {
    struct raw_peer peer;
    struct uiw_conn conn;
} bed;

static void set(int fd, int level, int option, int value)
{
    cr_assert_eq(setsockopt(fd, level, option, &value, sizeof(value)), 0);
}

static int get(int fd, int level, int option)
{
    int value = -1;
    socklen_t length = sizeof(value);

    cr_assert_eq(getsockopt(fd, level, option, &value, &length), 0);
    return value;
}

static struct linger get_linger(int fd)
{
    struct linger linger = {.l_onoff = -1};
    socklen_t length = sizeof(linger);

    cr_assert_eq(getsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, &length), 0);
    return linger;
}

/* Sets every option to a value that MPA does not want. */
static void bed_open(void)
{
    struct linger linger = {.l_onoff = 1, .l_linger = 7};
    int fd;

    bed.conn.fd = -1;
    raw_socket_pair(&bed.peer, &bed.conn.fd);
    fd = bed.conn.fd;
    set(fd, IPPROTO_TCP, TCP_NODELAY, 0);
    set(fd, IPPROTO_TCP, TCP_CORK, 1);
    set(fd, SOL_SOCKET, SO_RCVLOWAT, 100);
    cr_assert_eq(setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)), 0);
    uiw_options_borrow(&bed.conn);
}

static void bed_close(void)
{
    (void)close(bed.conn.fd);
    raw_close(&bed.peer);
}

static void check_changed(int fd)
{
    cr_assert_eq(get(fd, IPPROTO_TCP, TCP_NODELAY), 1);
    cr_assert_eq(get(fd, IPPROTO_TCP, TCP_CORK), 0);
    cr_assert_eq(get_linger(fd).l_onoff, 0);
}

static void check_owners(int fd)
{
    cr_assert_eq(get(fd, IPPROTO_TCP, TCP_NODELAY), 0);
    cr_assert_eq(get(fd, IPPROTO_TCP, TCP_CORK), 1);
    cr_assert_eq(get_linger(fd).l_onoff, 1);
    cr_assert_eq(get_linger(fd).l_linger, 7);
}

Test(uiw_options, borrowing_changes_what_wakes_us_alone, .init = bed_open, .fini = bed_close)
{
    cr_assert_eq(get(bed.conn.fd, SOL_SOCKET, SO_RCVLOWAT), 1);
    check_owners(bed.conn.fd);
    bed.conn.state = UIW_CONN_MESSAGE;
    uiw_options_restore(&bed.conn);
    cr_assert_eq(get(bed.conn.fd, SOL_SOCKET, SO_RCVLOWAT), 100);
    check_owners(bed.conn.fd);
}

Test(uiw_options, a_changed_socket_goes_back_as_it_was, .init = bed_open, .fini = bed_close)
{
    uiw_options_change(bed.conn.fd);
    check_changed(bed.conn.fd);
    bed.conn.state = UIW_CONN_NEXT_REQUEST;
    uiw_options_restore(&bed.conn);
    cr_assert_eq(get(bed.conn.fd, SOL_SOCKET, SO_RCVLOWAT), 100);
    check_owners(bed.conn.fd);
}

/* The program may set options while its message is sent. The library does not restore those. */
Test(uiw_options, what_was_not_changed_is_left_alone, .init = bed_open, .fini = bed_close)
{
    set(bed.conn.fd, IPPROTO_TCP, TCP_NODELAY, 1);
    bed.conn.state = UIW_CONN_WAIT_REQUEST;
    uiw_options_restore(&bed.conn);
    cr_assert_eq(get(bed.conn.fd, IPPROTO_TCP, TCP_NODELAY), 1);
}
