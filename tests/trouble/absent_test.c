/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * absent_test REASON: runs on a machine that cannot have a device. The warning must name the
 * reason, and uiwarp must work.
 */
#include "support/it_fixture.h"
#include "trouble/said.h"

#include <string.h>

#define INTERFACES 64

static void only_uiwarp(void)
{
    it_interface_t interfaces[INTERFACES];
    size_t count = INTERFACES;
    size_t total = 0;

    it_interface_list(interfaces, &count, &total);
    CHECK(count > 0 && count == total);
    for (size_t i = 0; i < count; i++)
        CHECK(strncmp(interfaces[i].name, "uiwarp", strlen("uiwarp")) == 0);
}

int main(int argc, char **argv)
{
    it_ia_handle_t ia = NULL;
    struct fx_pair pair;

    CHECK(argc == 2);
    said_begin();
    only_uiwarp();
    said_nothing();
    CHECK_STATUS(IT_ERR_INVALID_NAME, it_ia_create("siw0", 2, 1, &ia));
    CHECK(ia == NULL);
    said_once(argv[1]);
    fx_pair_open(&pair);
    fx_pair_ping(&pair);
    fx_pair_close(&pair);
    said_nothing();
    return 0;
}
