/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Step 6 of the tutorial in C++, on itapi.hpp: a server of many clients in one loop, of TCP (client
 * of step 1) and of RDMA (client of step 4) at once. Here the program is such a client, too.
 */
#include "sockets.h"

#include <itapi.hpp>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <iostream>
#include <string_view>
#include <utility>
#include <vector>

namespace
{
constexpr std::size_t clients_max = 64;

/* Where the text of a message comes, and whence it is sent. */
struct lines {
    std::array<char, LINE_SIZE> in, out;
};

it_ep_attributes_t echo_attributes()
{
    it_ep_attributes_t attributes{};

    attributes.max_dto_payload_size = LINE_SIZE;
    attributes.max_request_dtos = 2;
    attributes.max_recv_dtos = 1;
    attributes.max_send_segments = 1;
    attributes.max_recv_segments = 1;
    return attributes;
}

struct client {
    int tcp = -1; /* -1: there is none, or the connection is RDMA */
    itapi::endpoint ep;
};

/* The members are destroyed from the last to the first, so endpoints before what they use. */
class server
{
  public:
    [[noreturn]] void run(int listener);

  private:
    void take_client(int listener);
    void serve_line(std::size_t index);
    void convert(std::size_t index);
    void echo(std::size_t index, std::size_t length);
    void handle(const it_event_t &event);

    std::vector<lines> lines_ = std::vector<lines>(clients_max);
    itapi::adapter ia_{"uiwarp"};
    itapi::zone pz_{ia_};
    itapi::region region_{pz_, itapi::span<lines>(lines_), IT_PRIV_LOCAL};
    itapi::events events_ = itapi::events::mixed(ia_, ITX_STREAM_DTO | ITX_STREAM_CM_MSG,
                                                 clients_max * 4, IT_EVD_CREATE_FD);
    std::array<client, clients_max> clients_;
};

void server::convert(std::size_t index)
{
    client &one = clients_[index];

    one.ep = itapi::endpoint(pz_, events_, events_, events_, echo_attributes());
    one.ep.post_recv(region_.segment(itapi::span<char>(lines_[index].in)), index);
    one.ep.convert(one.tcp, std::string_view("go ahead\n"));
    close(one.tcp); /* the library has a descriptor of its own */
    one.tcp = -1;
}

void server::serve_line(std::size_t index)
{
    int &tcp = clients_[index].tcp;
    char line[LINE_SIZE];

    if (!read_line(tcp, line)) {
        close(tcp);
        tcp = -1;
    } else if (std::string_view(line) == "rdma") {
        convert(index);
    } else {
        write_line(tcp, line);
    }
}

void server::echo(std::size_t index, std::size_t length)
{
    const itapi::endpoint &ep = clients_[index].ep;
    lines &text = lines_[index];

    text.out = text.in;
    ep.post_recv(region_.segment(itapi::span<char>(text.in)), index);
    /* The next message comes when the client has this one, so a success is of no interest. */
    ep.post_send(region_.segment(text.out.data(), length), index, 0);
}

void server::handle(const it_event_t &event)
{
    switch (event.event_number) {
    case IT_DTO_RC_RECV_CMPL_EVENT: /* one that is flushed is followed by the end */
        if (event.dto_cmpl.dto_status == IT_DTO_SUCCESS)
            echo(event.dto_cmpl.cookie, event.dto_cmpl.transferred_length);
        break;
    case IT_CM_MSG_CONN_DISCONNECT_EVENT:
    case IT_CM_MSG_CONN_BROKEN_EVENT:
    case IT_CM_MSG_CONN_PEER_REJECT_EVENT:
    case IT_CM_MSG_CONN_NONPEER_REJECT_EVENT:
        for (client &one : clients_)
            if (one.ep.get() == event.conn.ep)
                one.ep.reset();
        break;
    default: /* established; a Send that failed */
        break;
    }
}

void server::take_client(int listener)
{
    int tcp = accept(listener, nullptr, nullptr);

    for (client &one : clients_)
        if (tcp >= 0 && one.tcp < 0 && !one.ep)
            one.tcp = std::exchange(tcp, -1);
    close(tcp); /* -1, or there is no room */
}

void server::run(int listener)
{
    std::array<pollfd, clients_max + 2> watched{
        {{listener, POLLIN, 0}, {events_.descriptor(), POLLIN, 0}}};
    it_event_t event;

    for (;;) {
        for (std::size_t i = 0; i < clients_max; i++)
            watched[i + 2] = {clients_[i].tcp, POLLIN, 0};
        (void)poll(watched.data(), watched.size(), -1);
        for (std::size_t i = 0; i < clients_max; i++)
            if (watched[i + 2].revents != 0)
                serve_line(i);
        while (watched[1].revents != 0 && events_.dequeue(event))
            handle(event);
        if (watched[0].revents != 0)
            take_client(listener);
    }
}

void ask(int tcp, char **texts)
{
    lines text{};
    itapi::adapter ia("uiwarp");
    itapi::zone pz(ia);
    itapi::region region(pz, itapi::span<lines>(text), IT_PRIV_LOCAL);
    itapi::events connection(ia, IT_CM_MSG_EVENT_STREAM, 4);
    itapi::events requests(ia, IT_DTO_EVENT_STREAM, 4), receives(ia, IT_DTO_EVENT_STREAM, 4);
    itapi::endpoint ep(pz, requests, receives, connection, echo_attributes());
    it_event_t event;

    ep.post_recv(region.segment(itapi::span<char>(text.in)));
    write_line(tcp, "rdma");
    if (!read_line(tcp, text.out.data()) || std::string_view(text.out.data()) != "go ahead")
        fail("convert", "the server does not want to");
    ep.convert(tcp);
    if (!connection.wait(event) || event.event_number != IT_CM_MSG_CONN_ESTABLISHED_EVENT)
        fail("connection", itx_event_string(event.event_number));
    for (; *texts != nullptr; texts++) {
        const std::size_t length = std::string_view(*texts).copy(text.out.data(), LINE_SIZE);

        ep.post_send(region.segment(text.out.data(), length), 0, 0);
        if (!receives.wait(event) || event.dto_cmpl.dto_status != IT_DTO_SUCCESS)
            fail("echo", "the connection has ended");
        std::cout << "echo by RDMA: "
                  << std::string_view(text.in.data(), event.dto_cmpl.transferred_length) << '\n';
        ep.post_recv(region.segment(itapi::span<char>(text.in)));
    }
    ep.disconnect();
    (void)connection.wait(event);
}
} // namespace

int main(int argc, char **argv)
try {
    if (argc >= 2 && argc <= 3 && std::string_view(argv[1]) == "server")
        server().run(listen_on(argc == 3 ? argv[2] : "0"));
    if (argc < 5 || std::string_view(argv[1]) != "client") {
        std::cerr << "usage: step6 server [PORT]\n       step6 client HOST PORT TEXT...\n";
        return 2;
    }
    ask(connect_to(argv[2], argv[3]), argv + 4);
} catch (const itapi::error &error) {
    fail("step6", error.what());
}
