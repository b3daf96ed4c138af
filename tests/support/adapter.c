/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/adapter.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

bool adapter_is_open(void)
{
    DIR *folder = opendir("/proc/self/task");
    const struct dirent *entry;
    bool found = false;

    while (folder && !found && (entry = readdir(folder)) != NULL) {
        char path[300], name[32] = "";
        FILE *file;

        (void)snprintf(path, sizeof(path), "/proc/self/task/%s/comm", entry->d_name);
        file = fopen(path, "re");
        found = file && fgets(name, sizeof(name), file) && strncmp(name, "itapi:", 6) == 0;
        if (file)
            (void)fclose(file);
    }
    if (folder)
        (void)closedir(folder);
    return found;
}
