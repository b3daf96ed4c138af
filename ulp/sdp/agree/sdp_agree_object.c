/* SPDX-License-Identifier: BSD-2-Clause */
#include "agree/sdp_agree_object.h"

#include "agree/sdp_agree_share.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

pthread_mutex_t sdp_agree_lock = PTHREAD_MUTEX_INITIALIZER;
struct sdp_agree_host sdp_agree_host;
struct sdp_agree_settings sdp_agree_settings;

static uint8_t key[SDP_KEY_OCTETS];
static bool has_key;

/* ---- Settings ------------------------------------------------------------------------------- */

/* Reads 32 hexadecimal digits at the beginning of the file. */
static bool read_key(const char *path)
{
    char text[2 * SDP_KEY_OCTETS + 1] = "";
    ssize_t length = -1;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd >= 0) {
        length = read(fd, text, sizeof(text) - 1);
        (void)close(fd);
    }
    if (length != sizeof(text) - 1)
        return false;
    for (int i = 0; i < SDP_KEY_OCTETS; i++) {
        char digits[3] = {text[2 * i], text[2 * i + 1], '\0'};

        /* strtoul alone would take blanks and a sign for the first digit. */
        if (!isxdigit((unsigned char)digits[0]) || !isxdigit((unsigned char)digits[1]))
            return false;
        key[i] = (uint8_t)strtoul(digits, NULL, 16);
    }
    return true;
}

bool sdp_agree_read_key(const char *path)
{
    has_key = path && read_key(path);
    return has_key;
}

const uint8_t *sdp_agree_key(void)
{
    return has_key ? key : NULL;
}

int64_t sdp_agree_now_us(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int sdp_agree_keep(int fd)
{
    return sdp_agree_host.keep_descriptor ? sdp_agree_host.keep_descriptor(fd) : fd;
}

void sdp_agree_drop(int *fd)
{
    if (sdp_agree_host.drop_descriptor)
        sdp_agree_host.drop_descriptor(*fd);
    else
        (void)close(*fd);
    *fd = -1;
}

int64_t sdp_agree_reply_us(const struct sdp_agreement *agreement)
{
    return (int64_t)sdp_agree_settings.patience_ms * 1000 + 2 * agreement->round_trip_us;
}

bool sdp_agree_alone(const struct sdp_agreement *agreement)
{
    return sdp_share_alone(agreement->share);
}

bool sdp_agree_may_convert(const uint8_t own[16])
{
    return !sdp_agree_host.may_convert || sdp_agree_host.may_convert(own);
}

uint8_t sdp_agree_kind(void)
{
    return sdp_agree_host.kind ? (uint8_t)sdp_agree_host.kind() : 0;
}

void sdp_agree_cork(int fd, int on)
{
    (void)setsockopt(fd, IPPROTO_TCP, TCP_CORK, &on, sizeof(on));
}

/* ---- Prefaces ------------------------------------------------------------------------------- */

bool sdp_agree_say(struct sdp_agreement *agreement, const uint8_t *first, const uint8_t *second)
{
    uint8_t preface[SDP_PREFACE_OCTETS];
    int corked = 0;
    socklen_t length = sizeof(corked);
    ssize_t sent;

    memcpy(preface, first, SDP_NONCE_OCTETS);
    memcpy(preface + SDP_NONCE_OCTETS, second, SDP_NONCE_OCTETS);
    agreement->corked =
        getsockopt(agreement->fd, IPPROTO_TCP, TCP_CORK, &corked, &length) == 0 && corked;
    if (agreement->corked)
        sdp_agree_cork(agreement->fd, 0);
    sent = send(agreement->fd, preface, sizeof(preface), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent == sizeof(preface))
        return true;
    if (sent > 0) /* cannot happen on Linux: an empty connection takes 32 octets at once */
        (void)shutdown(agreement->fd, SHUT_RDWR);
    return false;
}

/* The stream is as before, and the octets are still there. */
static bool is_passing(int error)
{
    return error == EAGAIN || error == EINTR || error == ENOMEM || error == ENOBUFS;
}

int sdp_agree_peek(const struct sdp_agreement *agreement, uint8_t octets[SDP_PREFACE_OCTETS])
{
    ssize_t count = recv(agreement->fd, octets, SDP_PREFACE_OCTETS, MSG_PEEK | MSG_DONTWAIT);

    if (count < 0 && is_passing(errno))
        return 0;
    if (count < 0) { /* the peer's preface, if it still comes, is not for the program */
        (void)shutdown(agreement->fd, SHUT_RDWR);
        sdp_agree_take(agreement);
    }
    return count == SDP_PREFACE_OCTETS ? 1 : -1;
}

void sdp_agree_take(const struct sdp_agreement *agreement)
{
    uint8_t octets[SDP_PREFACE_OCTETS];

    (void)recv(agreement->fd, octets, sizeof(octets), MSG_DONTWAIT);
}
