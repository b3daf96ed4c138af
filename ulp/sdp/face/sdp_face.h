/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's descriptor that stands in a program's number once its connection is SDP: it shows to
 * poll, select, epoll and O_ASYNC what the socket would show. One end of a pair of AF_UNIX datagram
 * sockets; the other end, the hand, is ours. Calls that escape the hooks find an end of file when
 * they read (or EAGAIN) and EPIPE when they write: no octet of the program is ever in here.
 *
 * The caller serialises the calls on one face. `fd` is any number that names it at the moment.
 */
#ifndef ITAPI_ULP_SDP_FACE_SDP_FACE_H
#define ITAPI_ULP_SDP_FACE_SDP_FACE_H

struct sdp_face {
    int hand;
    unsigned shown; /* events of poll */
    int marks;      /* datagrams in its queue */
};

/* The face, which shows nothing, goes to *fd. 0 or -errno. Both are closed on exec. */
int sdp_face_open(struct sdp_face *face, int *fd);

/*
 * Has it show these of POLLIN, POLLOUT, POLLRDHUP, POLLHUP, POLLERR. The last three stay, as they
 * do on a socket, and show POLLIN, too. `news`: edge-triggered pollers and SIGIO are told again of
 * what is shown already. The kernel has no object that shows POLLPRI besides.
 */
void sdp_face_show(struct sdp_face *face, int fd, unsigned events, unsigned news);

/* SO_ERROR has been read: POLLERR goes. */
void sdp_face_error_read(struct sdp_face *face, int fd);

/* Closes the hand. */
void sdp_face_close(struct sdp_face *face);

#endif /* ITAPI_ULP_SDP_FACE_SDP_FACE_H */
