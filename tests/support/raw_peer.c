/* SPDX-License-Identifier: BSD-2-Clause */
/* Implements the peer of raw_peer.h. */
#include "support/raw_peer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/check.h"
#include "support/time_limit.h"

#define PATIENCE_MS  time_limit_ms(20000)
#define MARKER_EVERY 512u
#define UNCHOSEN     10000u /* ports below are registered for services */

const char *raw_result_name(enum raw_result result)
{
    static const char *const names[] = {"ok", "FIN", "FIN inside a frame", "RST", "nothing", "bad"};

    return names[result];
}

/* ---- Sockets -------------------------------------------------------------------------------- */

static struct sockaddr_in loopback(uint16_t port)
{
    struct sockaddr_in address;

    memset(&address, 0, sizeof(address));
    address.sin_family = AF_INET;
    address.sin_port = port;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

static void adopt(struct raw_peer *peer, int fd)
{
    int on = 1;

    memset(peer, 0, sizeof(*peer));
    peer->fd = fd;
    CHECK(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) == 0);
}

/*
 * Returns a port outside the kernel's range of ephemeral ports, in network byte order. Returns 0 if
 * the range covers all ports.
 */
static uint16_t unchosen_port(void)
{
    FILE *file = fopen("/proc/sys/net/ipv4/ip_local_port_range", "r");
    unsigned first = 0;
    uint32_t random;

    if (file) {
        (void)!fscanf(file, "%u", &first);
        (void)fclose(file);
    }
    CHECK(getrandom(&random, sizeof(random), 0) == sizeof(random));
    return first > UNCHOSEN ? htons((uint16_t)(UNCHOSEN + random % (first - UNCHOSEN))) : 0;
}

/*
 * The kernel may assign the port of a socket with SO_REUSEADDR that does not listen to another
 * socket that asks for any port. Therefore this port lies outside the range of ephemeral ports.
 */
int raw_keep_port(uint16_t *port)
{
    struct sockaddr_in address = loopback(unchosen_port());
    socklen_t len = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int on = 1;

    CHECK(fd >= 0);
    while (bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0) {
        CHECK(errno == EADDRINUSE);
        address.sin_port = unchosen_port();
    }
    CHECK(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0);
    CHECK(getsockname(fd, (struct sockaddr *)&address, &len) == 0);
    *port = address.sin_port;
    return fd;
}

int raw_listen(uint16_t *port)
{
    int fd = raw_keep_port(port);

    CHECK(listen(fd, 64) == 0);
    return fd;
}

bool raw_accept_within(struct raw_peer *peer, int listener, int timeout_ms)
{
    struct pollfd wait = {listener, POLLIN, 0};
    int fd;

    if (poll(&wait, 1, timeout_ms) != 1)
        return false;
    fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    CHECK(fd >= 0);
    adopt(peer, fd);
    return true;
}

void raw_accept(struct raw_peer *peer, int listener)
{
    if (!raw_accept_within(peer, listener, PATIENCE_MS))
        CHECK_FAIL("nobody connects");
}

void raw_connect(struct raw_peer *peer, uint16_t port)
{
    struct sockaddr_in address = loopback(port);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    CHECK(fd >= 0);
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0)
        CHECK_FAIL("connect: %s", strerror(errno));
    adopt(peer, fd);
}

void raw_socket_pair(struct raw_peer *peer, int *fd)
{
    uint16_t port = 0;
    int listener = raw_listen(&port);

    raw_connect(peer, port);
    *fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    CHECK(*fd >= 0);
    (void)close(listener);
}

void raw_close(struct raw_peer *peer)
{
    if (peer->fd >= 0)
        (void)close(peer->fd);
    peer->fd = -1;
}

void raw_close_with_reset(struct raw_peer *peer)
{
    struct linger at_once = {1, 0};

    CHECK(setsockopt(peer->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once)) == 0);
    raw_close(peer);
}

void raw_finish(struct raw_peer *peer)
{
    (void)shutdown(peer->fd, SHUT_WR);
}

/* ---- Sending -------------------------------------------------------------------------------- */

bool raw_send_part(struct raw_peer *peer, const void *data, size_t len)
{
    const unsigned char *octets = data;

    while (len != 0) {
        ssize_t sent = send(peer->fd, octets, peer->between ? 1 : len, MSG_NOSIGNAL);

        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return false;
        if (peer->between)
            peer->between();
        octets += sent;
        len -= (size_t)sent;
    }
    return true;
}

