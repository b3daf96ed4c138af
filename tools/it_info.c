/* SPDX-License-Identifier: BSD-2-Clause */
/* it_info: the Interfaces of the library, their properties, and why others are not available. */
#include "it_info_dat_conf.h"
#include "it_info_values.h"

#include "common/output.h"
#include "tool_json.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "it_info [--json | --dat-conf] [NAME | --all]: lists the Interfaces and the obstacles to "
    "others,\n"
    "or describes the Interface NAME\n"
    "\n"
    "  -a, --all                 describes every Interface\n"
    "  -j, --json                JSON instead of text: describes all, or NAME\n"
    "  -d, --dat-conf[=LIBRARY]  lines for the dat.conf of uDAPL programs; LIBRARY is the path of\n"
    "                            " DAT_CONF_LIBRARY " where it is not installed\n"
    "      --version\n"
    "  -h, --help                this text\n"
    "\n"
    "Exit status: 0 all is told; 1 an Interface could not be opened or queried; 2 wrong "
    "arguments;\n"
    "3 there is no Interface NAME.\n";

enum form {
    FORM_TEXT,
    FORM_LINE,
    FORM_JSON,
    FORM_DAT_CONF
};

struct request {
    const char *name; /* of an Interface; NULL: all */
    bool all;         /* describe them instead of listing them */
    enum form form;
    const char *library; /* for FORM_DAT_CONF */
};

/* ---------------------------------------------------------------- one Interface */

struct opened {
    it_ia_handle_t ia;
    it_ia_info_t *info;
    struct itx_features features;
    const char *failed; /* the call that failed, or NULL */
    it_status_t status;
};

static void interface_open(const char *name, struct opened *opened)
{
    *opened = (struct opened){.features.size = sizeof(opened->features)};
    opened->failed = "it_ia_create";
    opened->status = it_ia_create(name, 2, 1, &opened->ia);
    if (opened->status != IT_SUCCESS)
        return;
    opened->failed = "it_ia_query";
    opened->status = it_ia_query(opened->ia, &opened->info);
    if (opened->status != IT_SUCCESS)
        return;
    opened->failed = "itx_ia_query_features";
    opened->status = itx_ia_query_features(opened->ia, &opened->features);
    if (opened->status == IT_SUCCESS)
        opened->failed = NULL;
}

static void interface_close(const struct opened *opened)
{
    if (opened->info)
        it_ia_info_free(opened->info);
    if (opened->ia)
        (void)it_ia_free(opened->ia); /* a failure does not matter */
}

/* Prints one line: name, transport, addresses. */
static bool interface_list(const it_interface_t *interface)
{
    struct opened opened;

    interface_open(interface->name, &opened);
    printf("%-12s %-6s", interface->name, info_transport(interface->transport_type));
    if (opened.failed)
        printf(" %s: %s (ITAPI_LOG=info says more)", opened.failed,
               itx_status_string(opened.status));
    else
        info_values(&info_as_line, opened.info, &opened.features);
    putchar('\n');
    interface_close(&opened);
    return !opened.failed;
}

/* Returns true if everything could be read. */
static bool interface_tell(const it_interface_t *interface, bool json)
{
    struct opened opened;

    interface_open(interface->name, &opened);
    if (json) {
        json_open(NULL, "{");
        json_text("name", interface->name);
        json_text("transport", info_transport(interface->transport_type));
        if (opened.failed) {
            json_text("failed", opened.failed);
            json_text("status", itx_status_string(opened.status));
        }
    } else {
        printf("%s: %s\n", interface->name, info_transport(interface->transport_type));
        if (opened.failed)
            printf("    %s: %s (ITAPI_LOG=info says more)\n", opened.failed,
                   itx_status_string(opened.status));
    }
    if (!opened.failed)
        info_values(json ? &info_as_json : &info_as_text, opened.info, &opened.features);
    if (json)
        json_close("}");
    interface_close(&opened);
    return !opened.failed;
}

/* Returns true for the kernel's software iWARP, by the vendor of the device. */
static bool interface_is_siw(const it_interface_t *interface)
{
    struct opened opened;
    bool siw;

    if (interface->transport_type != IT_IWARP_TCP_TRANSPORT)
        return false;
    interface_open(interface->name, &opened);
    siw = !opened.failed && memcmp(opened.info->vendor.iwarp.vid, "bmt", sizeof("bmt")) == 0;
    interface_close(&opened);
    return siw;
}

/* ---------------------------------------------------------------- all of them */

static const char advice[] =
    "\n"
    "Take uiwarp: it has every address of this machine. uiwarp:NAME has those of one network\n"
    "interface, for programs that may use no other. A device of rdma-core has its own name.\n"
    "it_info NAME describes one, it_info --all every one.\n";

