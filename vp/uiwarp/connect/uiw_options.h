/* SPDX-License-Identifier: BSD-2-Clause */
/* Options of a converted socket: as its owner has set them, and as MPA needs them. */
#ifndef ITAPI_VP_UIWARP_CONNECT_UIW_OPTIONS_H
#define ITAPI_VP_UIWARP_CONNECT_UIW_OPTIONS_H

#include "vp/uiwarp/connect/uiw_conn_private.h"

/* Notes the options as they are. */
void uiw_options_borrow(struct uiw_conn *conn);

/* Sets the options that MPA and the engine need. */
void uiw_options_change(int fd);

/* The options as they were, as far as the state has changed them. */
void uiw_options_restore(const struct uiw_conn *conn);

#endif
