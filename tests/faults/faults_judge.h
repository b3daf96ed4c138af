/* SPDX-License-Identifier: BSD-2-Clause */
/* faults_judge.h - statuses and events against what the API promises: each once. */
#ifndef ITAPI_TESTS_FAULTS_JUDGE_H
#define ITAPI_TESTS_FAULTS_JUDGE_H

#include "faults/faults_scenario.h"
#include "itx_api.h"

/* One endpoint and what has been heard of it. */
struct leg {
    it_ep_handle_t ep;
    const char *name;
    bool strict;  /* nothing may fail */
    bool pending; /* connecting: an event is due */
    bool established;
    bool failed;
    bool ended;
    bool freed; /* nothing more is due; what was queued before may come */
    unsigned affiliated;
    unsigned due; /* posted, not completed */
    unsigned received;
};

/* Forgets all; everything that follows is said there. strict: nothing may fail. */
void judge_begin(struct fault_findings *findings, bool strict);
void judge_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* True if it has succeeded; else the status has to be one that a lack of something explains. */
bool judge_call(const char *call, it_status_t status);
#define JUDGE(call, arguments) judge_call(#call, call arguments)
/* Only success will do. */
void judge_must(const char *call, it_status_t status);
#define MUST(call, arguments) judge_must(#call, call arguments)

/* Posts before are no longer due; they may complete, each once. */
void judge_round(void);

/* The cookie of the next post of this leg; judge_post says whether it was accepted. */
it_dto_cookie_t judge_cookie(struct leg *leg);
bool judge_post(const char *call, struct leg *leg, it_status_t status);
#define POST(leg, call, arguments) judge_post(#call, (leg), call arguments)
bool judge_is_done(it_dto_cookie_t cookie, it_dto_status_t *status);

/* of: the endpoint's leg, or NULL; the post may have been to that of a shared queue. */
void judge_completion(struct leg *of, const it_dto_cmpl_event_t *event);
void judge_connection(struct leg *leg, it_event_type_t number);

#endif /* ITAPI_TESTS_FAULTS_JUDGE_H */