/* Returns an array that the caller frees; NULL if memory runs out. */
static it_interface_t *interfaces_list(size_t *count)
{
    it_interface_t *list;

    it_interface_list(NULL, NULL, count);
    list = calloc(*count ? *count : 1, sizeof(*list));
    if (list)
        it_interface_list(list, count, NULL);
    return list;
}

static int interfaces_tell(const it_interface_t *list, size_t count, const struct request *request)
{
    int status = request->name ? EXIT_UNKNOWN : EXIT_FINE;
    bool json = request->form == FORM_JSON;

    if (json)
        json_open("interfaces", "[");
    for (size_t i = 0; i < count; i++) {
        if (request->name && strcmp(request->name, list[i].name) != 0)
            continue;
        if (status == EXIT_UNKNOWN)
            status = EXIT_FINE;
        if (request->form == FORM_DAT_CONF)
            dat_conf_line(list[i].name, request->library, interface_is_siw(&list[i]));
        else if (!(request->form == FORM_LINE ? interface_list(&list[i])
                                              : interface_tell(&list[i], json)))
            status = EXIT_FAILED;
    }
    if (json)
        json_close("]");
    return status;
}

static void providers_tell(enum form form)
{
    struct itx_provider_info info = {.size = sizeof(info)};
    bool json = form == FORM_JSON;

    if (json)
        json_open("providers", "[");
    for (size_t i = 0; itx_provider_query(i, &info) == IT_SUCCESS; i++) {
        if (json) {
            json_open(NULL, "{");
            json_text("name", info.name);
            json_number("interfaces", info.interfaces);
            json_text("obstacle", info_obstacle(info.obstacle));
            json_text("detail", info.detail);
            json_close("}");
        } else if (info.obstacle != ITX_OBSTACLE_NONE && form == FORM_DAT_CONF) {
            dat_conf_obstacle(info.name, info.detail);
        } else if (info.obstacle != ITX_OBSTACLE_NONE) {
            printf("provider %s: %s\n", info.name, info.detail);
        }
    }
    if (json)
        json_close("]");
}

static int tell(const struct request *request)
{
    size_t count = 0;
    it_interface_t *list = interfaces_list(&count);
    bool json = request->form == FORM_JSON;
    int status;

    if (!list) {
        fprintf(stderr, "it_info: out of memory\n");
        return EXIT_FAILED;
    }
    if (json) {
        json_open(NULL, "{");
        json_text("version", itx_version());
    }
    status = interfaces_tell(list, count, request);
    /* A request for an existing Interface does not ask why others are missing. */
    if (!request->name || status != EXIT_FINE)
        providers_tell(request->form);
    if (request->form == FORM_LINE)
        fputs(advice, stdout);
    if (json)
        json_close("}");
    if (status == EXIT_UNKNOWN)
        fprintf(stderr, "it_info: there is no Interface %s\n", request->name);
    free(list);
    return status;
}

static int usage_error(const char *problem, const char *word)
{
    fprintf(stderr, "it_info: %s: %s\n", problem, word);
    return EXIT_USAGE;
}

/* Returns an exit status, or -1 to continue. */
static int parse(int argc, char **argv, struct request *request)
{
    static const struct option options[] = {{"all", no_argument, NULL, 'a'},
                                            {"json", no_argument, NULL, 'j'},
                                            {"dat-conf", optional_argument, NULL, 'd'},
                                            {"version", no_argument, NULL, 'V'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    enum form form;
    int option;

    while ((option = getopt_long(argc, argv, "ajd::h", options, NULL)) != -1) {
        switch (option) {
        case 'h':
            fputs(usage, stdout);
            return EXIT_FINE;
        case 'V':
            printf("it_info %s\n", itx_version());
            return EXIT_FINE;
        case 'a':
            request->all = true;
            break;
        case 'j':
        case 'd':
            form = option == 'j' ? FORM_JSON : FORM_DAT_CONF;
            if (request->form != FORM_TEXT && request->form != form)
                return usage_error("one form at the most", "--json or --dat-conf");
            request->form = form;
            if (optarg)
                request->library = optarg;
            break;
        default: /* getopt has printed the message */
            return EXIT_USAGE;
        }
    }
    if (argc - optind > 1)
        return usage_error("one Interface at the most", argv[optind + 1]);
    request->name = argv[optind];
    if (request->name && request->all)
        return usage_error("--all or one Interface", request->name);
    if (request->form == FORM_TEXT && !request->name && !request->all)
        request->form = FORM_LINE;
    return -1;
}

int main(int argc, char **argv)
{
    struct request request = {.library = DAT_CONF_LIBRARY};
    int status;

    output_begin();
    status = parse(argc, argv, &request);
    if (status < 0)
        status = tell(&request);
    return output_end(status);
}
