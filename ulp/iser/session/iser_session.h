/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A session, which has one connection (MaxConnections=1, error recovery level 0): from its first
 * octet to its end. Functions that may end the session say so by .ended; whoever calls them looks.
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
#define ISER_WINDOW_LOGIN 8u   /* what is said before it is known how many there will be */
#define ISER_WINDOW_SPARE 32u  /* immediate ones, beyond */
#define ISER_TASK_BUCKETS 64u
#define ISER_NAME_MAX     223u    /* RFC 7143 4.2.7.1 */
#define ISER_TMFS         8u      /* that wait at a time */
#define ISER_RECEIVE_MAX  262144u /* MaxRecvDataSegmentLength of ours */

enum iser_phase {
    ISER_LOGGING_IN,
    ISER_FULL_FEATURE,
    ISER_LEAVING /* nothing is taken any more; what is under way to the initiator leaves */
};

struct iser_session;

struct iser_target {
    struct itiser_target_config config; /* with all that it points to: the service's */
    struct iser_scsi_target *scsi;
};

/* All sessions, and what they share. */
struct iser_service {
    struct event_base *base;
    struct iser_terms terms;
    itiser_write_base_t write_base;
    struct timeval silence; /* after which an initiator is pinged, and then given up */
    struct iser_target *targets;
    size_t target_count;
    struct itiser_target_config discovery; /* the secrets of discovery sessions */
    struct iser_session *sessions;
    struct iser_buffers buffers, rdma_buffers;
    uint16_t last_tsih;
    uint32_t last_task; /* numbers of tasks, in the order of their arrival */
    uint64_t logins, failed_logins;
    struct event aborted; /* an aborted task is gone: iser_tmf.c looks who has waited */
    /* The portal's: */
    void *portal;
    /* TargetAddress lines of a target, for an initiator that came by this session. */
    void (*addresses)(struct iser_session *session, struct iser_text *out);
    /* It has logged in, or is about to be freed. */
    void (*settled)(struct iser_session *session);
    /*
     * Way (A): the connection becomes RDMA, behind the final Login Response. A session of way (A)
     * has .convertible. False: it cannot.
     */
    bool (*convert)(struct iser_session *session, const uint8_t *bhs, const struct iser_text *text);
};

enum iser_task_state {
    ISER_TASK_DATA,    /* data-out is coming */
    ISER_TASK_UNIT,    /* the unit has it */
    ISER_TASK_RESPONSE /* the link has it */
};

struct iser_task {
    struct iser_transfer transfer; /* the first member: what links know */
    struct iser_scsi_command command;
    struct iser_session *session;
    struct iser_task *next; /* of its bucket */
    uint32_t number;
    enum iser_task_state state;
    bool in_window;    /* takes a place of the window */
    bool aborted;      /* no response; its buffer goes when nobody uses it */
    bool placing;      /* the link reads a data segment into the buffer */
    bool reading;      /* RDMA Reads into the buffer are under way */
    bool unsolicited;  /* Data-Out without R2T may come */
    uint32_t received; /* octets of data-out, also those that nobody wants */
    uint32_t data_sn;  /* that comes next */
    uint8_t sense[2 + ISER_SENSE_MAX];
};

/* A task management request that waits until no task that it aborts is in use. */
struct iser_tmf {
    bool waits;
    uint8_t function;
    uint8_t lun[8];
    uint32_t itt;
    uint32_t until; /* tasks up to this number */
    uint8_t response[ISER_BHS];
};

struct iser_login {
    bool begun;
    bool authenticated;
    bool parameters_told; /* ours, once */
    unsigned stage;
    unsigned rounds;
    uint64_t seen;
    struct iser_chap chap;
    size_t text_length;
    char text[ISER_TEXT_MAX * 2];
};

/* A text that is told in parts, and one that comes in parts. */
struct iser_dialogue {
    struct iser_text out;
    size_t told;
    size_t in_length;
    char in[ISER_TEXT_MAX];
};

