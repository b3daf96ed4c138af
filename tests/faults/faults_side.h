/* SPDX-License-Identifier: BSD-2-Clause */
/* faults_side.h - one IA of the scenario with its objects and events. */
#ifndef ITAPI_TESTS_FAULTS_SIDE_H
#define ITAPI_TESTS_FAULTS_SIDE_H

#include "faults/faults_judge.h"

#include <netinet/in.h>
#include <pthread.h>

#define SIDE_OCTETS (512u * 1024)
#define SIDE_SIGNAL ((it_dto_flags_t)(IT_COMPLETION_FLAG | IT_NOTIFY_FLAG))

struct side {
    it_ia_handle_t ia; /* NULL: not open */
    it_pz_handle_t pz;
    size_t spigot;
    it_evd_handle_t request_evd, recv_evd, conn_evd, listen_evd, aff_evd, aevd;
    it_lmr_handle_t lmr;
    it_rmr_context_t key;
    unsigned char *data;
    /* The events that the callback of recv_evd has taken. */
    pthread_mutex_t lock;
    it_event_t taken[256];
    unsigned taken_count;
    /* The connection request that waits for an answer, or 0. */
    it_cn_est_identifier_t request;
};

bool side_open(struct side *side, bool callback);
/* Also frees all objects of the IA. */
void side_close(struct side *side);
it_lmr_triplet_t side_segment(const struct side *side, size_t offset, size_t length);
it_rdma_addr_t side_address(const struct side *side, size_t offset);

/* Takes all events. If there are none, sleeps briefly on one of the EVDs. */
void sides_look(struct side *sides, unsigned count);
/* Sets the legs that connection events may name. */
void sides_legs(struct leg **legs, unsigned count);

#endif /* ITAPI_TESTS_FAULTS_SIDE_H */
