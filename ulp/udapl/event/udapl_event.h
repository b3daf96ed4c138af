/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls on EVDs and CNOs. Entries of DAT_PROVIDER. */
#ifndef ITAPI_ULP_UDAPL_EVENT_UDAPL_EVENT_H
#define ITAPI_ULP_UDAPL_EVENT_UDAPL_EVENT_H

#include "object/udapl_cno.h"
#include "object/udapl_evd.h"
#include "object/udapl_ia.h"

#include <dat2/udat.h>
#include <dat2/dat_registry.h>

DAT_RETURN udapl_evd_create(DAT_IA_HANDLE ia_handle, DAT_COUNT qlen, DAT_CNO_HANDLE cno_handle,
                            DAT_EVD_FLAGS flags, DAT_EVD_HANDLE *evd_handle);
DAT_RETURN udapl_evd_query(DAT_EVD_HANDLE evd_handle, DAT_EVD_PARAM_MASK mask,
                           DAT_EVD_PARAM *param);
DAT_RETURN udapl_evd_modify_cno(DAT_EVD_HANDLE evd_handle, DAT_CNO_HANDLE cno_handle);
DAT_RETURN udapl_evd_enable(DAT_EVD_HANDLE evd_handle);
DAT_RETURN udapl_evd_disable(DAT_EVD_HANDLE evd_handle);
DAT_RETURN udapl_evd_set_unwaitable(DAT_EVD_HANDLE evd_handle);
DAT_RETURN udapl_evd_clear_unwaitable(DAT_EVD_HANDLE evd_handle);
DAT_RETURN udapl_evd_wait(DAT_EVD_HANDLE evd_handle, DAT_TIMEOUT timeout, DAT_COUNT threshold,
                          DAT_EVENT *event, DAT_COUNT *more);
DAT_RETURN udapl_evd_resize(DAT_EVD_HANDLE evd_handle, DAT_COUNT qlen);
DAT_RETURN udapl_evd_post_se(DAT_EVD_HANDLE evd_handle, const DAT_EVENT *event);
DAT_RETURN udapl_evd_dequeue(DAT_EVD_HANDLE evd_handle, DAT_EVENT *event);
DAT_RETURN udapl_evd_free(DAT_EVD_HANDLE evd_handle);
DAT_RETURN udapl_cno_create(DAT_IA_HANDLE ia_handle, DAT_OS_WAIT_PROXY_AGENT agent,
                            DAT_CNO_HANDLE *cno_handle);
DAT_RETURN udapl_cno_fd_create(DAT_IA_HANDLE ia_handle, DAT_FD *fd, DAT_CNO_HANDLE *cno_handle);
DAT_RETURN udapl_cno_modify_agent(DAT_CNO_HANDLE cno_handle, DAT_OS_WAIT_PROXY_AGENT agent);
DAT_RETURN udapl_cno_query(DAT_CNO_HANDLE cno_handle, DAT_CNO_PARAM_MASK mask,
                           DAT_CNO_PARAM *param);
DAT_RETURN udapl_cno_trigger(DAT_CNO_HANDLE cno_handle, DAT_EVD_HANDLE *evd_handle);
DAT_RETURN udapl_cno_wait(DAT_CNO_HANDLE cno_handle, DAT_TIMEOUT timeout,
                          DAT_EVD_HANDLE *evd_handle);
DAT_RETURN udapl_cno_free(DAT_CNO_HANDLE cno_handle);

/*
 * Gets the SEVD for events of this stream. Returns DAT_INVALID_HANDLE with the subtype if the EVD
 * was not created for the stream.
 */
DAT_RETURN udapl_evd_stream(struct udapl_evd *evd, it_event_type_t stream,
                            DAT_RETURN_SUBTYPE subtype, it_evd_handle_t *sevd);

/* For dat_ia_open: creates an EVD for the IA's asynchronous errors. */
DAT_RETURN udapl_evd_create_async(struct udapl_ia *ia, DAT_COUNT qlen, struct udapl_evd **evd);
/* The same with an EVD that another opening of the IA has created. */
DAT_RETURN udapl_evd_join_async(struct udapl_ia *ia, DAT_EVD_HANDLE handle);

/* First step of dat_ia_close. Errors go to no EVD of another IA afterwards. */
void udapl_event_close(struct udapl_ia *ia);

/*
 * Called after the IA of IT-API was freed, with all its handles. Free the object's other resources.
 * The caller ends the object itself.
 */
void udapl_evd_discard(struct udapl_evd *evd);
void udapl_cno_discard(struct udapl_cno *cno);

#endif