struct iser_session {
    struct iser_service *service;
    struct iser_session *next, **previous;
    struct iser_link *link;       /* gone when the session has ended */
    struct iser_buffers *buffers; /* the link's, which outlive it */
    unsigned depth;               /* calls under way: the memory stays */
    bool ended;
    bool discovery;
    bool convertible; /* the portal converts */
    enum iser_phase phase;
    struct iser_numbers numbers;
    struct iser_params params;
    struct iser_login *login; /* while it logs in */
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
    void *arrival; /* the portal's, until it has settled */
};

/* ---- iser_session.c ---- */

/*
 * A connection on a portal of this group; takes the link. NULL without memory: the link is closed.
 */
struct iser_session *iser_session_new(struct iser_service *service, struct iser_link *link,
                                      uint16_t tag);
/* The link is the session's from now on; the one before is closed. */
void iser_session_take_link(struct iser_session *session, struct iser_link *link);
void iser_session_enter(struct iser_session *session);
/* The memory goes with the last leave of an ended session, when no unit uses it any more. */
void iser_session_leave(struct iser_session *session);

/* Cuts the connection; tasks end without response. Nothing happens to one that has ended. */
void iser_session_end(struct iser_session *session, const char *why);
/* Ends it when all that is queued has left. */
void iser_session_leave_in_order(struct iser_session *session);

/* Counts and header: StatSN and the like are filled in. */
void iser_session_send(struct iser_session *session, const uint8_t *bhs, const void *data,
                       size_t length);
void iser_session_reject(struct iser_session *session, const struct iser_pdu *pdu, uint8_t reason);
/* Asks the initiator to log out within so many seconds, and tells that the session ends then. */
void iser_session_ask_to_leave(struct iser_session *session, uint16_t seconds);

/* ---- iser_dispatch.c ---- */

/* For links, before iser_session_new. */
extern const struct iser_link_user iser_session_link_user;

/* ---- iser_login.c ---- */

void iser_login_request(struct iser_session *session, const struct iser_pdu *pdu);

/* ---- iser_login_done.c ---- */

/* Who comes, and to which target. 0 or a status. */
uint16_t iser_login_names(struct iser_session *session, const char *text, size_t length);
/* By name and address. */
bool iser_login_is_allowed(const struct iser_session *session, const struct iser_target *target);
/* All is agreed on: the session is there, and the last response goes out. */
void iser_login_finish(struct iser_session *session, uint8_t *bhs, const struct iser_text *text);

/* ---- iser_command.c ---- */

void iser_command(struct iser_session *session, const struct iser_pdu *pdu);
void iser_command_data(struct iser_session *session, const struct iser_pdu *pdu);
uint8_t *iser_command_place(struct iser_session *session, const uint8_t *bhs, uint32_t length);
void iser_command_solicited(struct iser_task *task);
void iser_command_responded(struct iser_task *task);

/* ---- iser_task.c ---- */

/* NULL: there are too many, or no memory. */
struct iser_task *iser_task_new(struct iser_session *session, uint32_t itt);
struct iser_task *iser_task_find(struct iser_session *session, uint32_t itt);
/* The task is over, and nobody uses its buffer. */
void iser_task_free(struct iser_task *task);
/* No response; freed at once or when nobody uses it any more. */
void iser_task_abort(struct iser_task *task);
/* The session has ended and its link is closed. */
void iser_task_abort_all(struct iser_session *session);
void iser_tasks_fini(struct iser_session *session);
/* MaxCmdSN follows. */
void iser_task_window(struct iser_session *session);
/* Its place in the window is another command's. */
void iser_task_leave_window(struct iser_task *task);

/* ---- iser_tmf.c ---- */

void iser_tmf(struct iser_session *session, const struct iser_pdu *pdu);
/* Of the service, before its first session. */
void iser_tmf_init(struct iser_service *service);
/* PREEMPT AND ABORT of another nexus. */
void iser_tmf_preempted(void *argument, const uint8_t lun[8]);

/* ---- iser_control.c ---- */

void iser_nop_out(struct iser_session *session, const struct iser_pdu *pdu);
void iser_text_request(struct iser_session *session, const struct iser_pdu *pdu);
void iser_logout(struct iser_session *session, const struct iser_pdu *pdu);

#endif
