/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A session with its one connection (MaxConnections=1, error recovery level 0), from the first
 * octet to the end. A function that may end the session sets .ended, and its caller checks that.
 */
#ifndef ITAPI_ULP_ISER_SESSION_ISER_SESSION_H
#define ITAPI_ULP_ISER_SESSION_ISER_SESSION_H

#include "auth/iser_chap.h"
#include "scsi/iser_scsi.h"
#include "session/iser_keys.h"
#include "transfer/iser_link.h"

#include <event2/event.h>
#include <event2/event_struct.h>

#define ISER_WINDOW       128u /* commands that an initiator may have open, at most */
#define ISER_WINDOW_LOGIN 8u   /* window announced before the number of receives is known */
#define ISER_WINDOW_SPARE 32u  /* immediate ones, beyond */
#define ISER_TASK_BUCKETS 64u
#define ISER_NAME_MAX     223u    /* RFC 7143 4.2.7.1 */
#define ISER_TMFS         8u      /* task management requests that may wait at a time */
#define ISER_RECEIVE_MAX  262144u /* MaxRecvDataSegmentLength of ours */

enum iser_phase {
    ISER_LOGGING_IN,
    ISER_FULL_FEATURE,
    ISER_LEAVING /* accepts nothing more; pending output is still sent */
};

struct iser_session;

struct iser_target {
    struct itiser_target_config config; /* owned by the service, with all it points to */
    struct iser_scsi_target *scsi;
};

/* All sessions, and the state that they share. */
struct iser_service {
    struct event_base *base;
    struct iser_terms terms;
    itiser_write_base_t write_base;
    struct timeval silence; /* time until an initiator is pinged, and again until it is dropped */
    struct iser_target *targets;
    size_t target_count;
    struct itiser_target_config discovery; /* has the secrets of discovery sessions */
    struct iser_session *sessions;
    struct iser_buffers buffers, rdma_buffers;
    uint64_t buffered, buffered_max; /* octets of buffers that commands have; their limit */
    uint16_t last_tsih;
    uint32_t last_task; /* numbers of tasks in order of arrival */
    uint64_t logins, failed_logins;
    /*
     * Raised when an aborted task has been freed or data has moved: iser_aborted.c resumes commands
     * that wait for this.
     */
    struct event aborted;
    /* For the portal: */
    void *portal;
    /* Appends the TargetAddress lines for an initiator that came through this session. */
    void (*addresses)(struct iser_session *session, struct iser_text *out);
    /*
     * Called when the session has logged in, other than for discovery without a proof, or is about
     * to be freed.
     */
    void (*settled)(struct iser_session *session);
    /*
     * Way (A): turns the connection into RDMA after the final Login Response. A session of way (A)
     * has .convertible. Returns false if that is impossible.
     */
    bool (*convert)(struct iser_session *session, const uint8_t *bhs, const struct iser_text *text);
};

enum iser_task_state {
    ISER_TASK_DATA,    /* data-out is coming */
    ISER_TASK_UNIT,    /* the unit executes it */
    ISER_TASK_HELD,    /* it has ended; tasks that it has aborted have not */
    ISER_TASK_RESPONSE /* the link sends the response */
};

struct iser_task {
    struct iser_transfer transfer; /* must be first; links use only this part */
    struct iser_scsi_command command;
    struct iser_session *session;
    struct iser_task *next; /* in its bucket */
    uint32_t number;
    uint32_t held_until; /* held: the last task that it has aborted */
    enum iser_task_state state;
    bool in_window;    /* occupies a place of the window */
    bool aborted;      /* gets no response; freed when its buffer is no longer used */
    bool placing;      /* the link reads a data segment into the buffer */
    bool reading;      /* RDMA Reads into the buffer are outstanding */
    bool overdue;      /* aborted, and its data has not come since the last look */
    bool unsolicited;  /* Data-Out without R2T may come */
    uint32_t received; /* octets of data-out, including dropped ones */
    uint32_t data_sn;  /* the next one expected */
    uint32_t bidi_in;  /* octets that a bidirectional command expects to read */
    uint8_t sense[2 + ISER_SENSE_MAX];
};

/* A task management request that waits until none of the tasks that it aborts is in use. */
struct iser_tmf {
    bool waits;
    uint8_t function;
    uint8_t lun[8];
    uint32_t itt;
    uint32_t until; /* the last task that it applies to */
    uint8_t response[ISER_BHS];
};

/* The last Login Response. It waits until the unit has ended the commands of an older session. */
struct iser_login_end {
    uint8_t bhs[ISER_BHS];
    struct iser_text text;
};

struct iser_login {
    bool begun;
    bool authenticated;
    bool parameters_told; /* this side's have been sent */
    unsigned stage;
    unsigned rounds;
    uint16_t continues; /* TSIH of the session whose connection this one replaces; 0: none */
    struct iser_keys_said said;
    struct iser_chap chap;
    size_t text_length;
    char text[ISER_TEXT_MAX * 2];
};

/* A text that is sent in parts, and one that arrives in parts. */
struct iser_dialogue {
    struct iser_text out; /* the end of the answer, not yet in .answer */
    char *answer;
    size_t length;
    size_t told; /* octets of .answer that have been sent */
    size_t in_length;
    char in[ISER_TEXT_MAX];
};

