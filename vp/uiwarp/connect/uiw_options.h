/* SPDX-License-Identifier: BSD-2-Clause */
/* Options of a converted socket: as its owner has set them, and as MPA needs them. */
#ifndef ITAPI_VP_UIWARP_CONNECT_UIW_OPTIONS_H
#define ITAPI_VP_UIWARP_CONNECT_UIW_OPTIONS_H

#include "vp/uiwarp/connect/uiw_conn_private.h"

/* Keeps the options as they are, and marks the socket as borrowed. */
void uiw_options_borrow(struct uiw_conn *conn);

/* Sets the options that MPA and the engine need. */
void uiw_options_change(struct uiw_conn *conn);

/* The options as they were. */
void uiw_options_restore(const struct uiw_conn *conn);

#endif
