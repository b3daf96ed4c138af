/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What other processes attach to their datagrams. Anybody may send some, with descriptors. The last
 * one of a socket that lingers is closed for as long as its owner likes, so they are never left to
 * the kernel, which would close them in the receiving call.
 */
#ifndef ITAPI_ULP_SDP_AGREE_SDP_AGREE_ATTACHED_H
#define ITAPI_ULP_SDP_AGREE_SDP_AGREE_ATTACHED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

struct sdp_attached {
    bool has_user;
    uint32_t user; /* of the sender, as the kernel says */
    int fd;        /* the first descriptor, or -1 */
};

/* As recvmsg; the message has no room for attachments of its own. */
ssize_t sdp_attached_receive(int channel, struct msghdr *message, struct sdp_attached *attached);

/* Closes the descriptor, if there is one, without a wait. */
void sdp_attached_drop(const struct sdp_attached *attached);

/*
 * Called before the last process closes a channel: takes what waits there, and lets no more come.
 */
void sdp_attached_end(int channel);

#endif /* ITAPI_ULP_SDP_AGREE_SDP_AGREE_ATTACHED_H */
