/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Atomic operations of several endpoints, several IAs and this program work on the same memory: a
 * counter, and a lock that guards ordinary Reads and Writes.
 */
#include <pthread.h>

#include "support/it_fixture.h"

#define PEERS  2u
#define ADDS   1500u
#define LOCKS  250u
#define FLIGHT 8u

static const it_mem_priv_t shared_privs =
    (it_mem_priv_t)(IT_PRIV_LOCAL | IT_PRIV_REMOTE | IT_PRIV_ATOMIC);

/* The memory that all work on. .lock guards .value. */
static struct {
    _Alignas(8) uint64_t counter;
    uint64_t lock;
    uint64_t value;
} shared;

struct peer {
    pthread_t thread;
    struct fx_pair pair; /* the shared memory is registered at b */
    it_lmr_handle_t lmr;
    it_rmr_context_t key;
    struct fx_buf local;
};

static void peer_open(struct peer *peer)
{
    it_ep_attributes_t attr = fx_ep_attr();
    struct fx_pair_setup setup = {.b_attr = &attr};

    attr.srv.rc.atomics_enable = IT_TRUE;
    fx_pair_open_as(&peer->pair, &setup);
    CHECK_OK(it_lmr_create20(peer->pair.b.pz, &shared, sizeof(shared), IT_ADDR_MODE_ABSOLUTE,
                             shared_privs, IT_LMR_FLAG_NONE, 0, &peer->lmr, &peer->key));
    peer->local = fx_node_buf(&peer->pair.a, 8 * (FLIGHT + 1));
}

static void peer_close(struct peer *peer)
{
    CHECK_OK(it_lmr_free(peer->lmr));
    fx_pair_close(&peer->pair);
}

static uint64_t *local_word(struct peer *peer, uint64_t index)
{
    return (uint64_t *)(void *)peer->local.data + index;
}

static it_rdma_addr_t address_of(const uint64_t *word)
{
    return (it_rdma_addr_t)(uintptr_t)word;
}

static void post(struct peer *peer, it_atomic_op_t op, uint64_t operand, uint64_t compare,
                 uint64_t *word, uint64_t slot, it_dto_cookie_t cookie)
{
    it_lmr_triplet_t result = fx_seg(&peer->local, 8 * slot, 8);

    CHECK_OK(it_post_atomic(peer->pair.a_ep, op, operand, compare, &result, cookie, FX_SIGNAL,
                            address_of(word), peer->key));
}

static void done(struct peer *peer, it_event_type_t number, it_dto_cookie_t cookie)
{
    fx_done_len(peer->pair.a.request_evd, peer->pair.a_ep, number, cookie, 8);
}

/* ---- A counter ------------------------------------------------------------------------------ */

/* Posts several atomics at once. The fetched value only grows. */
static void *add_by_rdma(void *argument)
{
    struct peer *peer = argument;
    uint64_t last = 0;

    for (uint64_t i = 0; i < ADDS + FLIGHT; i++) {
        if (i >= FLIGHT) {
            uint64_t fetched;

            done(peer, IT_DTO_FETCH_ADD_CMPL_EVENT, i - FLIGHT);
            fetched = *local_word(peer, (i - FLIGHT) % FLIGHT);
            CHECK(i == FLIGHT || fetched > last);
            last = fetched;
        }
        if (i < ADDS)
            post(peer, IT_FETCH_AND_ADD, 1, 0, &shared.counter, i % FLIGHT, i);
    }
    return NULL;
}

static void *add_by_processor(void *argument)
{
    (void)argument;
    for (uint64_t i = 0; i < ADDS; i++)
        (void)__atomic_fetch_add(&shared.counter, 1, __ATOMIC_RELAXED);
    return NULL;
}

/* ---- A lock --------------------------------------------------------------------------------- */

static void lock_by_rdma(struct peer *peer)
{
    struct fx_patience patience = fx_patience_start("the lock");

    do {
        fx_patience_check(&patience);
        post(peer, IT_COMPARE_AND_SWAP, 1, 0, &shared.lock, FLIGHT, 1);
        done(peer, IT_DTO_CMP_SWAP_CMPL_EVENT, 1);
    } while (*local_word(peer, FLIGHT) != 0);
}

/* When the atomic behind the Write completes, the Write is in place. */
static void write_and_unlock_by_rdma(struct peer *peer)
{
    it_lmr_triplet_t value = fx_seg(&peer->local, 0, 8);
    it_lmr_triplet_t result = fx_seg(&peer->local, 8, 8);

    CHECK_OK(it_post_rdma_write(peer->pair.a_ep, &value, 1, 3, FX_QUIET, address_of(&shared.value),
                                peer->key));
    CHECK_OK(itx_post_atomic_swap(peer->pair.a_ep, 0, &result, 4, FX_SIGNAL,
                                  address_of(&shared.lock), peer->key));
    done(peer, IT_DTO_CMP_SWAP_CMPL_EVENT, 4);
    CHECK_EQ(1, *local_word(peer, 1));
}

static void *count_by_rdma(void *argument)
{
    struct peer *peer = argument;

    for (unsigned i = 0; i < LOCKS; i++) {
        it_lmr_triplet_t value = fx_seg(&peer->local, 0, 8);

        lock_by_rdma(peer);
        CHECK_OK(it_post_rdma_read(peer->pair.a_ep, &value, 1, 2, FX_SIGNAL,
                                   address_of(&shared.value), peer->key));
        done(peer, IT_DTO_RDMA_READ_CMPL_EVENT, 2);
        ++*local_word(peer, 0);
        write_and_unlock_by_rdma(peer);
    }
    return NULL;
}

static void *count_by_processor(void *argument)
{
    struct fx_patience patience = fx_patience_start("the lock, locally");

    (void)argument;
    for (unsigned i = 0; i < LOCKS; i++) {
        uint64_t expected = 0;

        while (!__atomic_compare_exchange_n(&shared.lock, &expected, 1, false, __ATOMIC_ACQUIRE,
                                            __ATOMIC_RELAXED)) {
            expected = 0;
            fx_patience_check(&patience);
        }
        shared.value++;
        __atomic_store_n(&shared.lock, 0, __ATOMIC_RELEASE);
        fx_patience_check(&patience);
    }
    return NULL;
}

/* ---- Both ----------------------------------------------------------------------------------- */

static void run(struct peer peers[PEERS], void *(*remote)(void *), void *(*local)(void *))
{
    for (unsigned i = 0; i < PEERS; i++)
        CHECK(pthread_create(&peers[i].thread, NULL, remote, &peers[i]) == 0);
    (void)local(NULL);
    for (unsigned i = 0; i < PEERS; i++)
        CHECK(pthread_join(peers[i].thread, NULL) == 0);
}

int main(void)
{
    static struct peer peers[PEERS];

    for (unsigned i = 0; i < PEERS; i++)
        peer_open(&peers[i]);
    run(peers, add_by_rdma, add_by_processor);
    CHECK_EQ((PEERS + 1) * ADDS, __atomic_load_n(&shared.counter, __ATOMIC_RELAXED));
    run(peers, count_by_rdma, count_by_processor);
    CHECK_EQ((PEERS + 1) * LOCKS, shared.value);
    for (unsigned i = 0; i < PEERS; i++)
        peer_close(&peers[i]);
    return 0;
}
