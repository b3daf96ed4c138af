/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Registered memory by STag. Lookups take no lock: a thread pins an entry by a counter and then
 * compares its STag. A thread that closes the entry clears the STag first and then waits until the
 * entry is not pinned. A pin protects one memcpy or a few non-blocking system calls. Its holder
 * never waits, so waiting for pins is short, and safe for a thread that holds none.
 */
#ifndef ITAPI_VP_UIWARP_MEMORY_UIW_MR_H
#define ITAPI_VP_UIWARP_MEMORY_UIW_MR_H

#include "base/base_lock.h"
#include "tdi/iwarp/iw.h"
#include "vp/uiwarp/memory/uiw_stag.h"

#include "it_api.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ual_ep;
struct ual_lmr;

#define UIW_MR_CHUNK  1024u
#define UIW_MR_CHUNKS 8192u

/* The memory behind an open entry. */
struct uiw_region {
    uint8_t *addr;
    uint64_t length;
    uint64_t to_base; /* tagged offset of the first octet */
    it_mem_priv_t privs;
    bool relative; /* a window with offsets from its first octet */
    bool steady;   /* does not change while a peer reads it (ITX_LMR_STEADY) */
    bool restless; /* may change while a request sends it (ITX_LMR_RESTLESS) */
    const void *pz;
    uint64_t stream;    /* the only stream that may use it; 0: all of the PZ */
    it_handle_t handle; /* LMR or RMR, for events */
};

struct uiw_mr {
    _Atomic uint32_t stag; /* 0: closed */
    _Atomic uint32_t pins;
    _Atomic uint32_t wanted;  /* STag of the link that was posted last; 0: none, or an unlink */
    _Atomic bool token;       /* held by the thread that opens or closes the entry */
    _Atomic uint32_t kept;    /* guarded by the token: STag whose slot the entry keeps; 0: none */
    uint32_t index;           /* immutable */
    struct uiw_region region; /* written with the token while closed */
    /* With the token. */
    uint32_t serial;          /* +1 whenever the entry is released */
    struct ual_lmr *lmr;      /* of a linked window: referenced; otherwise NULL */
    struct ual_ep *ep;        /* the same, of a narrow window */
    struct uiw_mr *next_free; /* guarded by the table's lock */
};

struct uiw_mr_table {
    struct uiw_stags stags;
    _Atomic(struct uiw_mr *) *chunks; /* UIW_MR_CHUNKS pointers, each set once */
    struct base_lock lock;            /* guards what follows */
    uint32_t used;                    /* entries handed out so far */
    struct uiw_mr *free;
};

/* The connection that requests access. */
struct uiw_stream_id {
    const void *pz;
    uint64_t number; /* unique within the IA, never 0 */
};

/* The reason to refuse an access; the caller converts it to an error of its layer. */
enum uiw_mr_verdict {
    UIW_MR_OK,
    UIW_MR_INVALID, /* unknown STag, closed entry, or wrong key */
    UIW_MR_STREAM,  /* another protection zone, or a window of another stream */
    UIW_MR_ACCESS,  /* a right is missing */
    UIW_MR_BOUNDS,
    UIW_MR_WRAP /* to + length exceeds 64 bits */
};

bool uiw_mr_table_init(struct uiw_mr_table *table);
void uiw_mr_table_fini(struct uiw_mr_table *table);

/* ---------------------------------------------------------------- life of an entry */

/* Returns a closed entry. NULL: no memory or too many entries. */
struct uiw_mr *uiw_mr_reserve(struct uiw_mr_table *table);
/* With the token of a closed entry. Drops the token and frees the entry. */
void uiw_mr_release(struct uiw_mr_table *table, struct uiw_mr *mr);
/*
 * Any thread. Returns a new STag for this entry, which may have several; it is valid once the entry
 * is opened with it. 0: no memory or random numbers.
 */
uint32_t uiw_mr_new_stag(struct uiw_mr_table *table, const struct uiw_mr *mr);
/* Any thread. Frees an STag with which the entry will not be opened. Ignores 0. */
void uiw_mr_forget_stag(struct uiw_mr_table *table, const struct uiw_mr *mr, uint32_t stag);
/*
 * With the token. Returns the STag that the entry keeps, open or closed; the program chooses its
 * low 8 bits with each link. 0: no memory or random numbers.
 */
uint32_t uiw_mr_keep_stag(struct uiw_mr_table *table, struct uiw_mr *mr);
/* Returns true if this is the kept STag, with any low 8 bits. */
static inline bool uiw_mr_is_kept(const struct uiw_mr *mr, uint32_t stag)
{
    uint32_t kept = atomic_load_explicit(&mr->kept, memory_order_relaxed);

    return kept != 0 && (kept ^ stag) >> UIW_STAG_KEY == 0;
}
/* Returns an open entry. NULL: no memory or STags. */
struct uiw_mr *uiw_mr_register(struct uiw_mr_table *table, const struct uiw_region *region);
/* Closes and frees the entry. Returns when no octet moves in the region any more. */
void uiw_mr_deregister(struct uiw_mr_table *table, struct uiw_mr *mr);

