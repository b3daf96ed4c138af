/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * it_fixture.h - steps that most tests of the public API need: an IA with its PZ and EVDs,
 * registered buffers, endpoints, pairs of endpoints connected over the loopback device, and waiting
 * for events with a time limit. Every function ends the test when a check fails (see check.h), so
 * callers have nothing to check. Only the public API is used.
 */
#ifndef ITAPI_TESTS_SUPPORT_IT_FIXTURE_H
#define ITAPI_TESTS_SUPPORT_IT_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "itx_api.h"
#include "support/check.h"
#include "support/time_limit.h"

/* The longest wait for anything that must happen. */
#define FX_PATIENCE_MS time_limit_ms(20000)

/* The two flags with which it_evd_wait sees the completion. */
#define FX_SIGNAL ((it_dto_flags_t)(IT_COMPLETION_FLAG | IT_NOTIFY_FLAG))
#define FX_QUIET  ((it_dto_flags_t)0)

#define FX_PRIVS_ALL ((it_mem_priv_t)(IT_PRIV_LOCAL | IT_PRIV_REMOTE)) /* everything but atomics */

/* ---- Time ----------------------------------------------------------------------------------- */

uint64_t fx_now_us(void);

/* Time runs out FX_PATIENCE_MS after the start. Then fx_patience_check fails the test. */
struct fx_patience {
    uint64_t end_us;
    const char *what;
};

struct fx_patience fx_patience_start(const char *what);
/* Polling loops call this: it yields the processor, and fails the test when time is up. */
void fx_patience_check(const struct fx_patience *patience);
/* Waits while the condition holds, and fails the test when time is up. */
#define FX_WAIT_WHILE(condition, what)                                                             \
    do {                                                                                           \
        struct fx_patience fx_patience_ = fx_patience_start(what);                                 \
                                                                                                   \
        while (condition)                                                                          \
            fx_patience_check(&fx_patience_);                                                      \
    } while (0)

/* ---- One IA --------------------------------------------------------------------------------- */

struct fx_node {
    it_ia_handle_t ia;
    it_pz_handle_t pz;
    it_evd_handle_t request_evd;
    it_evd_handle_t recv_evd;
    it_evd_handle_t conn_evd;   /* connection messages */
    it_evd_handle_t listen_evd; /* connection requests */
    it_evd_handle_t aff_evd;    /* affiliated asynchronous errors */
    size_t spigot;              /* the Spigot that has fx_address(), or one that reaches it */
};

/* "uiwarp", or what ITAPI_TEST_INTERFACE in the environment names. */
const char *fx_interface(void);
/*
 * The address that the tests use: 127.0.0.1, or the value of ITAPI_TEST_ADDRESS in the environment.
 */
it_net_addr_t fx_address(void);
/* Converts the text of an IPv4 or IPv6 address. */
it_net_addr_t fx_address_from(const char *text);
void fx_node_open(struct fx_node *node);
/* Opens a node whose two completion EVDs have room for this many events each. */
void fx_node_open_sized(struct fx_node *node, size_t events);
void fx_node_close(struct fx_node *node);

it_evd_handle_t fx_evd(const struct fx_node *node, it_event_type_t stream, size_t size,
                       size_t threshold);
struct itx_counters fx_counters(const struct fx_node *node);

/* ---- Memory --------------------------------------------------------------------------------- */

struct fx_buf {
    unsigned char *data;
    size_t size;
    it_addr_mode_t mode;
    it_lmr_handle_t lmr;
    it_rmr_context_t key;
};

/* Allocates and registers a buffer. fx_buf_make chooses absolute mode and all rights. */
struct fx_buf fx_buf_make(const struct fx_node *node, size_t size);
/* The same, at the beginning of a page; the octets are whatever was there. */
struct fx_buf fx_buf_make_paged(const struct fx_node *node, size_t size);
struct fx_buf fx_buf_make_as(it_pz_handle_t pz, size_t size, it_mem_priv_t privs,
                             it_addr_mode_t mode);
void fx_buf_free(struct fx_buf *buf);
/*
 * Makes a buffer that fx_node_close and fx_pair_close free with its node. Only the main thread may
 * call this.
 */
struct fx_buf fx_node_buf(const struct fx_node *node, size_t size);

it_lmr_triplet_t fx_seg(const struct fx_buf *buf, size_t offset, size_t length);
it_rdma_addr_t fx_addr(const struct fx_buf *buf, size_t offset);

/* Fills memory with a pattern that differs at every place and for every seed. */
void fx_fill(void *memory, size_t length, uint32_t seed);
bool fx_is_filled(const void *memory, size_t length, uint32_t seed);
bool fx_is_byte(const void *memory, size_t length, unsigned char value);
/* Fails the test with the first place where the two differ. */
void fx_check_same(const void *want, const void *got, size_t length);

/* Pseudo-random numbers, the same in every run. */
uint32_t fx_random(uint32_t *state);

/* ---- Endpoints ------------------------------------------------------------------------------ */

/*
 * Returns the tests' usual attributes: 64 requests, 64 receives, 8 segments of each kind, IRD and
 * ORD 8, messages of 64 MiB.
 */
it_ep_attributes_t fx_ep_attr(void);
it_ep_handle_t fx_ep(const struct fx_node *node, const it_ep_attributes_t *attr);
it_ep_state_rc_t fx_ep_state(it_ep_handle_t ep);
void fx_ep_wait_state(it_ep_handle_t ep, it_ep_state_rc_t state);
/* Make a shared receive queue, and an endpoint that draws from it. attr is as for fx_ep. */
it_srq_handle_t fx_srq(const struct fx_node *node, size_t segments, size_t depth);
it_ep_handle_t fx_srq_ep(const struct fx_node *node, it_srq_handle_t srq,
                         const it_ep_attributes_t *attr);