bool raw_send(struct raw_peer *peer, const struct raw_bytes *bytes)
{
    return raw_send_part(peer, bytes->data, bytes->len);
}

bool raw_send_ulpdu(struct raw_peer *peer, const struct raw_bytes *ulpdu)
{
    struct raw_bytes frame = {0};
    bool sent;

    raw_fpdu(&frame, ulpdu, peer->crc);
    sent = raw_send(peer, &frame);
    raw_free(&frame);
    return sent;
}

/* ---- Receiving ------------------------------------------------------------------------------ */

enum raw_result raw_receive(struct raw_peer *peer, void *data, size_t len, size_t *got)
{
    unsigned char *octets = data;
    size_t done = 0;
    enum raw_result result = RAW_OK;

    while (done < len && result == RAW_OK) {
        struct pollfd wait = {peer->fd, POLLIN, 0};
        ssize_t count;

        if (poll(&wait, 1, PATIENCE_MS) != 1) {
            result = RAW_TIMEOUT;
            break;
        }
        count = recv(peer->fd, octets + done, len - done, 0);
        if (count == 0)
            result = done == 0 ? RAW_EOF : RAW_CUT;
        else if (count > 0)
            done += (size_t)count;
        else if (errno != EINTR && errno != EAGAIN)
            result = RAW_RESET;
    }
    if (got != NULL)
        *got = done;
    return result;
}

