/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel descriptor at a program's number once its connection is SDP. To poll, select,
 * epoll and O_ASYNC it shows what the socket would show. It is one end of a pair of AF_UNIX
 * datagram sockets; this library has the other end, the hand. A call that escapes the hooks finds
 * an end of file (or EAGAIN) when it reads and EPIPE when it writes: no octet of the program is
 * ever in the pair.
 *
 * The caller serialises the calls on one face. `fd` is any number that refers to it at the moment.
 */
#ifndef ITAPI_ULP_SDP_FACE_SDP_FACE_H
#define ITAPI_ULP_SDP_FACE_SDP_FACE_H

struct sdp_face {
    int hand;
    unsigned shown; /* poll events */
    int marks;      /* datagrams in its queue */
};

/*
 * Opens a face, which shows nothing, and stores it in *fd. Returns 0 or -errno. Both ends are
 * close-on-exec.
 */
int sdp_face_open(struct sdp_face *face, int *fd);

/*
 * Makes the face show these events: POLLIN, POLLOUT, POLLRDHUP, POLLHUP, POLLERR. The last three
 * stay, as on a socket, and imply POLLIN. `news`: events already shown that edge-triggered pollers
 * and SIGIO are notified of again. The kernel has no object that also shows POLLPRI.
 */
void sdp_face_show(struct sdp_face *face, int fd, unsigned events, unsigned news);

/* SO_ERROR has been read: clears POLLERR. */
void sdp_face_error_read(struct sdp_face *face, int fd);

/* Closes the hand. */
void sdp_face_close(struct sdp_face *face);

#endif /* ITAPI_ULP_SDP_FACE_SDP_FACE_H */
