/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef ITAPI_UAL_PROVIDERS_UAL_HOST_H
#define ITAPI_UAL_PROVIDERS_UAL_HOST_H

#include "ual/vp_host.h"

/* Handed to every provider that comes from a shared library. */
extern const struct vp_host ual_host;

/* ual_host_loop.c: see vp_host.h. */
void ual_host_ia_call(struct ual_ia *ia, void (*function)(void *argument), void *argument);
bool ual_host_ia_is_current(const struct ual_ia *ia);
struct vp_task *ual_host_task_new(struct ual_ia *ia, void (*run)(void *argument), void *argument);
void ual_host_task_submit(struct vp_task *task);
void ual_host_task_free(struct vp_task *task);
struct vp_watch *ual_host_watch_start(struct ual_ia *ia, int fd, void (*ready)(void *argument),
                                      void *argument);
void ual_host_watch_stop(struct vp_watch *watch);
struct vp_timer *ual_host_timer_new(struct ual_ia *ia, void (*expired)(void *argument),
                                    void *argument);
bool ual_host_timer_start(struct vp_timer *timer, uint64_t delay_ns);
void ual_host_timer_stop(struct vp_timer *timer);
void ual_host_timer_free(struct vp_timer *timer);

#endif
