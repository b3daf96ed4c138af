/* SPDX-License-Identifier: BSD-2-Clause */
/* The IA of the process: the Interface that ITAPI_EXS_INTERFACE names, or uiwarp. */
#ifndef ITAPI_ULP_EXS_ADAPTER_EXS_ADAPTER_H
#define ITAPI_ULP_EXS_ADAPTER_EXS_ADAPTER_H

#include <it_api.h>

#include <stdbool.h>

struct exs_adapter {
    it_ia_handle_t ia;
    it_pz_handle_t pz;
    it_evd_handle_t aevd; /* the EVDs of all connections */
    bool pins;            /* registered memory is locked: a device */
    bool no_crc;          /* ITAPI_EXS_CRC=off */
};

/* Opened by the first call. NULL: errno says why. */
struct exs_adapter *exs_adapter_get(void);

/* In a child after fork: the parent's IA is not used. */
void exs_adapter_forget(void);

#endif /* ITAPI_ULP_EXS_ADAPTER_EXS_ADAPTER_H */
