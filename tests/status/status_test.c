/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every status of every call: one test for each table, and one that checks that every call is in a
 * table.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "status/status_tables.h"
#include "support/test_row.h"

static const struct status_table *const tables[] = {
    &status_ia,  &status_evd,  &status_ep,       &status_connect, &status_memory,    &status_window,
    &status_srq, &status_post, &status_datagram, &status_utility, &status_extension,
};

/* These calls return no status. */
static const char *const without[] = {
    "it_interface_list",
    "it_ia_info_free",
    "it_hton64",
    "it_ntoh64",
    "it_make_rdma_addr_absolute",
    "it_make_rdma_addr_relative",
    "itx_status_string",
    "itx_dto_status_string",
    "itx_event_string",
    "itx_reject_string",
    "itx_ep_state_string",
    "itx_version",
    "itx_event_immediate",
    "itx_event_private_data_length",
};

static bool is_covered(const char *name)
{
    for (size_t i = 0; i < sizeof(without) / sizeof(without[0]); i++)
        if (strcmp(without[i], name) == 0)
            return true;
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
        for (const struct status_call *call = tables[i]->calls; call->name != NULL; call++)
            if (strcmp(call->name, name) == 0)
                return true;
    return false;
}

Test(status, complete)
{
    FILE *exports = fopen("conform/exports.txt", "re");
    char line[128];
    unsigned count = 0;

    CHECK(exports != NULL);
    while (fgets(line, sizeof(line), exports) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "it_", 3) != 0 && strncmp(line, "itx_", 4) != 0)
            continue;
        count++;
        if (!is_covered(line))
            check_note(__FILE__, __LINE__, "no table has %s", line);
    }
    (void)fclose(exports);
    CHECK(count > 90);
    check_done();
}

TEST_ROW(status, ia, status_run, &status_ia);
TEST_ROW(status, evd, status_run, &status_evd);
TEST_ROW(status, ep, status_run, &status_ep);
TEST_ROW(status, connect, status_run, &status_connect);
TEST_ROW(status, memory, status_run, &status_memory);
TEST_ROW(status, window, status_run, &status_window);
TEST_ROW(status, srq, status_run, &status_srq);
TEST_ROW(status, post, status_run, &status_post);
TEST_ROW(status, datagram, status_run, &status_datagram);
TEST_ROW(status, utility, status_run, &status_utility);
TEST_ROW(status, extension, status_run, &status_extension);
