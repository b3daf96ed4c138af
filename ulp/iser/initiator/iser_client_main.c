/* SPDX-License-Identifier: BSD-2-Clause */
/* it_iser: an initiator for users and tests. docs/iser.md describes its use. */
#include "initiator/iser_bench.h"

#include <errno.h>
#include <getopt.h>
#include <netdb.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define MEMORY_MIN  (8u << 20)
#define TIMEOUT_MAX 86400u

static const char help[] =
    "it_iser [OPTIONS] ADDRESS[:PORT] list            the targets that are there\n"
    "it_iser [OPTIONS] ADDRESS[:PORT]/TARGET/LUN DO   with a unit:\n"
    "  info      who it is\n"
    "  read      its octets go to stdout\n"
    "  write     stdin goes to it\n"
    "  verify    a pattern is written and read back\n"
    "  bench     commands for a time\n"
    "\n"
    "  -r, --rdma[=INTERFACE]   iSER behind the login (RFC 7145); uiwarp\n"
    "  -F, --from-start         with -r: iSER from the first octet, without a login in plain TCP\n"
    "  -i, --initiator NAME\n"
    "  -c, --chap FILE          NAME SECRET of ours; a second line: of the target\n"
    "  -C, --digests            CRC32C of headers and data (TCP)\n"
    "  -N, --no-crc             iSER: no CRC32c is asked for\n"
    "  -I, --no-immediate       ImmediateData=No\n"
    "  -R, --initial-r2t        InitialR2T=Yes\n"
    "  -B, --tagged-solicited   TaggedBufferForSolicitedDataOnly=Yes\n"
    "  -o, --offset N           octets; K, M, G: read, write, verify\n"
    "  -l, --length N           octets: read, verify; all there are\n"
    "  -s, --size N             octets of a command, 4K: bench; the largest: verify\n"
    "  -d, --depth N            commands at once, 1: bench\n"
    "  -t, --seconds N          2: bench\n"
    "  -w, --writes             bench writes\n"
    "  -q, --sequential         bench goes through the unit in order\n"
    "  -T, --timeout N          seconds of silence, or without an answer, 60\n"
    "  -h, --help\n";

struct settings {
    struct iser_client_options client;
    const char *action;
    uint64_t lun, offset, length, size;
    bool has_length;
    struct iser_bench bench;
    char chap[2][512]; /* lines of the secrets file */
};

/* ---- Settings ----------------------------------------------- */

