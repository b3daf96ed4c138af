/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions of the provider's table. */
#ifndef ITAPI_VP_VERBS_PROVIDER_VERBS_PROVIDER_H
#define ITAPI_VP_VERBS_PROVIDER_VERBS_PROVIDER_H

#include "vp/verbs/device/verbs_ep.h"

it_status_t verbs_ep_create(struct ual_ep *ual);
void verbs_ep_destroy(struct ual_ep *ual);
void verbs_ep_halt(struct ual_ep *ual);
void verbs_ep_proceed(struct ual_ep *ual, it_ep_param_mask_t changed);
it_status_t verbs_ep_modify_locked(struct ual_ep *ual, it_ep_param_mask_t mask,
                                   it_ep_attributes_t *attr);
it_status_t verbs_ep_reset(struct ual_ep *ual);

size_t verbs_interfaces(it_interface_t *interfaces, size_t capacity);
bool verbs_has_interface(const char *name);
it_status_t verbs_ia_open(struct ual_ia *ual);
void verbs_ia_close(struct ual_ia *ual);
const struct vp_attributes *verbs_ia_attributes(const struct ual_ia *ual);

/* verbs_async.c */
bool verbs_async_open(struct verbs_ia *ia);
void verbs_async_close(struct verbs_ia *ia);

/* Runs on the IA's thread. Reports the loss of the device once. */
void verbs_device_gone(struct verbs_ia *ia);

/* Runs on the IA's thread. Handles all pending events of the device. */
void verbs_async_take(struct verbs_ia *ia);

#endif
