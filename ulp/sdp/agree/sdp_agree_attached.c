/* SPDX-License-Identifier: BSD-2-Clause */
#include "agree/sdp_agree_attached.h"

#include <string.h>
#include <unistd.h>

#define FDS_MAX     253  /* of a message: SCM_MAX_FD of the kernel */
#define WAITING_MAX 1024 /* messages: more than the kernel lets wait */

static void drop(int fd)
{
    static const struct linger none = {0, 0};

    (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
    (void)close(fd);
}

static void take_descriptors(const struct cmsghdr *part, struct sdp_attached *attached)
{
    size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);

    for (size_t i = 0; i < count; i++) {
        int fd;

        memcpy(&fd, CMSG_DATA(part) + i * sizeof(fd), sizeof(fd));
        if (attached->fd < 0)
            attached->fd = fd;
        else
            drop(fd);
    }
}

ssize_t sdp_attached_receive(int channel, struct msghdr *message, struct sdp_attached *attached)
{
    union {
        struct cmsghdr align;
        uint8_t room[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(FDS_MAX * sizeof(int))];
    } control;
    ssize_t length;

    *attached = (struct sdp_attached){.fd = -1};
    message->msg_control = control.room;
    message->msg_controllen = sizeof(control.room);
    length = recvmsg(channel, message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (length < 0)
        return length;
    for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part; part = CMSG_NXTHDR(message, part)) {
        struct ucred credentials;

        if (part->cmsg_level != SOL_SOCKET)
            continue;
        if (part->cmsg_type == SCM_CREDENTIALS) {
            memcpy(&credentials, CMSG_DATA(part), sizeof(credentials));
            attached->user = credentials.uid;
            attached->has_user = true;
        }
        if (part->cmsg_type == SCM_RIGHTS)
            take_descriptors(part, attached);
    }
    message->msg_control = NULL;
    message->msg_controllen = 0;
    return length;
}

void sdp_attached_drop(const struct sdp_attached *attached)
{
    if (attached->fd >= 0)
        drop(attached->fd);
}

void sdp_attached_end(int channel)
{
    struct sdp_attached attached;
    char octet;

    if (shutdown(channel, SHUT_RD) != 0)
        return;
    for (int i = 0; i < WAITING_MAX; i++) {
        struct iovec part = {&octet, sizeof(octet)};
        struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

        if (sdp_attached_receive(channel, &message, &attached) < 0)
            return;
        sdp_attached_drop(&attached);
    }
}
