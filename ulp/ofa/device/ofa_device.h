/* SPDX-License-Identifier: BSD-2-Clause */
/* The devices of this process. */
#ifndef ITAPI_ULP_OFA_DEVICE_OFA_DEVICE_H
#define ITAPI_ULP_OFA_DEVICE_OFA_DEVICE_H

#include "object/ofa_object.h"

static inline struct ofa_device *ofa_device_of(struct ibv_device *device)
{
    return (struct ofa_device *)(void *)device;
}

void ofa_device_hold(struct ofa_device *device);
void ofa_device_release(struct ofa_device *device);

/* Functions for the table of a context. */
int ofa_query_port(struct ibv_context *context, uint8_t port_num, struct ibv_port_attr *attr,
                   size_t length);
int ofa_query_device_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
                        struct ibv_device_attr_ex *attr, size_t length);

/* Fills slots of operations that are not supported. */
void ofa_slots_fill(struct verbs_context *verbs);

extern const struct ofa_door ofa_door;

#endif /* ITAPI_ULP_OFA_DEVICE_OFA_DEVICE_H */
