/* SPDX-License-Identifier: BSD-2-Clause */
/* faults_judge.h - checks that statuses and events keep the promises of the API. */
#ifndef ITAPI_TESTS_FAULTS_JUDGE_H
#define ITAPI_TESTS_FAULTS_JUDGE_H

#include "faults/faults_scenario.h"
#include "itx_api.h"

/* One endpoint and the state that its events have shown. */
struct leg {
    it_ep_handle_t ep;
    const char *name;
    bool strict;  /* nothing may fail */
    bool pending; /* connecting: an event is due */
    bool established;
    bool failed;
    bool ended;
    bool freed; /* no event is due; queued ones may still come */
    unsigned affiliated;
    unsigned due; /* posted, not completed */
    unsigned received;
};

/* Resets all state. strict: nothing may fail. */
void judge_begin(struct fault_findings *findings, bool strict);
/* Returns true on success. Any other status must be explained by the fault. */
bool judge_call(const char *call, it_status_t status);
#define JUDGE(call, arguments) judge_call(#call, call arguments)
/* Reports any status but IT_SUCCESS. */
void judge_must(const char *call, it_status_t status);
#define MUST(call, arguments) judge_must(#call, call arguments)

/* Earlier posts are no longer due, but may still complete, each once. */
void judge_round(void);

/* Returns the cookie of the leg's next post. judge_post returns whether the post was accepted. */
it_dto_cookie_t judge_cookie(struct leg *leg);
bool judge_post(const char *call, struct leg *leg, it_status_t status);
#define POST(leg, call, arguments) judge_post(#call, (leg), call arguments)
bool judge_is_done(it_dto_cookie_t cookie, it_dto_status_t *status);

/* of: the endpoint's leg, or NULL. The post may belong to the leg of a shared queue. */
void judge_completion(struct leg *of, const it_dto_cmpl_event_t *event);
void judge_connection(struct leg *leg, it_event_type_t number);

#endif /* ITAPI_TESTS_FAULTS_JUDGE_H */
