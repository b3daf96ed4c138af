/* SPDX-License-Identifier: BSD-2-Clause */
/* Prints the names of the Interfaces, one a line. */
#include <it_api.h>

#include <stdio.h>

int main(void)
{
    it_interface_t interfaces[64];
    size_t count = 64, total = 0;

    it_interface_list(interfaces, &count, &total);
    for (size_t i = 0; i < count; i++)
        printf("%s\n", interfaces[i].name);
    return total > 0 ? 0 : 1;
}
