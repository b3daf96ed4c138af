/* SPDX-License-Identifier: BSD-2-Clause */
/* The smallest program that needs the headers, the library and the data in it. */
#include <it_api.h>

#include <stdint.h>
#include <stdio.h>

int main(void)
{
    size_t listed = 0, total = 0;
    char byte = 0;

    it_interface_list(NULL, &listed, &total);
    if (listed != 0) {
        fprintf(stderr, "%zu interfaces written into no room\n", listed);
        return 1;
    }
    if (it_make_rdma_addr_absolute(&byte) != (it_rdma_addr_t)(uintptr_t)&byte) {
        fprintf(stderr, "it_make_rdma_addr_absolute: not the address\n");
        return 1;
    }
    printf("%zu interfaces\n", total);
    return 0;
}
