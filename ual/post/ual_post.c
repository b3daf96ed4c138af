/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of the posting calls, and the line of the log about a post that the provider refuses.
 */
#include "ual/post/ual_post.h"

#include "ual/object/ual_ep_state.h"

it_status_t ual_post_refuse(const char *call, const struct ual_ep *ep, it_status_t status)
{
    return base_refuse(
        status, call, "ep_handle %p in %s, max_request_dtos %zu, max_recv_dtos %zu: refused by %s",
        (const void *)ep, ual_ep_state_name(ep), ual_post_limit(&ep->attr.max_request_dtos),
        ual_post_limit(&ep->attr.max_recv_dtos), ual_ia_of(&ep->object)->provider->name);
}
