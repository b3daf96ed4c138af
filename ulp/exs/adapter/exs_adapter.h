/* SPDX-License-Identifier: BSD-2-Clause */
/* The IA of the process: the Interface that ITAPI_EXS_INTERFACE names, or uiwarp. */
#ifndef ITAPI_ULP_EXS_ADAPTER_EXS_ADAPTER_H
#define ITAPI_ULP_EXS_ADAPTER_EXS_ADAPTER_H

#include <it_api.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/* Work that a caller which polls does; true if there was some. */
struct exs_polled {
    bool (*poll)(struct exs_polled *polled);
    struct exs_polled *next;
    struct exs_polled **link; /* what leads to it */
    it_evd_handle_t evd;      /* whose callback does the same */
    bool quiet;               /* it does not, since somebody polls */
};

/* What is over and is freed by the IA's thread, outside of all callbacks of its own. */
struct exs_over {
    void (*reap)(struct exs_over *over);
    struct exs_over *next;
};

struct exs_adapter {
    it_ia_handle_t ia;
    it_pz_handle_t pz;
    bool pins;   /* registered memory is locked: a device */
    bool no_crc; /* ITAPI_EXS_CRC=off */
};

/* Opened by the first call. NULL: errno says why. */
struct exs_adapter *exs_adapter_get(void);

/* Does the work of connections once, without blocking; true if there was some. */
bool exs_adapter_poll(void);

/*
 * Around some polls that follow each other: callbacks would do the same work at the same time.
 */
void exs_adapter_poll_begin(void);
void exs_adapter_poll_end(void);

void exs_adapter_watch(struct exs_polled *polled);
/* On return it is not called any more. */
void exs_adapter_unwatch(struct exs_polled *polled);

/* Has the IA's thread call over->reap. */
void exs_adapter_bury(struct exs_over *dead);

/* In a child after fork: the parent's IA is not used. */
void exs_adapter_forget(void);

#endif /* ITAPI_ULP_EXS_ADAPTER_EXS_ADAPTER_H */
