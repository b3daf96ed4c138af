/* SPDX-License-Identifier: BSD-2-Clause */
/* it_socket_convert and itx_socket_convert, down to the provider. */
#include "support/time_limit.h"
#include "unit/fake_provider.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <poll.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

static struct fake_world world;
static int listener, here, there; /* a connection on the loopback address */
static const unsigned char data[70000];

static void setup_stream(int domain, const char *address4, const char *address6)
{
    struct sockaddr_storage storage = {.ss_family = (sa_family_t)domain};
    struct sockaddr_in *v4 = (struct sockaddr_in *)&storage;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&storage;
    socklen_t length = domain == AF_INET ? sizeof(*v4) : sizeof(*v6);

    if (domain == AF_INET)
        cr_assert_eq(inet_pton(AF_INET, address4, &v4->sin_addr), 1);
    else
        cr_assert_eq(inet_pton(AF_INET6, address6, &v6->sin6_addr), 1);
    listener = socket(domain, SOCK_STREAM, 0);
    cr_assert_eq(bind(listener, (struct sockaddr *)&storage, length), 0);
    cr_assert_eq(listen(listener, 1), 0);
    cr_assert_eq(getsockname(listener, (struct sockaddr *)&storage, &length), 0);
    here = socket(domain, SOCK_STREAM, 0);
    cr_assert_eq(connect(here, (struct sockaddr *)&storage, length), 0);
    there = accept(listener, NULL, NULL);
    cr_assert_geq(there, 0);
}

static void teardown_stream(void)
{
    close(listener);
    close(here);
    close(there);
}

static void setup(void)
{
    fake_setup();
    fake_world_open(&world);
    setup_stream(AF_INET, "127.0.0.1", NULL);
}

static void teardown(void)
{
    teardown_stream();
    fake_world_close(&world);
}

TestSuite(tdi_convert, .init = setup, .fini = teardown);

static it_status_t convert(int sd, unsigned flags, const unsigned char *message, size_t length)
{
    it_status_t status = it_socket_convert(sd, world.ep, (it_sc_flags_t)flags, message, length);

    if (status == IT_SUCCESS)
        close(fake.convert.fd);
    return status;
}

Test(tdi_convert, arguments)
{
    cr_assert_eq(it_socket_convert(here, NULL, IT_SC_DEFAULT, NULL, 0), IT_ERR_INVALID_EP);
    cr_assert_eq(itx_socket_convert(here, NULL, IT_SC_DEFAULT, NULL), IT_ERR_INVALID_EP);
    cr_assert_eq(convert(here, IT_SC_DEFAULT, NULL, 1), IT_ERR_FAULT);
    cr_assert_eq(convert(here, 2, NULL, 0), IT_ERR_INVALID_FLAGS);
    cr_assert_eq(convert(here, ITX_SC_INITIATOR | ITX_SC_RESPONDER, NULL, 0), IT_ERR_INVALID_FLAGS);
    cr_assert_eq(convert(here, IT_SC_DEFAULT, data, 65537), IT_ERR_INVALID_LENGTH);
    cr_assert_eq(convert(here, IT_SC_DEFAULT, data, 65536), IT_SUCCESS);
    fake.attributes.socket_conversion = IT_FALSE;
    cr_assert_eq(convert(here, IT_SC_DEFAULT, NULL, 0), IT_ERR_OP_NOT_SUPPORTED);
    atomic_store(&((struct ual_ia *)(void *)world.ia)->evd.failed, true);
    cr_assert_eq(convert(here, IT_SC_DEFAULT, NULL, 0), IT_ERR_IA_CATASTROPHE);
    cr_assert_eq(fake.calls.convert, 1);
}

Test(tdi_convert, roles)
{
    static const struct {
        unsigned flags;
        size_t length;
        bool initiator;
    } cases[] = {
        {IT_SC_DEFAULT, 0, true},
        {IT_SC_DEFAULT, 1, false},
        {ITX_SC_INITIATOR, 0, true},
        {ITX_SC_INITIATOR, 1, true},
        {ITX_SC_RESPONDER, 0, false},
        {ITX_SC_RESPONDER, 1, false},
        {IT_SC_NO_REQ_REP, 0, true},
        {IT_SC_NO_REQ_REP, 1, false},
        {IT_SC_NO_REQ_REP | ITX_SC_RESPONDER, 0, false},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        cr_assert_eq(convert(here, cases[i].flags, data, cases[i].length), IT_SUCCESS);
        cr_assert_eq(fake.convert.initiator, cases[i].initiator, "case %zu", i);
        cr_assert_eq(fake.convert.no_request_reply, (cases[i].flags & IT_SC_NO_REQ_REP) != 0);
        cr_assert_eq(fake.convert.message_length, cases[i].length);
        cr_assert_eq(fake.convert.timeout_us, 30000000);
    }
}

