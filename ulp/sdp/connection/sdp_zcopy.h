/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef ITAPI_ULP_SDP_CONNECTION_SDP_ZCOPY_H
#define ITAPI_ULP_SDP_CONNECTION_SDP_ZCOPY_H

#include "connection/sdp_object.h"

/*
 * Called with the lock. Both move some octets and return how many; 0: none, and the caller copies
 * instead. *error: EAGAIN, EINTR, EBADF or EFAULT if the call must end.
 */
size_t sdp_zcopy_send(struct sdp_connection *connection, const void *octets, size_t count,
                      const struct timespec *deadline, int *error);
size_t sdp_zcopy_receive(struct sdp_connection *connection, void *octets, size_t count,
                         const struct timespec *deadline, int *error);

#endif /* ITAPI_ULP_SDP_CONNECTION_SDP_ZCOPY_H */
