/* SPDX-License-Identifier: BSD-2-Clause */
/* A program of version 2.1: it_lmr_create has that version's arguments. */
#include <it_api.h>

#include <stdio.h>

int main(void)
{
    static char memory[64];
    it_ia_handle_t ia;
    it_pz_handle_t pz;
    it_lmr_handle_t lmr;

    if (it_ia_create("uiwarp", 2, 1, &ia) != IT_SUCCESS || it_pz_create(ia, &pz) != IT_SUCCESS ||
        it_lmr_create(pz, memory, NULL, sizeof(memory), IT_ADDR_MODE_ABSOLUTE, IT_PRIV_LOCAL,
                      IT_LMR_FLAG_NONE, 0, &lmr, NULL) != IT_SUCCESS ||
        it_ia_free(ia) != IT_SUCCESS) {
        fprintf(stderr, "a call failed\n");
        return 1;
    }
    return 0;
}