static void refused(int sd, const char *why)
{
    cr_assert_geq(sd, 0, "%s", why);
    cr_assert_eq(convert(sd, IT_SC_DEFAULT, NULL, 0), IT_ERR_INVALID_CONVERSION, "%s", why);
    close(sd);
}

Test(tdi_convert, what_is_no_established_tcp_stream_is_refused)
{
    int pair[2], pipes[2];

    cr_assert_eq(convert(-1, IT_SC_DEFAULT, NULL, 0), IT_ERR_INVALID_CONVERSION);
    cr_assert_eq(convert(1000, IT_SC_DEFAULT, NULL, 0), IT_ERR_INVALID_CONVERSION);
    cr_assert_eq(convert(listener, IT_SC_DEFAULT, NULL, 0), IT_ERR_INVALID_CONVERSION);
    refused(socket(AF_INET, SOCK_STREAM, 0), "not connected");
    refused(socket(AF_INET, SOCK_DGRAM, 0), "datagrams");
    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    refused(pair[0], "unix");
    close(pair[1]);
    cr_assert_eq(pipe(pipes), 0);
    refused(pipes[0], "pipe");
    close(pipes[1]);
    cr_assert_eq(fake.calls.convert, 0);
}

/* Waits until the other end's action has arrived. */
static void await_event(int fd, short event)
{
    struct pollfd pollfd = {.fd = fd, .events = event};

    cr_assert_eq(poll(&pollfd, 1, time_limit_ms(10000)), 1);
    cr_assert(pollfd.revents & event);
}

Test(tdi_convert, a_stream_that_has_begun_to_end_is_refused)
{
    cr_assert_eq(shutdown(there, SHUT_WR), 0);
    await_event(here, POLLRDHUP);
    cr_assert_eq(convert(here, IT_SC_DEFAULT, NULL, 0), IT_ERR_INVALID_CONVERSION, "close-wait");
    cr_assert_eq(convert(there, IT_SC_DEFAULT, NULL, 0), IT_ERR_INVALID_CONVERSION, "fin-wait");
}

Test(tdi_convert, the_callers_pending_error_is_left)
{
    struct linger linger = {.l_onoff = 1, .l_linger = 0};
    socklen_t length = sizeof(int);
    int error = 0;

    cr_assert_eq(setsockopt(there, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)), 0);
    close(there);
    there = -1;
    await_event(here, POLLHUP);
    cr_assert_eq(convert(here, IT_SC_DEFAULT, NULL, 0), IT_ERR_INVALID_CONVERSION);
    cr_assert_eq(getsockopt(here, SOL_SOCKET, SO_ERROR, &error, &length), 0);
    cr_assert_eq(error, ECONNRESET);
}

Test(tdi_convert, an_address_of_another_ia_is_refused)
{
    teardown_stream();
    setup_stream(AF_INET, "127.0.0.2", NULL); /* the address of the accepted side */
    cr_assert_eq(convert(there, IT_SC_DEFAULT, NULL, 0), IT_ERR_INVALID_CONVERSION);
}

Test(tdi_convert, states)
{
    for (int state = 0; state < 7; state++) {
        fake_ep_force(world.ep, (it_ep_state_rc_t)state);
        cr_assert_eq(convert(here, IT_SC_DEFAULT, NULL, 0),
                     state ? IT_ERR_INVALID_EP_STATE : IT_SUCCESS, "state %d", state);
    }
    cr_assert_eq(fake.calls.convert, 1);
}

static it_path_t ep_path(void)
{
    it_ep_param_t params;

    cr_assert_eq(it_ep_query(world.ep, IT_EP_PARAM_PATH, &params), IT_SUCCESS);
    return params.dst_path;
}

Test(tdi_convert, success_hands_over_a_duplicate_and_sets_the_path)
{
    int flags = fcntl(here, F_GETFL);
    it_path_t path;

    cr_assert_eq(it_socket_convert(here, world.ep, IT_SC_DEFAULT, data, 5), IT_SUCCESS);
    cr_assert_neq(fake.convert.fd, here);
    cr_assert(fcntl(fake.convert.fd, F_GETFD) & FD_CLOEXEC);
    cr_assert_eq(fake.convert.message, data);
    cr_assert_eq(fcntl(here, F_GETFL), flags);
    cr_assert_eq(write(fake.convert.fd, "x", 1), 1);
    close(fake.convert.fd);
    path = ep_path();
    cr_assert_eq(path.spigot_id, FAKE_SPIGOT);
    cr_assert_eq(path.remote.iwarp.ip_vers, IT_IP_VERS_IPV4);
    cr_assert_eq(path.remote.iwarp.laddr.ipv4.s_addr, htonl(INADDR_LOOPBACK));
    cr_assert_eq(path.remote.iwarp.raddr.ipv4.s_addr, htonl(INADDR_LOOPBACK));
}