/* Returns the endpoint's MPA settings for the caller to change and set. */
struct itx_mpa_params fx_mpa(it_ep_handle_t ep);

/* Listens on a free port. *port receives it in network byte order. */
it_listen_handle_t fx_listen(const struct fx_node *node, uint16_t *port);
/* Return the path to fx_address(), and to another address. */
it_path_t fx_path(const struct fx_node *node);
it_path_t fx_path_to(const struct fx_node *node, const it_net_addr_t *address);
void fx_connect(const struct fx_node *node, it_ep_handle_t ep, uint16_t port);
/* Waits for a request on the node's listen_evd. */
it_cn_est_identifier_t fx_request(const struct fx_node *node, it_event_t *event);

/* Two connected endpoints, each on an IA of its own. */
struct fx_pair {
    struct fx_node a; /* connected actively */
    struct fx_node b; /* accepted */
    it_ep_handle_t a_ep;
    it_ep_handle_t b_ep;
};

struct fx_pair_setup {
    const it_ep_attributes_t *a_attr; /* NULL: fx_ep_attr() */
    const it_ep_attributes_t *b_attr;
    const struct itx_mpa_params *a_mpa; /* NULL: default settings */
    const struct itx_mpa_params *b_mpa;
    size_t events; /* room in the completion EVDs; 0: enough for the default depths */
};

void fx_pair_open(struct fx_pair *pair);
void fx_pair_open_as(struct fx_pair *pair, const struct fx_pair_setup *setup);
void fx_pair_close(struct fx_pair *pair);
/* Connects two endpoints of two nodes (which may be the same one). */
void fx_join(const struct fx_node *a, it_ep_handle_t a_ep, const struct fx_node *b,
             it_ep_handle_t b_ep);
/* One small message each way: fails unless the pair still works. */
void fx_pair_ping(struct fx_pair *pair);
/* Resets both endpoints and connects them again. */
void fx_pair_rejoin(struct fx_pair *pair);

/* ---- Posting -------------------------------------------------------------------------------- */

void fx_recv(it_ep_handle_t ep, const struct fx_buf *buf, size_t offset, size_t length,
             it_dto_cookie_t cookie);
void fx_srq_recv(it_srq_handle_t srq, const struct fx_buf *buf, size_t offset, size_t length,
                 it_dto_cookie_t cookie);
void fx_send(it_ep_handle_t ep, const struct fx_buf *buf, size_t offset, size_t length,
             it_dto_cookie_t cookie, it_dto_flags_t flags);
void fx_write(it_ep_handle_t ep, const struct fx_buf *from, size_t offset, size_t length,
              const struct fx_buf *to, size_t to_offset, it_dto_cookie_t cookie,
              it_dto_flags_t flags);
void fx_read(it_ep_handle_t ep, const struct fx_buf *to, size_t offset, size_t length,
             const struct fx_buf *from, size_t from_offset, it_dto_cookie_t cookie,
             it_dto_flags_t flags);

/* ---- Events --------------------------------------------------------------------------------- */

/* Takes the next event, whether it is a notification event or not. */
#define fx_next(evd) fx_next_at(__FILE__, __LINE__, (evd))
it_event_t fx_next_at(const char *file, int line, it_evd_handle_t evd);
/* Takes the next event by it_evd_wait alone. Fails if the library does not wake the caller. */
it_event_t fx_wait(it_evd_handle_t evd);
/* Fails if an event is queued. */
#define fx_empty(evd) fx_empty_at(__FILE__, __LINE__, (evd))
void fx_empty_at(const char *file, int line, it_evd_handle_t evd);

/* Takes the next event. Fails unless it is this completion. Returns its transferred_length. */
#define fx_done(evd, ep, number, cookie, status)                                                   \
    fx_done_at(__FILE__, __LINE__, (evd), (ep), (number), (cookie), (status))
uint32_t fx_done_at(const char *file, int line, it_evd_handle_t evd, it_ep_handle_t ep,
                    it_event_type_t number, it_dto_cookie_t cookie, it_dto_status_t status);
/* Does the same and also checks the length. */
#define fx_done_len(evd, ep, number, cookie, length)                                               \
    fx_done_len_at(__FILE__, __LINE__, (evd), (ep), (number), (cookie), (length))
void fx_done_len_at(const char *file, int line, it_evd_handle_t evd, it_ep_handle_t ep,
                    it_event_type_t number, it_dto_cookie_t cookie, uint64_t length);
/* Drops all queued events. */
void fx_drain(it_evd_handle_t evd);
/* Takes the next connection event. Fails unless it is this one. */
#define fx_conn(evd, ep, number) fx_conn_at(__FILE__, __LINE__, (evd), (ep), (number))
it_event_t fx_conn_at(const char *file, int line, it_evd_handle_t evd, it_ep_handle_t ep,
                      it_event_type_t number);

/* Returns the number of the calling thread, for fx_thread_sleeps. */
int fx_thread_id(void);
/*
 * Returns when that thread has been asleep for a while, so it sleeps inside the call that it was
 * about to make.
 */
void fx_thread_sleeps(int id);

/* Count the open descriptors of this process, or of another one. */
size_t fx_fd_count(void);
size_t fx_fd_count_of(int process);
/* Waits until this process has no more open descriptors than this. */
void fx_fd_settle(size_t count);

#endif /* ITAPI_TESTS_SUPPORT_IT_FIXTURE_H */