static enum raw_result bad(struct raw_peer *peer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static enum raw_result bad(struct raw_peer *peer, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(peer->error, sizeof(peer->error), format, arguments);
    va_end(arguments);
    return RAW_BAD;
}

enum raw_result raw_receive_mpa(struct raw_peer *peer, struct raw_mpa_frame *frame)
{
    unsigned char head[20];
    enum raw_result result = raw_receive(peer, head, sizeof(head), NULL);

    memset(frame, 0, sizeof(*frame));
    if (result != RAW_OK)
        return result;
    if (memcmp(head, "MPA ID Rep Frame", 16) == 0)
        frame->reply = true;
    else if (memcmp(head, "MPA ID Req Frame", 16) != 0)
        return bad(peer, "no MPA key");
    frame->flags = head[16];
    frame->revision = head[17];
    frame->pd_len = raw_be16(head + 18);
    if (frame->pd_len > sizeof(frame->pd))
        return bad(peer, "PD_Length %zu", frame->pd_len);
    if ((frame->flags & 0x0fu) != 0)
        return bad(peer, "reserved flags 0x%02x", frame->flags);
    if (frame->revision < 2 && (frame->flags & RAW_MPA_S) != 0)
        return bad(peer, "S in revision %u", frame->revision);
    result = raw_receive(peer, frame->pd, frame->pd_len, NULL);
    if (result != RAW_OK)
        return result == RAW_EOF ? RAW_CUT : result;
    if ((frame->flags & RAW_MPA_S) != 0) {
        if (frame->pd_len < 4)
            return bad(peer, "S with PD_Length %zu", frame->pd_len);
        frame->word = raw_be32(frame->pd);
    }
    return RAW_OK;
}

/* An FPDU that is being received. */
struct incoming {
    uint64_t fpdu; /* stream position of its ULPDU_Length */
    uint32_t crc;
};

static enum raw_result take_marker(struct raw_peer *peer, struct incoming *in, bool before_length)
{
    unsigned char marker[4];
    uint64_t pointer = before_length ? 0 : peer->received - in->fpdu;
    enum raw_result result = raw_receive(peer, marker, sizeof(marker), NULL);

    if (result != RAW_OK)
        return result;
    in->crc = raw_crc32c(in->crc, marker, sizeof(marker));
    if (raw_be16(marker) != 0 || raw_be16(marker + 2) != pointer)
        return bad(peer, "marker at %llu is %08x, FPDUPTR should be %llu",
                   (unsigned long long)peer->received, raw_be32(marker),
                   (unsigned long long)pointer);
    peer->received += sizeof(marker);
    peer->markers_seen++;
    return RAW_OK;
}

/* Reads octets of the FPDU and removes the markers between them. */
static enum raw_result take(struct raw_peer *peer, struct incoming *in, unsigned char *data,
                            size_t len)
{
    while (len != 0) {
        size_t part = len;
        enum raw_result result;

        if (peer->markers && peer->received % MARKER_EVERY == 0) {
            result = take_marker(peer, in, false);
            if (result != RAW_OK)
                return result;
        }
        if (peer->markers && part > MARKER_EVERY - peer->received % MARKER_EVERY)
            part = MARKER_EVERY - (size_t)(peer->received % MARKER_EVERY);
        result = raw_receive(peer, data, part, NULL);
        if (result != RAW_OK)
            return result;
        in->crc = raw_crc32c(in->crc, data, part);
        peer->received += part;
        data += part;
        len -= part;
    }
    return RAW_OK;
}

static enum raw_result inside(enum raw_result result)
{
    return result == RAW_EOF ? RAW_CUT : result;
}

static enum raw_result take_trailer(struct raw_peer *peer, struct incoming *in, uint32_t *field)
{
    unsigned char wire[4];
    uint32_t crc = 0;
    enum raw_result result;

    if (peer->markers && peer->received % MARKER_EVERY == 0) {
        result = take_marker(peer, in, false);
        if (result != RAW_OK)
            return inside(result);
    }
    result = raw_receive(peer, wire, sizeof(wire), NULL);
    if (result != RAW_OK)
        return inside(result);
    peer->received += sizeof(wire);
    for (unsigned i = 0; i < 4; i++)
        crc |= (uint32_t)wire[i] << (8 * i);
    *field = crc;
    if (peer->crc && crc != in->crc)
        return bad(peer, "CRC %08x instead of %08x", crc, in->crc);
    return RAW_OK;
}

static enum raw_result take_apart(struct raw_peer *peer, struct raw_segment *segment)
{
    const unsigned char *u = segment->ulpdu;
    size_t header;

    if (segment->ulpdu_len < 14)
        return bad(peer, "ULPDU of %zu octets", segment->ulpdu_len);
    segment->tagged = (u[0] & 0x80u) != 0;
    segment->last = (u[0] & 0x40u) != 0;
    segment->ddp_version = u[0] & 0x03u;
    segment->rdmap_version = u[1] >> 6;
    segment->op = u[1] & 0x0fu;
    if ((u[0] & 0x3cu) != 0 || (u[1] & 0x30u) != 0)
        return bad(peer, "reserved bits in %02x%02x", u[0], u[1]);
    if (segment->ddp_version != 1 || segment->rdmap_version != 1)
        return bad(peer, "version bits in %02x%02x", u[0], u[1]);
    header = segment->tagged ? 14 : 18;
    if (segment->ulpdu_len < header)
        return bad(peer, "ULPDU of %zu octets", segment->ulpdu_len);
    segment->stag = raw_be32(u + 2);
    if (segment->tagged) {
        segment->to = raw_be64(u + 6);
    } else {
        segment->qn = raw_be32(u + 6);
        segment->msn = raw_be32(u + 10);
        segment->mo = raw_be32(u + 14);
    }
    segment->payload = u + header;
    segment->len = segment->ulpdu_len - header;
    return RAW_OK;
}

static enum raw_result take_start(struct raw_peer *peer, struct incoming *in, unsigned char *length)
{
    enum raw_result result;

    if (peer->markers && peer->received % MARKER_EVERY == 0) {
        result = take_marker(peer, in, true);
        if (result != RAW_OK)
            return result;
        in->fpdu = peer->received;
        return inside(take(peer, in, length, 2));
    }
    in->fpdu = peer->received;
    return take(peer, in, length, 2);
}

enum raw_result raw_receive_fpdu(struct raw_peer *peer, struct raw_segment *segment)
{
    struct incoming in = {0};
    unsigned char length[2];
    unsigned char pad[4];
    size_t pad_len;
    enum raw_result result = take_start(peer, &in, length);

    if (result != RAW_OK)
        return result;
    segment->ulpdu_len = raw_be16(length);
    result = take(peer, &in, segment->ulpdu, segment->ulpdu_len);
    if (result != RAW_OK)
        return inside(result);
    pad_len = (4 - (2 + segment->ulpdu_len) % 4) % 4;
    result = take(peer, &in, pad, pad_len);
    if (result != RAW_OK)
        return inside(result);
    result = take_trailer(peer, &in, &segment->crc);
    if (result != RAW_OK)
        return result;
    for (size_t i = 0; i < pad_len; i++) {
        if (pad[i] != 0)
            return bad(peer, "padding is not zero");
    }
    return take_apart(peer, segment);
}

enum raw_result raw_drain(struct raw_peer *peer)
{
    unsigned char scrap[4096];
    enum raw_result result;

    do
        result = raw_receive(peer, scrap, sizeof(scrap), NULL);
    while (result == RAW_OK);
    return result == RAW_CUT ? RAW_EOF : result;
}