Test(tdi_convert, failure_leaves_everything_as_it_was)
{
    char octet;

    fake.answer = IT_ERR_RESOURCES;
    cr_assert_eq(it_socket_convert(here, world.ep, IT_SC_DEFAULT, data, 5), IT_ERR_RESOURCES);
    cr_assert_eq(fcntl(fake.convert.fd, F_GETFD), -1, "the duplicate is closed");
    cr_assert_eq(ep_path().remote.iwarp.ip_vers, 0);
    cr_assert_eq(write(here, "x", 1), 1);
    cr_assert_eq(read(there, &octet, 1), 1);
}

Test(tdi_convert, no_descriptor_left)
{
    struct rlimit limit, before;

    cr_assert_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    limit = before;
    limit.rlim_cur = 0;
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    cr_assert_eq(it_socket_convert(here, world.ep, IT_SC_DEFAULT, NULL, 0), IT_ERR_RESOURCES);
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
    cr_assert_eq(fake.calls.convert, 0);
}

Test(tdi_convert, ipv6)
{
    it_path_t path;

    teardown_stream();
    setup_stream(AF_INET6, NULL, "::1");
    cr_assert_eq(convert(here, IT_SC_DEFAULT, NULL, 0), IT_SUCCESS);
    path = ep_path();
    cr_assert_eq(path.remote.iwarp.ip_vers, IT_IP_VERS_IPV6);
    cr_assert(IN6_IS_ADDR_LOOPBACK(&path.remote.iwarp.raddr.ipv6));
}

Test(tdi_convert, an_ipv4_mapped_address_counts_as_ipv4)
{
    it_path_t path;

    teardown_stream();
    setup_stream(AF_INET6, NULL, "::ffff:127.0.0.1");
    cr_assert_eq(convert(here, IT_SC_DEFAULT, NULL, 0), IT_SUCCESS);
    path = ep_path();
    cr_assert_eq(path.remote.iwarp.ip_vers, IT_IP_VERS_IPV4);
    cr_assert_eq(path.remote.iwarp.raddr.ipv4.s_addr, htonl(INADDR_LOOPBACK));
}

static it_status_t extended(unsigned flags, const struct itx_convert_params *params)
{
    it_status_t status = itx_socket_convert(here, world.ep, (it_sc_flags_t)flags, params);

    if (status == IT_SUCCESS)
        close(fake.convert.fd);
    return status;
}

Test(tdi_convert, extended_arguments)
{
    struct itx_convert_params params = {.size = sizeof(params)};

    cr_assert_eq(extended(0, NULL), IT_SUCCESS);
    cr_assert(fake.convert.initiator);
    cr_assert_eq(extended(0, &params), IT_SUCCESS);
    params.size = sizeof(params) - 1;
    cr_assert_eq(extended(0, &params), IT_ERR_INVALID_LENGTH);
    params.size = sizeof(params) + 100; /* a later version's members are ignored */
    params.early_len = 3;
    cr_assert_eq(extended(0, &params), IT_ERR_FAULT);
    params.early_data = data;
    params.private_data_length = 17;
    cr_assert_eq(extended(0, &params), IT_ERR_FAULT);
    params.private_data = data;
    cr_assert_eq(extended(0, &params), IT_ERR_INVALID_PDATA_LENGTH, "limit of a connect");
    cr_assert_eq(extended(ITX_SC_RESPONDER, &params), IT_SUCCESS, "limit of an accept");
    cr_assert_eq(fake.convert.early_length, 3);
    cr_assert_eq(fake.convert.early, data);
    cr_assert_eq(fake.convert.private_length, 17);
    cr_assert_eq(extended(ITX_SC_RESPONDER | IT_SC_NO_REQ_REP, &params),
                 IT_ERR_INVALID_PDATA_LENGTH);
    params.private_data_length = 0;
    params.early_len = 65537;
    cr_assert_eq(extended(0, &params), IT_ERR_INVALID_LENGTH);
    params.early_len = 0;
    params.timeout_us = 5;
    cr_assert_eq(extended(0, &params), IT_SUCCESS);
    cr_assert_eq(fake.convert.timeout_us, 5);
}
