/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unload LIBRARY: loads and unloads the library, which the program is not linked with, again and
 * again: after an IA was freed, and at last while one is open and its thread runs.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "it_api.h"

#define CYCLES 4

struct functions {
    it_status_t (*ia_create)(const char *name, uint32_t major, uint32_t minor, it_ia_handle_t *ia);
    it_status_t (*ia_free)(it_ia_handle_t ia);
};

static void *need(void *found, const char *what)
{
    if (found)
        return found;
    (void)fprintf(stderr, "unload: %s: %s\n", what, dlerror());
    exit(1);
}

static void *load(const char *path, struct functions *functions)
{
    void *library = need(dlopen(path, RTLD_NOW | RTLD_LOCAL), path);

    *(void **)(void *)&functions->ia_create = need(dlsym(library, "it_ia_create"), "it_ia_create");
    *(void **)(void *)&functions->ia_free = need(dlsym(library, "it_ia_free"), "it_ia_free");
    return library;
}

int main(int count, char **arguments)
{
    struct functions functions;
    it_ia_handle_t ia;

    if (count != 2)
        return 2;
    for (int cycle = 0; cycle < CYCLES; cycle++) {
        void *library = load(arguments[1], &functions);

        if (functions.ia_create("uiwarp", 2, 1, &ia) != IT_SUCCESS)
            return 1;
        if (cycle + 1 < CYCLES && functions.ia_free(ia) != IT_SUCCESS)
            return 1;
        if (dlclose(library) != 0)
            return 1;
    }
    /* The thread of the last IA still has its code, and the IA still works. */
    (void)need(dlopen(arguments[1], RTLD_NOW | RTLD_NOLOAD), "unloaded while a thread runs");
    (void)load(arguments[1], &functions);
    return functions.ia_free(ia) == IT_SUCCESS ? 0 : 1;
}
