/* SPDX-License-Identifier: BSD-2-Clause */
#include "object/ofa_door.h"

#include "device/ofa_device.h"
#include "link/ofa_link.h"
#include "memory/ofa_memory.h"
#include "qp/ofa_qp.h"

const struct ofa_door ofa_door = {
    .magic = OFA_DOOR_MAGIC,
    .size = sizeof(struct ofa_door),
    .listen = ofa_link_listen,
    .unlisten = ofa_link_unlisten,
    .watch = ofa_link_watch,
    .connect = ofa_link_connect,
    .accept = ofa_link_accept,
    .reject = ofa_link_reject,
    .disconnect = ofa_link_disconnect,
    .leave = ofa_link_leave,
    .addresses = ofa_link_addresses,
    .request_addresses = ofa_link_request_addresses,
    .find = ofa_qp_find,
    .set_state = ofa_qp_set_state,
    .show_state = ofa_qp_show_state,
    .register_still = ofa_register_still,
};
