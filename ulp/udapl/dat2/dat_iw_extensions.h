/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dat_iw_extensions.h - the iWARP extension of DAT 2.0. It turns an existing TCP connection into
 * the connection of an Endpoint. Names and numbers are those of the DAT Collaborative's draft
 * ("iWARP Transport Specific Extensions for DAT 2.0", 2006). Include <dat2/udat.h> first.
 *
 * An IA supports it if its line in dat.conf has ext=iw. dat_ia_query then reports DAT_EXTENSION_IW
 * as extension_supported and DAT_IW_EXTENSION_VERSION as extension_version. Other IAs return
 * DAT_NOT_IMPLEMENTED.
 *
 * At first both programs use the socket in any way. Then one of them, usually the server, announces
 * in a last message that it goes on as an Endpoint. It passes that message to dat_iw_ssp_create,
 * which sends it and waits for the peer's MPA Request. The other program reads exactly that message
 * and calls dat_iw_socket_connect, which sends the Request. Octets that a program reads beyond the
 * message are lost to MPA.
 *
 * Afterwards the stream belongs to the provider. Programs may close their descriptor, and must not
 * read or write it. If a call fails, the socket has not changed.
 */
#ifndef DAT_IW_EXTENSIONS_H
#define DAT_IW_EXTENSIONS_H

#include <dat2/udat.h>

#define DAT_IW_EXTENSION_VERSION 201 /* 2.0.1 */

/* Result of dat_get_handle_type for a Socket Service Point. */
typedef enum dat_iw_handle_type {
    DAT_IW_HANDLE_TYPE_SSP = DAT_HANDLE_TYPE_EXTENSION_BASE
} DAT_IW_HANDLE_TYPE;

typedef DAT_HANDLE DAT_IW_SSP_HANDLE;

/* A descriptor of a connected TCP socket. */
typedef int DAT_IW_SOCKET;

typedef enum dat_iw_ssp_state {
    DAT_IW_SSP_STATE_OPERATIONAL,    /* waits for the peer's MPA Request */
    DAT_IW_SSP_STATE_NON_OPERATIONAL /* the Request has arrived, or the attempt has ended */
} DAT_IW_SSP_STATE;

typedef struct dat_iw_ssp_param {
    DAT_IA_HANDLE ia_handle;
    DAT_IW_SOCKET socket_id; /* the given descriptor, which may be closed */
    DAT_EVD_HANDLE evd_handle;
    DAT_EP_HANDLE ep_handle; /* DAT_HANDLE_NULL after it was freed */
    DAT_IW_SSP_STATE ssp_state;
} DAT_IW_SSP_PARAM;

typedef enum dat_iw_ssp_param_mask {
    DAT_IW_SSP_FIELD_IA_HANDLE = 0x01,
    DAT_IW_SSP_FIELD_SOCKET_ID = 0x02,
    DAT_IW_SSP_FIELD_EVD_HANDLE = 0x04,
    DAT_IW_SSP_FIELD_EP_HANDLE = 0x08,
    DAT_IW_SSP_FIELD_SSP_STATE = 0x10,
    DAT_IW_SSP_FIELD_ALL = 0x1f
} DAT_IW_SSP_PARAM_MASK;

typedef enum dat_iw_op {
    DAT_IW_SSP_CREATE_OP,
    DAT_IW_SSP_FREE_OP,
    DAT_IW_SSP_QUERY_OP,
    DAT_IW_SOCKET_CONNECT_OP
} DAT_IW_OP;

