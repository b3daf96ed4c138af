/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Both ends of connections in one process, on the IA that dat.conf names "itapi-lo". It may be on
 * any Interface: uiwarp on the host, devices in the virtual machine.
 */
#ifndef ITAPI_TESTS_UDAPL_UDAPL_KIT_H
#define ITAPI_TESTS_UDAPL_UDAPL_KIT_H

#include "support/check.h"

#include <dat2/udat.h>
#include <dat2/dat_registry.h>

#include <dat2/dat_registry.h> /* after udat.h */

#define KIT_IA     "itapi-lo"
#define KIT_BUFFER ((size_t)65536)

#define EXPECT_TYPE(type, call) kit_expect(__FILE__, __LINE__, #call, (type), (call))
#define CHECK_DAT(call)         kit_check(__FILE__, __LINE__, #call, (call))

/* One end. request also gets the binds' events. */
struct kit_side {
    DAT_IA_HANDLE ia;
    DAT_EVD_HANDLE async, request, recv, connect, cr;
    DAT_PZ_HANDLE pz;
    DAT_EP_HANDLE ep;
    DAT_LMR_HANDLE lmr;
    DAT_LMR_CONTEXT lmr_context;
    DAT_RMR_CONTEXT rmr_context;
    char *buffer; /* KIT_BUFFER octets, registered with all rights */
};

void kit_check(const char *file, int line, const char *call, DAT_RETURN got);
void kit_expect(const char *file, int line, const char *call, DAT_RETURN_TYPE want, DAT_RETURN got);

DAT_IA_HANDLE kit_open(const char *name, DAT_EVD_HANDLE *async);
DAT_EVD_HANDLE kit_evd(DAT_IA_HANDLE ia, DAT_COUNT length, DAT_EVD_FLAGS flags);

/* Opens all parts of a side. */
void kit_side_open(struct kit_side *side);
void kit_side_open_on(struct kit_side *side, const char *name);
/* Frees each object and closes the IA gracefully. */
void kit_side_close(struct kit_side *side);

DAT_EP_HANDLE kit_ep(const struct kit_side *side);
/* Replaces the side's EP with one that has these attributes; NULL: the provider's defaults. */
void kit_ep_anew(struct kit_side *side, const DAT_EP_ATTR *attr);

/* Takes the next event. Fails the test if none comes in time. */
DAT_EVENT kit_any(DAT_EVD_HANDLE evd);
/* Takes the next event, which must have this number. */
DAT_EVENT kit_next(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER number);
/* Takes a successful completion. Returns its length. */
DAT_VLEN kit_done(DAT_EVD_HANDLE evd, DAT_DTO_COOKIE cookie);
/* Takes a completion of this kind and status. */
DAT_DTO_COMPLETION_EVENT_DATA kit_completion(DAT_EVD_HANDLE evd, DAT_DTOS operation,
                                             DAT_DTO_COMPLETION_STATUS status, DAT_UINT64 cookie);
void kit_is_empty(DAT_EVD_HANDLE evd);

/* Makes a PSP on a qualifier that it chooses. */
DAT_PSP_HANDLE kit_listen(struct kit_side *side, DAT_PSP_FLAGS flags, DAT_CONN_QUAL *qual);
void kit_connect(const struct kit_side *side, DAT_EP_HANDLE ep, DAT_CONN_QUAL qual);
/* Takes the next request from the side's CR EVD. */
DAT_CR_HANDLE kit_request(const struct kit_side *side);

/* Connects the EPs of both sides. */
void kit_join(struct kit_side *active, struct kit_side *passive);
/* Disconnects the two EPs from the first one. Both are DISCONNECTED then. */
void kit_part(struct kit_side *one, struct kit_side *other);

DAT_EP_STATE kit_state(DAT_EP_HANDLE ep);

/*
 * Returns true on uiwarp, which has all features. On devices some calls return
 * DAT_MODEL_NOT_SUPPORTED.
 */
bool kit_is_uiwarp(DAT_IA_HANDLE ia);
/* Checks that the call has succeeded. Returns false if a device lacks the feature. */
bool kit_has(DAT_IA_HANDLE ia, const char *what, DAT_RETURN got);

/*
 * Returns the provider's functions, some of which libdat2 does not export. Any object leads to
 * them.
 */
DAT_PROVIDER *kit_table(DAT_HANDLE object);
/* Returns the IA as those functions take it. */
DAT_IA_HANDLE kit_own(DAT_IA_HANDLE ia);

DAT_DTO_COOKIE kit_cookie(DAT_UINT64 value);
DAT_LMR_TRIPLET kit_local(const struct kit_side *side, size_t offset, size_t length);
DAT_RMR_TRIPLET kit_remote(const struct kit_side *side, size_t offset, size_t length);

/* Fills a part of a side's buffer with a pattern; checks that a part has it. */
void kit_fill(struct kit_side *side, size_t offset, size_t length, unsigned seed);
bool kit_is_filled(const struct kit_side *side, size_t offset, size_t length, unsigned seed);

#endif
