/* SPDX-License-Identifier: BSD-2-Clause */

#include "base/base_log.h"
#include "ual/providers/ual_providers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CONF_ENVIRONMENT "ITAPI_CONF"
#define CONF_BLANKS      " \t\r\n\v\f"
#define CONF_PROVIDER    "provider"
#define CONF_ALIAS       "alias"

/* ---------------------------------------------------------------- lines */

static void conf_skip(const struct ual_conf_line *line, const char *why)
{
    base_log(BASE_LOG_WARN, "%s:%u: %s; line skipped", line->file, line->number, why);
}

/* Cuts off the first word and returns it; *rest gets the text after it. */
static char *conf_word(char *text, char **rest)
{
    char *word = text + strspn(text, CONF_BLANKS);
    char *end = word + strcspn(word, CONF_BLANKS);

    *rest = end;
    if (*end) {
        *end = '\0';
        *rest = end + 1 + strspn(end + 1, CONF_BLANKS);
    }
    return word;
}

/* Removes a comment, which begins at a # at the start of a word, and trailing blanks. */
static void conf_trim(char *text)
{
    size_t length;

    for (char *mark = text; (mark = strchr(mark, '#')) != NULL; mark++) {
        if (mark == text || strchr(CONF_BLANKS, mark[-1])) {
            *mark = '\0';
            break;
        }
    }
    length = strlen(text);
    while (length > 0 && strchr(CONF_BLANKS, text[length - 1]))
        text[--length] = '\0';
}

/* Refuses a relative path with a slash: it would depend on the program's working directory. */
static bool conf_is_loadable(const char *library)
{
    return library[0] == '/' || !strchr(library, '/');
}

/* Returns NULL, or the reason why the line is skipped. */
static const char *conf_provider(struct ual_conf_line *line, char *text,
                                 void (*use)(const struct ual_conf_line *line, void *context),
                                 void *context)
{
    char *rest;

    line->library = conf_word(text, &rest);
    line->options = rest;
    if (!*line->library)
        return "no library named";
    if (!conf_is_loadable(line->library))
        return "the library's path is relative";
    use(line, context);
    return NULL;
}

static const char *conf_alias(char *text)
{
    char *rest;
    const char *name = conf_word(text, &rest);
    const char *interface_name = conf_word(rest, &rest);

    return *rest ? "an alias has a name and one Interface" : ual_alias_add(name, interface_name);
}

void ual_conf_parse(FILE *stream, const char *file,
                    void (*use)(const struct ual_conf_line *line, void *context), void *context)
{
    struct ual_conf_line line = {.file = file};
    size_t room = 0;
    char *text = NULL;
    ssize_t length;

    while ((length = getline(&text, &room, stream)) >= 0) {
        const char *keyword;
        const char *why = "unknown keyword";
        char *rest;

        line.number++;
        if (strlen(text) != (size_t)length) {
            conf_skip(&line, "no text");
            continue;
        }
        conf_trim(text);
        keyword = conf_word(text, &rest);
        if (!*keyword)
            continue;
        if (strcmp(keyword, CONF_PROVIDER) == 0)
            why = conf_provider(&line, rest, use, context);
        else if (strcmp(keyword, CONF_ALIAS) == 0)
            why = conf_alias(rest);
        if (why)
            conf_skip(&line, why);
    }
    free(text);
}

/* ---------------------------------------------------------------- the file */

struct conf_load {
    bool (*add)(const struct vp_provider *provider);
};

static void conf_load_line(const struct ual_conf_line *line, void *context)
{
    const struct conf_load *load = context;
    struct itx_provider_info info = {.size = sizeof(info)};
    const struct vp_provider *provider =
        ual_module_open(line->library, line->options, load->add, &info);

    if (provider)
        base_log(BASE_LOG_INFO, "%s:%u: provider %s", line->file, line->number, provider->name);
    else if (info.detail[0])
        conf_skip(line, info.detail);
}

/* Returns NULL with errno set on failure. Opens nothing that could block or has side effects. */
static FILE *conf_open(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat status;
    FILE *stream = NULL;
    int error;

    if (fd < 0)
        return NULL;
    if (fstat(fd, &status) != 0)
        error = errno;
    else if (!S_ISREG(status.st_mode))
        error = EINVAL;
    else
        error = (stream = fdopen(fd, "r")) ? 0 : errno;
    if (stream)
        return stream;
    (void)close(fd);
    errno = error;
    return NULL;
}

void ual_conf_load(bool (*add)(const struct vp_provider *provider))
{
    struct conf_load load = {.add = add};
    const char *named = secure_getenv(CONF_ENVIRONMENT);
    const char *path = named ? named : UAL_CONF_DEFAULT;
    FILE *stream;

    if (!*path)
        return; /* set but empty: no file at all */
    stream = conf_open(path);
    if (!stream) {
        if (named || errno != ENOENT)
            base_log(BASE_LOG_WARN, "%s: %s; no providers but the built-in ones", path,
                     strerror(errno));
        return;
    }
    ual_conf_parse(stream, path, conf_load_line, &load);
    (void)fclose(stream); /* was only read: no error matters */
}