/*
 * Creates a Socket Service Point: sends the last message of the stream, and waits for the peer's
 * MPA Request on behalf of an Endpoint, which is COMPLETION_PENDING from then on.
 *
 *   DAT_IA_HANDLE ia                 IA of the Endpoint; owns the local address of the socket
 *   DAT_IW_SOCKET socket_id          connected TCP socket
 *   DAT_EP_HANDLE ep_handle          UNCONNECTED, with a Protection Zone
 *   DAT_EVD_HANDLE evd_handle        for Connection Requests, or DAT_HANDLE_NULL. It gets no event:
 *                                    naming the Endpoint accepts the Request in advance
 *   const void *final_sm_msg         the message; copied. NULL: none
 *   DAT_COUNT final_sm_msg_len       its length in octets
 *   DAT_IW_SSP_HANDLE *ssp_handle    out: to be freed with dat_iw_ssp_free
 *
 * Events on the connect EVD of the Endpoint: DAT_CONNECTION_EVENT_ESTABLISHED, with the private
 * data of the peer, or DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR, also after 30 seconds without
 * a Request.
 *
 * Returns DAT_SUCCESS, DAT_INVALID_HANDLE, DAT_INVALID_PARAMETER (no connected TCP socket, or not
 * of an address of the IA), DAT_INVALID_STATE (of the Endpoint), DAT_MODEL_NOT_SUPPORTED,
 * DAT_INSUFFICIENT_RESOURCES, DAT_NOT_IMPLEMENTED.
 */
#define dat_iw_ssp_create(ia, socket_id, ep_handle, evd_handle, final_sm_msg, final_sm_msg_len,    \
                          ssp_handle)                                                              \
    dat_extension_op((DAT_HANDLE)(ia), (DAT_EXTENDED_OP)DAT_IW_SSP_CREATE_OP, (DAT_IA_HANDLE)(ia), \
                     (DAT_IW_SOCKET)(socket_id), (DAT_EP_HANDLE)(ep_handle),                       \
                     (DAT_EVD_HANDLE)(evd_handle), (const void *)(final_sm_msg),                   \
                     (DAT_COUNT)(final_sm_msg_len), (DAT_IW_SSP_HANDLE *)(ssp_handle))

/*
 * Frees a Socket Service Point. If it is still waiting, this ends the attempt: the Endpoint gets
 * DAT_CONNECTION_EVENT_DISCONNECTED.
 */
#define dat_iw_ssp_free(ssp_handle)                                                                \
    dat_extension_op((DAT_HANDLE)(ssp_handle), (DAT_EXTENDED_OP)DAT_IW_SSP_FREE_OP)

/* DAT_IW_SSP_PARAM_MASK ssp_param_mask, DAT_IW_SSP_PARAM *ssp_param: all members are filled in. */
#define dat_iw_ssp_query(ssp_handle, ssp_param_mask, ssp_param)                                    \
    dat_extension_op((DAT_HANDLE)(ssp_handle), (DAT_EXTENDED_OP)DAT_IW_SSP_QUERY_OP,               \
                     (DAT_IW_SSP_PARAM_MASK)(ssp_param_mask), (DAT_IW_SSP_PARAM *)(ssp_param))

/*
 * Sends an MPA Request over a connected TCP socket whose peer waits for one.
 *
 *   DAT_EP_HANDLE ep_handle          UNCONNECTED, with a Protection Zone
 *   DAT_IW_SOCKET socket_id          connected TCP socket of an address of the IA
 *   DAT_TIMEOUT timeout              for the peer's answer, in microseconds; not 0
 *   DAT_COUNT private_data_size, const void *private_data   as those of dat_ep_connect
 *
 * Events on the connect EVD are those of dat_ep_connect. Returns the codes of dat_iw_ssp_create.
 */
#define dat_iw_socket_connect(ep_handle, socket_id, timeout, private_data_size, private_data)      \
    dat_extension_op((DAT_HANDLE)(ep_handle), (DAT_EXTENDED_OP)DAT_IW_SOCKET_CONNECT_OP,           \
                     (DAT_IW_SOCKET)(socket_id), (DAT_TIMEOUT)(timeout),                           \
                     (DAT_COUNT)(private_data_size), (const void *)(private_data))

#endif /* DAT_IW_EXTENSIONS_H */