/* The token's holder may wait for pins, which are held briefly. */
static inline bool uiw_mr_try(struct uiw_mr *mr)
{
    return !atomic_load_explicit(&mr->token, memory_order_relaxed) &&
           !atomic_exchange_explicit(&mr->token, true, memory_order_acquire);
}

static inline void uiw_mr_take(struct uiw_mr *mr)
{
    while (!uiw_mr_try(mr))
        sched_yield();
}

static inline void uiw_mr_drop(struct uiw_mr *mr)
{
    atomic_store_explicit(&mr->token, false, memory_order_release);
}

/* With the token. Opens a closed entry. */
void uiw_mr_open(struct uiw_mr *mr, const struct uiw_region *region, uint32_t stag);
/* The same with an STag that may be the kept one. */
void uiw_mr_open_kept(struct uiw_mr_table *table, struct uiw_mr *mr,
                      const struct uiw_region *region, uint32_t stag);
/*
 * With the token. Closes the entry and frees its STag: no octet moves through the entry any more.
 * wait: waits until it is not pinned. Otherwise returns false if it is pinned, and leaves it open.
 */
bool uiw_mr_close(struct uiw_mr_table *table, struct uiw_mr *mr, bool wait);
/* With the token. Closes and waits, but keeps the STag and returns it. 0: it was closed. */
uint32_t uiw_mr_shut(struct uiw_mr *mr);

/* ---------------------------------------------------------------- access */

static inline void uiw_mr_unpin(struct uiw_mr *mr)
{
    atomic_fetch_sub_explicit(&mr->pins, 1, memory_order_release);
}

/* Pins an entry if it is open with this STag; otherwise returns false. */
static inline bool uiw_mr_pin_entry(struct uiw_mr *mr, uint32_t stag)
{
    atomic_fetch_add_explicit(&mr->pins, 1, memory_order_seq_cst);
    if (atomic_load_explicit(&mr->stag, memory_order_seq_cst) == stag)
        return true;
    uiw_mr_unpin(mr);
    return false;
}

/* Returns the entry that an STag was drawn for, open or closed; NULL: none. */
struct uiw_mr *uiw_mr_find(const struct uiw_mr_table *table, uint32_t stag);

/* Pins the entry that is open with this STag; NULL: none. */
struct uiw_mr *uiw_mr_pin(const struct uiw_mr_table *table, uint32_t stag);

/*
 * Pins and checks [to, to + length) for a peer (rights: IT_PRIV_REMOTE_READ, _WRITE or _ATOMIC). On
 * UIW_MR_OK *mr_out is pinned, and *addr_out is the first octet.
 */
enum uiw_mr_verdict uiw_mr_pin_remote(const struct uiw_mr_table *table, uint32_t stag, uint64_t to,
                                      uint64_t length, it_mem_priv_t right,
                                      const struct uiw_stream_id *by, struct uiw_mr **mr_out,
                                      uint8_t **addr_out);
/*
 * Pins and checks a local segment (IT_PRIV_LOCAL_READ or _WRITE) of the region that had this STag
 * when it was posted. Entries stay valid memory, so no lookup is needed. Returns false if the
 * access is refused.
 */
bool uiw_mr_pin_local(struct uiw_mr *mr, uint32_t stag, const uint8_t *addr, uint64_t length,
                      it_mem_priv_t right, const void *pz);

/*
 * With the token. Returns true if the peer of this stream may invalidate the STag: it must have
 * access to it, and no other stream may. alone: no other stream is in the PZ.
 */
bool uiw_mr_may_invalidate(const struct uiw_mr *mr, uint32_t stag, const struct uiw_stream_id *by,
                           bool alone);

/* Returns the error for a Write of the peer. DDP has no code for missing rights. */
static inline enum iw_error uiw_write_error(enum uiw_mr_verdict verdict)
{
    static const enum iw_error errors[] = {
        [UIW_MR_OK] = IW_OK,
        [UIW_MR_INVALID] = IW_ERR_DDP_INVALID_STAG,
        [UIW_MR_STREAM] = IW_ERR_DDP_STAG_STREAM,
        [UIW_MR_ACCESS] = IW_ERR_RDMAP_ACCESS,
        [UIW_MR_BOUNDS] = IW_ERR_DDP_BOUNDS,
        [UIW_MR_WRAP] = IW_ERR_DDP_TO_WRAP,
    };

    return errors[verdict];
}

/* Returns the error for a Read or atomic of the peer. */
static inline enum iw_error uiw_read_error(enum uiw_mr_verdict verdict)
{
    static const enum iw_error errors[] = {
        [UIW_MR_OK] = IW_OK,
        [UIW_MR_INVALID] = IW_ERR_RDMAP_INVALID_STAG,
        [UIW_MR_STREAM] = IW_ERR_RDMAP_STAG_STREAM,
        [UIW_MR_ACCESS] = IW_ERR_RDMAP_ACCESS,
        [UIW_MR_BOUNDS] = IW_ERR_RDMAP_BOUNDS,
        [UIW_MR_WRAP] = IW_ERR_RDMAP_TO_WRAP,
    };

    return errors[verdict];
}

#endif
