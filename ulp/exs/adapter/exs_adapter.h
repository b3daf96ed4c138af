/* SPDX-License-Identifier: BSD-2-Clause */
/* The IA of the process, on the Interface that ITAPI_EXS_INTERFACE names, or on uiwarp. */
#ifndef ITAPI_ULP_EXS_ADAPTER_EXS_ADAPTER_H
#define ITAPI_ULP_EXS_ADAPTER_EXS_ADAPTER_H

#include <it_api.h>

#include <stdbool.h>

struct exs_adapter {
    it_ia_handle_t ia;
    it_pz_handle_t pz;
    it_evd_handle_t aevd; /* the AEVD of all connections' EVDs */
    bool pins;            /* registered memory is pinned: a device */
    bool no_crc;          /* ITAPI_EXS_CRC=off */
};

/* Returns the adapter, which the first call opens; NULL with errno set on failure. */
struct exs_adapter *exs_adapter_get(void);

/* In a child after fork: the child does not use the parent's IA. */
void exs_adapter_forget(void);

#endif /* ITAPI_ULP_EXS_ADAPTER_EXS_ADAPTER_H */