/* clang-format off */
static const struct option options[] = {
    {"rdma", optional_argument, NULL, 'r'},
    {"from-start", no_argument, NULL, 'F'},
    {"initiator", required_argument, NULL, 'i'},
    {"chap", required_argument, NULL, 'c'},
    {"digests", no_argument, NULL, 'C'},
    {"no-crc", no_argument, NULL, 'N'},
    {"no-immediate", no_argument, NULL, 'I'},
    {"initial-r2t", no_argument, NULL, 'R'},
    {"tagged-solicited", no_argument, NULL, 'B'},
    {"offset", required_argument, NULL, 'o'},
    {"length", required_argument, NULL, 'l'},
    {"size", required_argument, NULL, 's'},
    {"depth", required_argument, NULL, 'd'},
    {"seconds", required_argument, NULL, 't'},
    {"writes", no_argument, NULL, 'w'},
    {"sequential", no_argument, NULL, 'q'},
    {"timeout", required_argument, NULL, 'T'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};
/* clang-format on */

static bool refuse(const char *what, const char *why)
{
    (void)fprintf(stderr, "it_iser: %s: %s\n", what, why);
    return false;
}

/* Parses a number, optionally with K, M or G. */
static bool parse_number(const char *text, uint64_t *number)
{
    static const char units[] = "KMG";
    const char *unit;
    char *end;

    errno = 0;
    *number = strtoull(text, &end, 10);
    unit = *end ? strchr(units, *end) : NULL;
    if (*text < '0' || *text > '9' || errno != 0 || *number > UINT64_MAX >> 30 ||
        (*end && (!unit || end[1])))
        return refuse(text, "not a number of octets");
    if (unit)
        *number <<= 10 * (unit - units + 1);
    return true;
}

static bool parse_count(const char *text, unsigned most, unsigned *count)
{
    uint64_t number;

    if (!parse_number(text, &number))
        return false;
    if (number < 1 || number > most) {
        (void)fprintf(stderr, "it_iser: %s: 1 to %u\n", text, most);
        return false;
    }
    *count = (unsigned)number;
    return true;
}

static bool parse_secret(char *line, struct itiser_secret *secret)
{
    size_t name = strcspn(line, " \t");
    char *text = line + name + strspn(line + name, " \t");

    line[strcspn(line, "\r\n")] = '\0';
    if (!*text || text == line + name)
        return false;
    line[name] = '\0';
    *secret = (struct itiser_secret){
        .name = line, .secret = (const uint8_t *)text, .length = strlen(text)};
    return true;
}

static bool read_secrets(struct settings *settings, const char *path)
{
    FILE *file = fopen(path, "re");
    bool good;

    if (!file)
        return refuse(path, strerror(errno));
    good = fgets(settings->chap[0], sizeof(settings->chap[0]), file) &&
           parse_secret(settings->chap[0], &settings->client.own);
    if (good && fgets(settings->chap[1], sizeof(settings->chap[1]), file))
        good = parse_secret(settings->chap[1], &settings->client.proof);
    (void)fclose(file);
    return good || refuse(path, "lines of NAME SECRET");
}

static bool take_option(struct settings *settings, int option)
{
    switch (option) {
    case 'r':
        settings->client.interface = optarg ? optarg : "uiwarp";
        return true;
    case 'F': /* as Linux does, which knows no other base */
        settings->client.tagged_solicited = true;
        return settings->client.from_start = true;
    case 'i':
        settings->client.initiator = optarg;
        return true;
    case 'c':
        return read_secrets(settings, optarg);
    case 'C':
        return settings->client.digests = true;
    case 'N':
        return settings->client.no_crc = true;
    case 'I':
        return settings->client.no_immediate = true;
    case 'R':
        return settings->client.initial_r2t = true;
    case 'B':
        return settings->client.tagged_solicited = true;
    case 'w':
        return settings->bench.writes = true;
    case 'q':
        return settings->bench.sequential = true;
    case 'o':
        return parse_number(optarg, &settings->offset);
    case 'l':
        settings->has_length = true;
        return parse_number(optarg, &settings->length);
    case 's':
        return parse_number(optarg, &settings->size);
    case 'd':
        return parse_count(optarg, ISER_CLIENT_TASKS - 1, &settings->client.depth);
    case 'T':
        return parse_count(optarg, TIMEOUT_MAX, &settings->client.timeout);
    case 't':
        settings->bench.seconds = strtod(optarg, NULL);
        return settings->bench.seconds > 0 || refuse(optarg, "not a time");
    default:
        return false;
    }
}

/* HOST, HOST:PORT or [HOST]:PORT; names are looked up. */
static bool parse_address(char *text, struct sockaddr_storage *address)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found;
    const char *port = "3260";
    char *end = text, *host = text;
    int failed;

    if (*text == '[') {
        host = text + 1;
        end = strchr(text, ']');
        if (!end)
            return refuse(text, "no ]");
        *end++ = '\0';
    } else if (strchr(text, ':') == strrchr(text, ':')) {
        end = text + strcspn(text, ":");
    } else {
        end = text + strlen(text);
    }
    if (*end == ':') {
        *end = '\0';
        port = end + 1;
    }
    failed = getaddrinfo(host, port, &hints, &found);
    if (failed)
        return refuse(host, gai_strerror(failed));
    memcpy(address, found->ai_addr, found->ai_addrlen);
    freeaddrinfo(found);
    return true;
}

/* ADDRESS[/TARGET[/LUN]] */
static bool parse_place(struct settings *settings, char *text)
{
    char *target = strchr(text, '/'), *lun = target ? strchr(target + 1, '/') : NULL;

    if (target) {
        *target = '\0';
        settings->client.target = target + 1;
    }
    if (lun) {
        *lun = '\0';
        if (!parse_number(lun + 1, &settings->lun) || settings->lun > 255)
            return refuse(lun + 1, "not a LUN");
    }
    return parse_address(text, &settings->client.address);
}

static bool read_settings(struct settings *settings, int argc, char **argv)
{
    bool lists;
    int option;

    while ((option = getopt_long(argc, argv, "r::Fi:c:CNIRBo:l:s:d:t:T:wqh", options, NULL)) != -1)
        if (!take_option(settings, option))
            return false;
    if (argc - optind != 2)
        return refuse("usage", "it_iser --help explains the arguments");
    settings->action = argv[optind + 1];
    if (!parse_place(settings, argv[optind]))
        return false;
    lists = strcmp(settings->action, "list") == 0;
    if (!lists && !settings->client.target)
        return refuse(argv[optind], "the action needs ADDRESS/TARGET/LUN");
    if (settings->client.from_start && !settings->client.interface)
        return refuse("--from-start", "needs --rdma");
    if (lists)
        settings->client.target = NULL;
    if (lists && !settings->client.from_start)
        settings->client.interface = NULL;
    if (settings->size == 0)
        settings->size = strcmp(settings->action, "bench") == 0 ? 4096 : 256u << 10;
    if (settings->size > 4u << 20)
        return refuse("size", "at most 4M");
    settings->client.memory = settings->size * settings->client.depth;
    if (settings->client.memory < MEMORY_MIN)
        settings->client.memory = MEMORY_MIN;
    return true;
}

