/* SPDX-License-Identifier: BSD-2-Clause */
/* Tells a program when the table of GIDs changes. */
#ifndef ITAPI_ULP_OFA_LINK_OFA_GID_WATCH_H
#define ITAPI_ULP_OFA_LINK_OFA_GID_WATCH_H

#include "object/ofa_object.h"

/* Watches the addresses of the device. If this fails, changes of the addresses are not reported. */
void ofa_gid_watch_open(struct ofa_context *context);

/* No event is raised afterwards. */
void ofa_gid_watch_close(struct ofa_context *context);

#endif /* ITAPI_ULP_OFA_LINK_OFA_GID_WATCH_H */
