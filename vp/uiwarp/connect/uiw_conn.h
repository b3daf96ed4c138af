/* SPDX-License-Identifier: BSD-2-Clause */
/* Connection startup: from a TCP socket to an agreed stream. It runs on the loop's thread. */
#ifndef ITAPI_VP_UIWARP_CONNECT_UIW_CONN_H
#define ITAPI_VP_UIWARP_CONNECT_UIW_CONN_H

#include "vp/uiwarp/queue/uiw.h"

/*
 * Any thread. Gives up the EP's attempt, if there is one: closes the stream and reports nothing.
 * The EP has left its pending state or is being destroyed. wait: returns when no attempt refers to
 * the EP any more; otherwise it returns at once.
 */
void uiw_conn_cancel(struct ual_ep *ep, bool wait);

/* Loop thread, for ia_close. Ends all attempts, undecided requests and lingering streams. */
void uiw_cm_close(struct uiw_ia *ia);

/* Functions of the provider table. */
it_status_t uiw_listen_start(struct ual_listen *listen);
it_status_t uiw_listen_start_at(struct ual_listen *listen, const struct sockaddr_storage *address);
void uiw_listen_stop(struct ual_listen *listen);
it_status_t uiw_connect(struct ual_ep *ep, const it_path_t *path,
                        const it_conn_attributes_t *attributes, const it_conn_qual_t *qual,
                        it_cn_est_flags_t flags, const void *private_data, size_t length);
it_status_t uiw_accept(struct ual_ep *ep, struct ual_request *request, const void *private_data,
                       size_t length);
it_status_t uiw_reject(struct ual_request *request, const void *private_data, size_t length);
it_status_t uiw_handoff(struct ual_request *request, const it_conn_qual_t *qual, size_t spigot_id);
void uiw_request_addresses_locked(struct ual_request *request, struct itx_ep_addresses *addresses);
it_status_t uiw_socket_request(struct ual_listen *listen, int fd);
it_status_t uiw_convert(struct ual_ep *ep, const struct vp_convert *convert);

#endif