/* ---- Actions ----------------------------------------------- */

static bool list(struct iser_client *client, struct settings *settings)
{
    static struct iser_text text;
    const char *key, *value;
    size_t at = 0, key_length, length, line;
    char *answer;
    bool good;

    (void)settings;
    iser_text_put(&text, "SendTargets", "All");
    good = iser_client_text(client, &text, &answer, &length);
    for (line = 0; line < length; line += strlen(answer + line) + 1)
        iser_client_clean(answer + line);
    while (good && iser_text_next(answer, length, &at, &key, &key_length, &value))
        (void)printf("%.*s=%s\n", (int)key_length, key, value);
    free(answer);
    return good;
}

static bool info(struct iser_disk *disk, struct settings *settings)
{
    (void)settings;
    (void)printf("vendor %s\nproduct %s\nserial %s\nblocks %llu\nblock size %u\nover %s\n",
                 disk->vendor, disk->product, disk->serial, (unsigned long long)disk->blocks,
                 disk->block_size, disk->client->options.interface ? "iSER" : "TCP");
    return true;
}

static uint64_t length_of(const struct iser_disk *disk, const struct settings *settings)
{
    uint64_t size = disk->blocks * disk->block_size;

    if (settings->has_length || settings->offset > size)
        return settings->length;
    return size - settings->offset;
}

static bool read_octets(struct iser_disk *disk, struct settings *settings)
{
    return iser_disk_read(disk, settings->offset, length_of(disk, settings), stdout);
}

static bool write_octets(struct iser_disk *disk, struct settings *settings)
{
    return iser_disk_write(disk, settings->offset, stdin);
}

static bool verify(struct iser_disk *disk, struct settings *settings)
{
    uint64_t length = length_of(disk, settings);

    if (!iser_disk_verify(disk, settings->offset, length, (uint32_t)settings->size))
        return false;
    (void)printf("%llu octets are what was written\n", (unsigned long long)length);
    return true;
}

static bool bench(struct iser_disk *disk, struct settings *settings)
{
    struct iser_bench *result = &settings->bench;
    double octets;

    result->size = (uint32_t)settings->size;
    if (!iser_bench(disk, result))
        return false;
    octets = (double)result->commands * (double)result->size;
    (void)printf("%s %s size %u depth %u over %s: %.0f iops %.1f MiB/s %.2f us each, cpu %.3f s "
                 "per GiB\n",
                 result->sequential ? "sequential" : "random", result->writes ? "writes" : "reads",
                 result->size, disk->client->options.depth,
                 disk->client->options.interface ? "iSER" : "TCP",
                 (double)result->commands / result->elapsed, octets / result->elapsed / (1 << 20),
                 result->elapsed * 1e6 * disk->client->options.depth / (double)result->commands,
                 result->cpu / (octets / (1 << 30)));
    return true;
}

static bool act(struct iser_client *client, struct settings *settings)
{
    static const struct {
        const char *name;
        bool (*act)(struct iser_disk *disk, struct settings *settings);
    } actions[] = {{"info", info},
                   {"read", read_octets},
                   {"write", write_octets},
                   {"verify", verify},
                   {"bench", bench}};
    struct iser_disk disk;

    if (!settings->client.target)
        return list(client, settings);
    for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
        if (strcmp(actions[i].name, settings->action) == 0)
            return iser_disk_open(&disk, client, settings->lun) && actions[i].act(&disk, settings);
    return iser_client_fail(client, "%s: list, info, read, write, verify or bench",
                            settings->action);
}

int main(int argc, char **argv)
{
    static struct iser_client client;
    static struct settings settings = {
        .client = {.initiator = "iqn.2026-01.org.itapi:it-iser", .depth = 1, .timeout = 60},
        .bench = {.seconds = 2}};
    bool good;

    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "-h") == 0 || strcmp(argv[i], "--help") == 0) {
            (void)fputs(help, stdout);
            return EXIT_SUCCESS;
        }
    if (!read_settings(&settings, argc, argv))
        return 2;
    (void)signal(SIGPIPE, SIG_IGN);
    good = iser_client_open(&client, &settings.client) && act(&client, &settings);
    iser_client_close(&client);
    if (!good || client.error[0])
        (void)fprintf(stderr, "it_iser: %s\n", client.error);
    return good && !client.error[0] ? EXIT_SUCCESS : EXIT_FAILURE;
}
