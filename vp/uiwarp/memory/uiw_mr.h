/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Registered memory by STag. Lookups take no lock: an entry is pinned by a counter, then its STag
 * compared; a thread that closes the entry clears the STag first and then waits until nobody has it
 * pinned. A pin protects one memcpy or a few non-blocking system calls. Its holder waits for
 * nothing, so waiting for pins is short, and safe for a thread that holds none.
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
    bool relative; /* a window whose offsets count from its first octet */
    const void *pz;
    uint64_t stream;    /* the only one that may use it; 0: all of the PZ */
    it_handle_t handle; /* LMR or RMR, for events */
};

struct uiw_mr {
    _Atomic uint32_t stag; /* 0: closed */
    _Atomic uint32_t pins;
    _Atomic uint32_t wanted;  /* STag of the link that was posted last; 0: none, or an unlink */
    _Atomic bool token;       /* held by whoever opens or closes the entry */
    _Atomic uint32_t kept;    /* by the token: STag whose slot stays the entry's; 0: none */
    uint32_t index;           /* immutable */
    struct uiw_region region; /* written with the token while closed; immutable while open */
    /* With the token. */
    uint32_t serial;          /* +1 whenever the entry changes hands */
    struct ual_lmr *lmr;      /* of a window: held while it is linked, else NULL */
    struct ual_ep *ep;        /* of a narrow window: likewise */
    struct uiw_mr *next_free; /* by the table's lock */
};

struct uiw_mr_table {
    struct uiw_stags stags;
    _Atomic(struct uiw_mr *) *chunks; /* UIW_MR_CHUNKS pointers, each set once */
    struct base_lock lock;            /* guards what follows */
    uint32_t used;                    /* entries ever handed out */
    struct uiw_mr *free;
};

/* The one connection that asks for access. */
struct uiw_stream_id {
    const void *pz;
    uint64_t number; /* unique within the IA, never 0 */
};

/* Why an access is refused; the caller turns it into the code of its layer. */
enum uiw_mr_verdict {
    UIW_MR_OK,
    UIW_MR_INVALID, /* unknown, closed, wrong key */
    UIW_MR_STREAM,  /* another protection zone, or a window of another stream */
    UIW_MR_ACCESS,  /* a right is missing */
    UIW_MR_BOUNDS,
    UIW_MR_WRAP /* to + length exceeds 64 bits */
};

bool uiw_mr_table_init(struct uiw_mr_table *table);
void uiw_mr_table_fini(struct uiw_mr_table *table);

/* ---------------------------------------------------------------- life of an entry */

/* A closed entry. NULL without memory or STags. */
struct uiw_mr *uiw_mr_reserve(struct uiw_mr_table *table);
/* With the token of a closed entry: gives both back. */
void uiw_mr_release(struct uiw_mr_table *table, struct uiw_mr *mr);
/*
 * An STag for this entry; it works when the entry is opened with it, and may be one of several. 0
 * without memory or random numbers. Any thread.
 */
uint32_t uiw_mr_new_stag(struct uiw_mr_table *table, const struct uiw_mr *mr);
/* The entry is not going to be opened with it; 0: nothing happens. Any thread. */
void uiw_mr_forget_stag(struct uiw_mr_table *table, const struct uiw_mr *mr, uint32_t stag);
/*
 * With the token. An STag of this entry that stays its own, opened or not: the program chooses the
 * low 8 bits with each link. 0 without memory or random numbers.
 */
uint32_t uiw_mr_keep_stag(struct uiw_mr_table *table, struct uiw_mr *mr);
/* Is this the STag that is kept, whatever the low 8 bits? */
static inline bool uiw_mr_is_kept(const struct uiw_mr *mr, uint32_t stag)
{
    uint32_t kept = atomic_load_explicit(&mr->kept, memory_order_relaxed);

    return kept != 0 && (kept ^ stag) >> UIW_STAG_KEY == 0;
}
/* An entry that is open. NULL without memory or STags. */
struct uiw_mr *uiw_mr_register(struct uiw_mr_table *table, const struct uiw_region *region);
/* Closes and gives back; returns when no octet moves in the region any more. */
void uiw_mr_deregister(struct uiw_mr_table *table, struct uiw_mr *mr);

/* Held for as long as it takes to wait for pins. */
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

/* With the token, and closed. */
void uiw_mr_open(struct uiw_mr *mr, const struct uiw_region *region, uint32_t stag);
/* The same, with an STag that may be one of those kept. */
void uiw_mr_open_kept(struct uiw_mr_table *table, struct uiw_mr *mr,
                      const struct uiw_region *region, uint32_t stag);
/*
 * With the token. True when no octet moves through the entry any more, and its STag is forgotten;
 * wait: as soon as that is so. False, and as open as before: it would have to wait.
 */
bool uiw_mr_close(struct uiw_mr_table *table, struct uiw_mr *mr, bool wait);
/* With the token. Waits like that; returns the STag, which stays the entry's. 0: it was closed. */
uint32_t uiw_mr_shut(struct uiw_mr *mr);

/* ---------------------------------------------------------------- access */

static inline void uiw_mr_unpin(struct uiw_mr *mr)
{
    atomic_fetch_sub_explicit(&mr->pins, 1, memory_order_release);
}

/* Pins an entry while it carries this STag. False when it does not any more. */
static inline bool uiw_mr_pin_entry(struct uiw_mr *mr, uint32_t stag)
{
    atomic_fetch_add_explicit(&mr->pins, 1, memory_order_seq_cst);
    if (atomic_load_explicit(&mr->stag, memory_order_seq_cst) == stag)
        return true;
    uiw_mr_unpin(mr);
    return false;
}

/* The entry that an STag was made for, open with it or not yet; NULL: there is none. */
struct uiw_mr *uiw_mr_find(const struct uiw_mr_table *table, uint32_t stag);

/* Pins the entry of a live STag; NULL when there is none. */
struct uiw_mr *uiw_mr_pin(const struct uiw_mr_table *table, uint32_t stag);

/*
 * Pins and checks [to, to + length) for a peer (rights: IT_PRIV_REMOTE_READ, _WRITE or _ATOMIC). On
 * UIW_MR_OK *mr_out is pinned and *addr_out the first octet.
 */
enum uiw_mr_verdict uiw_mr_pin_remote(const struct uiw_mr_table *table, uint32_t stag, uint64_t to,
                                      uint64_t length, it_mem_priv_t right,
                                      const struct uiw_stream_id *by, struct uiw_mr **mr_out,
                                      uint8_t **addr_out);
/*
 * Pins and checks a local segment (IT_PRIV_LOCAL_READ or _WRITE) of the region that had this STag
 * when it was posted. Entries stay valid memory, so no lookup is needed. False: refused.
 */
bool uiw_mr_pin_local(struct uiw_mr *mr, uint32_t stag, const uint8_t *addr, uint64_t length,
                      it_mem_priv_t right, const void *pz);

/*
 * With the token: may the peer of this stream invalidate the STag? Only what it has access to, and
 * what no other stream can reach: alone says that no other is in its PZ.
 */
bool uiw_mr_may_invalidate(const struct uiw_mr *mr, uint32_t stag, const struct uiw_stream_id *by,
                           bool alone);

/* Why a Write of the peer is refused. DDP knows no rights. */
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

/* Why a Read or atomic of the peer is refused. */
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
