/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef ITAPI_VP_VERBS_DEVICE_VERBS_DESCRIPTOR_H
#define ITAPI_VP_VERBS_DEVICE_VERBS_DESCRIPTOR_H

/*
 * Gives a descriptor another number, by a call of libc. The kernel numbers a device's descriptors
 * itself, and takes the lowest numbers. A library in front of libc, such as SDP's, chooses the new
 * number, so that a program which closes numbers that are not its own does not meet it. The old
 * number stays if none is free. Nothing else may use the descriptor yet.
 */
void verbs_descriptor_renumber(int *fd);

#endif