struct iser_session {
    struct iser_service *service;
    struct iser_session *next, **previous;
    struct iser_link *link;       /* closed when the session has ended */
    struct iser_buffers *buffers; /* of the link's kind; outlive it */
    unsigned depth;               /* nested calls: the memory stays */
    bool ended;
    bool discovery;
    bool convertible; /* the portal can convert it */
    enum iser_phase phase;
    struct iser_numbers numbers;
    struct iser_params params;
    struct iser_login *login;         /* during the login */
    struct iser_login_end *login_end; /* NULL: no login waits for its end */
    struct iser_dialogue *dialogue;
    char initiator[ISER_NAME_MAX + 1];
    uint8_t isid[6];
    uint16_t tsih, cid, tag;
    struct iser_target *target; /* NULL: discovery */
    struct iser_scsi_nexus *nexus;
    struct iser_task *tasks[ISER_TASK_BUCKETS];
    unsigned task_count, window_used, window;
    struct iser_task *spare;
    struct iser_tmf tmfs[ISER_TMFS];
    struct event idle;
    bool pinged, heard;
    uint32_t ping;
    uint64_t commands;
    uint64_t buffered; /* its part of the service's */
    void *arrival;     /* the portal's, until the session has settled */
};

/* ---- iser_session.c ---- */

/*
 * Creates the session of a connection to this portal group and takes the link. Returns NULL if
 * memory runs out: the link is closed then.
 */
struct iser_session *iser_session_new(struct iser_service *service, struct iser_link *link,
                                      uint16_t tag);
/* Replaces the session's link; the old one is closed. */
void iser_session_take_link(struct iser_session *session, struct iser_link *link);
void iser_session_enter(struct iser_session *session);
/* The last leave of an ended session frees it, once no unit uses it any more. */
void iser_session_leave(struct iser_session *session);
/* Gives up the text that is being exchanged, if any. */
void iser_session_end_dialogue(struct iser_session *session);

/* Cuts the connection; tasks end without responses. Does nothing if the session has ended. */
void iser_session_end(struct iser_session *session, const char *why);
/* Ends the session when everything queued has been sent. */
void iser_session_leave_in_order(struct iser_session *session);

/* Sends a PDU; fills in StatSN and the other numbers. */
void iser_session_send(struct iser_session *session, const uint8_t *bhs, const void *data,
                       size_t length);
void iser_session_reject(struct iser_session *session, const struct iser_pdu *pdu, uint8_t reason);
/*
 * Asks the initiator to log out within this number of seconds, and announces the end of the
 * session.
 */
void iser_session_ask_to_leave(struct iser_session *session, uint16_t seconds);

/* ---- iser_dispatch.c ---- */

/* Set for links before iser_session_new. */
extern const struct iser_link_user iser_session_link_user;

/* ---- iser_login.c ---- */

void iser_login_request(struct iser_session *session, const struct iser_pdu *pdu);

/* ---- iser_login_done.c ---- */

/* Handles the names of initiator and target. Returns 0 or a login status. */
uint16_t iser_login_names(struct iser_session *session, const char *text, size_t length);
/* Returns the configuration that has the secrets of the login. */
const struct itiser_target_config *iser_login_secrets(const struct iser_session *session);
/* Returns true during a login whose initiator has proved its secret. */
bool iser_login_is_proven(const struct iser_session *session);
/* Checks name and address. */
bool iser_login_is_allowed(const struct iser_session *session, const struct iser_target *target);
/* Everything is agreed on: creates or continues the session and sends the last response. */
void iser_login_finish(struct iser_session *session, uint8_t *bhs, const struct iser_text *text);
/* Finishes a login that needs to wait no more. Returns false if there is none. */
bool iser_login_resume_one(struct iser_service *service);

/* ---- iser_command.c ---- */

void iser_command(struct iser_session *session, const struct iser_pdu *pdu);
void iser_command_data(struct iser_session *session, const struct iser_pdu *pdu);
uint8_t *iser_command_place(struct iser_session *session, const uint8_t *bhs, uint32_t length);
void iser_command_solicited(struct iser_task *task);
void iser_command_responded(struct iser_task *task);
/* Responds to a held command that needs to wait no more. Returns false if there is none. */
bool iser_command_resume_one(struct iser_service *service);

/* ---- iser_task.c ---- */

/* Returns NULL if there are too many, or if memory runs out. */
struct iser_task *iser_task_new(struct iser_session *session, uint32_t itt);
struct iser_task *iser_task_find(struct iser_session *session, uint32_t itt);
/* Called when the task has ended and its buffer is not in use. */
void iser_task_free(struct iser_task *task);
/* Suppresses the response; frees the task at once or when nothing uses it any more. */
void iser_task_abort(struct iser_task *task);
/* Called when the session has ended and its link is closed. */
void iser_task_abort_all(struct iser_session *session);
void iser_tasks_fini(struct iser_session *session);
/* Advances MaxCmdSN. */
void iser_task_window(struct iser_session *session);
/* Gives up the task's place in the window. */
void iser_task_leave_window(struct iser_task *task);

/* ---- iser_tmf.c ---- */

void iser_tmf(struct iser_session *session, const struct iser_pdu *pdu);
/* Returns true while a task of this session's target that was aborted earlier is on this unit. */
bool iser_tmf_is_busy(const struct iser_session *session, const uint8_t lun[8], uint32_t until);
/* Answers a request that needs to wait no more. Returns false if there is none. */
bool iser_tmf_resume_one(struct iser_service *service);
/* Called for PREEMPT AND ABORT of another nexus. */
void iser_tmf_preempted(void *argument, const uint8_t lun[8]);

/* ---- iser_aborted.c ---- */

/* Initializes the service before its first session. */
void iser_aborted_init(struct iser_service *service);

/* ---- iser_control.c ---- */

void iser_nop_out(struct iser_session *session, const struct iser_pdu *pdu);
void iser_text_request(struct iser_session *session, const struct iser_pdu *pdu);
void iser_logout(struct iser_session *session, const struct iser_pdu *pdu);

#endif
