/* SPDX-License-Identifier: BSD-2-Clause */
/* sdp_libevent_server PORT: sends back what it receives, on many connections of one thread. */
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/listener.h>

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void readable(struct bufferevent *connection, void *context)
{
    (void)context;
    (void)bufferevent_write_buffer(connection, bufferevent_get_input(connection));
}

static void written(struct bufferevent *connection, void *context)
{
    (void)context;
    bufferevent_free(connection);
}

/* Sends the received octets back before it closes. */
static void ended(struct bufferevent *connection, short what, void *context)
{
    (void)context;
    if (what & BEV_EVENT_ERROR)
        (void)fprintf(stderr, "%s\n", evutil_socket_error_to_string(EVUTIL_SOCKET_ERROR()));
    if (what & BEV_EVENT_EOF && evbuffer_get_length(bufferevent_get_output(connection)) > 0)
        bufferevent_setcb(connection, NULL, written, ended, NULL);
    else if (what & (BEV_EVENT_EOF | BEV_EVENT_ERROR))
        bufferevent_free(connection);
}

static void accepted(struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *peer,
                     int length, void *base)
{
    struct bufferevent *connection = bufferevent_socket_new(base, fd, BEV_OPT_CLOSE_ON_FREE);

    (void)listener;
    (void)peer;
    (void)length;
    bufferevent_setcb(connection, readable, NULL, ended, NULL);
    (void)bufferevent_enable(connection, EV_READ | EV_WRITE);
}

int main(int argc, char **argv)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_ANY)};
    struct event_base *base = event_base_new();

    if (argc != 2 || !base)
        return 2;
    address.sin_port = htons((uint16_t)atoi(argv[1]));
    if (!evconnlistener_new_bind(base, accepted, base, LEV_OPT_REUSEABLE | LEV_OPT_CLOSE_ON_FREE,
                                 -1, (struct sockaddr *)&address, sizeof(address)))
        return 1;
    return event_base_dispatch(base);
}
