/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * main() of a fuzz target without libFuzzer: runs every named file and all files of every named
 * folder.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int run_file(const char *path, const struct stat *info)
{
    FILE *file = fopen(path, "rb");
    size_t size = (size_t)info->st_size;
    /* Has exactly the length of the input, so that AddressSanitizer finds a read past its end. */
    uint8_t *data = malloc(size ? size : 1);
    int failed = !file || !data || fread(data, 1, size, file) != size;

    if (failed)
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
    else
        LLVMFuzzerTestOneInput(data, size);
    free(data);
    if (file)
        fclose(file);
    return failed;
}

static int run_path(const char *path, unsigned *count);

static int run_folder(const char *path, unsigned *count)
{
    DIR *folder = opendir(path);
    int failed = 0;

    if (!folder) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return 1;
    }
    for (struct dirent *entry; (entry = readdir(folder));) {
        char name[PATH_MAX];

        if (entry->d_name[0] == '.')
            continue;
        if (snprintf(name, sizeof(name), "%s/%s", path, entry->d_name) >= (int)sizeof(name)) {
            fprintf(stderr, "%s/%s: name too long\n", path, entry->d_name);
            failed = 1;
            continue;
        }
        failed |= run_path(name, count);
    }
    closedir(folder);
    return failed;
}

static int run_path(const char *path, unsigned *count)
{
    struct stat info;

    if (stat(path, &info) != 0) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return 1;
    }
    if (S_ISDIR(info.st_mode))
        return run_folder(path, count);
    ++*count;
    return run_file(path, &info);
}

int main(int argc, char **argv)
{
    unsigned count = 0;
    int failed = 0;

    for (int i = 1; i < argc; i++)
        failed |= run_path(argv[i], &count);
    printf("%u inputs\n", count);
    return failed || count == 0;
}
