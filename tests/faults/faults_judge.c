/* SPDX-License-Identifier: BSD-2-Clause */
#include "faults/faults_judge.h"

#include "status/status_kit.h"

#include <inttypes.h>
#include <string.h>

#define POSTS 4096u

static struct {
    struct leg *leg;
    it_dto_status_t status;
    unsigned done;
} posts[POSTS];
static unsigned post_count;
static unsigned round_first;
static bool all_strict;

void judge_begin(struct fault_findings *to, bool strict)
{
    find_begin(to);
    all_strict = strict;
    memset(posts, 0, sizeof(posts));
    post_count = 0;
    round_first = 0;
}

void judge_round(void)
{
    round_first = post_count;
}

static bool is_documented(const char *call, it_status_t status)
{
    const struct status_documented *entry = status_documented;

    while (entry->name && strcmp(entry->name, call) != 0)
        entry++;
    for (unsigned i = 0; entry->name && entry->statuses[i] != IT_SUCCESS; i++) {
        if (entry->statuses[i] == status)
            return true;
    }
    return !entry->name;
}

/* Returns true if a fault of the system or a lost connection explains this documented status. */
static bool is_explained(it_status_t status)
{
    switch (status) {
    case IT_ERR_RESOURCES:
    case IT_ERR_RESOURCE_QUEUE_SIZE:
    case IT_ERR_RESOURCE_IRD:
    case IT_ERR_RESOURCE_ORD:
    case IT_ERR_RESOURCE_REQ_DTO:
    case IT_ERR_RESOURCE_RECV_DTO:
    case IT_ERR_INTERRUPT:
    case IT_ERR_CONN_QUAL_BUSY:
    case IT_ERR_INVALID_CONVERSION: /* the other side failed and closed its end */
    case IT_ERR_INVALID_EP_STATE:
    case IT_ERR_INVALID_CN_EST_ID:
        return true;
    default:
        return false;
    }
}

bool judge_call(const char *call, it_status_t status)
{
    if (status == IT_SUCCESS)
        return true;
    if (all_strict)
        find_say("%s: %s, and nothing was wrong", call, itx_status_string(status));
    else if (!is_documented(call, status))
        find_say("%s: %s, which is not documented", call, itx_status_string(status));
    else if (!is_explained(status))
        find_say("%s: %s, which the fault does not explain", call, itx_status_string(status));
    return false;
}

void judge_must(const char *call, it_status_t status)
{
    if (status != IT_SUCCESS)
        find_say("%s: %s, where only success will do", call, itx_status_string(status));
}

it_dto_cookie_t judge_cookie(struct leg *leg)
{
    posts[post_count % POSTS].leg = leg;
    return post_count;
}

bool judge_post(const char *call, struct leg *leg, it_status_t status)
{
    if (leg->strict)
        judge_must(call, status);
    if (!judge_call(call, status))
        return false;
    post_count++;
    leg->due++;
    if (post_count >= POSTS)
        find_say("the scenario posts more than it can count");
    return true;
}

bool judge_is_done(it_dto_cookie_t cookie, it_dto_status_t *status)
{
    *status = posts[cookie].status;
    return posts[cookie].done != 0;
}

void judge_completion(struct leg *of, const it_dto_cmpl_event_t *event)
{
    struct leg *leg;

    if (event->cookie >= post_count) {
        find_say("a completion with cookie 0x%" PRIx64 " that no post had",
                 (uint64_t)event->cookie);
        return;
    }
    leg = posts[event->cookie].leg;
    if (posts[event->cookie].done++ != 0) {
        find_say("%s: post %" PRIu64 " completes twice", leg->name, (uint64_t)event->cookie);
        return;
    }
    posts[event->cookie].status = event->dto_status;
    if (event->cookie < round_first)
        return;
    leg->due--;
    if (of && event->event_number == IT_DTO_RC_RECV_CMPL_EVENT &&
        event->dto_status == IT_DTO_SUCCESS)
        of->received++;
    if (event->dto_status != IT_DTO_SUCCESS &&
        (leg->strict || (all_strict && !leg->ended && event->dto_status != IT_DTO_ERR_FLUSHED)))
        find_say("%s: post %" PRIu64 " fails: %s", leg->name, (uint64_t)event->cookie,
                 itx_dto_status_string(event->dto_status));
}

void judge_connection(struct leg *leg, it_event_type_t number)
{
    bool is_end =
        number == IT_CM_MSG_CONN_DISCONNECT_EVENT || number == IT_CM_MSG_CONN_BROKEN_EVENT;
    bool right = is_end ? leg->established && !leg->ended : leg->pending;

    if (!right)
        find_say("%s: %s out of turn (pending %d, established %d, ended %d)", leg->name,
                 itx_event_string(number), leg->pending, leg->established, leg->ended);
    if (leg->strict && number != IT_CM_MSG_CONN_ESTABLISHED_EVENT)
        find_say("%s: %s", leg->name, itx_event_string(number));
    if (is_end)
        leg->ended = true;
    else if (number == IT_CM_MSG_CONN_ESTABLISHED_EVENT)
        leg->established = true;
    else
        leg->failed = true;
    if (!is_end)
        leg->pending = false;
}
