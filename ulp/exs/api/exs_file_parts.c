/* SPDX-License-Identifier: BSD-2-Clause */
#include "api/exs_file_parts.h"

#include "adapter/exs_adapter.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Checks --------------------------------------------------------------------------------- */

static uint64_t offset_of(const exs_xferfile_t *element)
{
    return element->exs_xfv_type == EXS_FDVEC ? element->exs_xfvec.exs_fdv.exs_fdv_offset
                                              : element->exs_xfvec.exs_pathv.exs_pathv_offset;
}

static int check_file(int fd, uint64_t offset, uint64_t wanted, uint64_t *length)
{
    struct stat status;
    int flags;

    if (fstat(fd, &status) != 0)
        return errno;
    flags = fcntl(fd, F_GETFL);
    if (S_ISDIR(status.st_mode))
        return EISDIR;
    if (!S_ISREG(status.st_mode))
        return ESPIPE;
    if (flags < 0 || flags & O_PATH || (flags & O_ACCMODE) == O_WRONLY)
        return EBADF;
    if (offset > (uint64_t)status.st_size || wanted > (uint64_t)status.st_size - offset)
        return EINVAL;
    *length = wanted ? wanted : (uint64_t)status.st_size - offset;
    return 0;
}

static int check_path(const exs_pathvec_t *file, uint64_t *length)
{
    int error;
    int fd;

    if (!file->exs_pathv_path)
        return EFAULT;
    fd = open(file->exs_pathv_path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return errno;
    error = check_file(fd, file->exs_pathv_offset, file->exs_pathv_length, length);
    (void)close(fd);
    return error;
}

/* Not on devices: they would pin the whole file. */
static int check_descriptor(const exs_fdvec_t *file, struct exs_file_element *element)
{
    const struct exs_adapter *adapter = exs_adapter_get();
    int error = check_file(file->exs_fdv_fildes, file->exs_fdv_offset, file->exs_fdv_length,
                           &element->length);

    if (error || !adapter || adapter->pins)
        return error;
    exs_file_sealed_map(&element->sealed, file->exs_fdv_fildes, file->exs_fdv_offset,
                        element->length);
    if (!element->sealed.mapped)
        return 0;
    exs_memory_make(&element->own, element->sealed.octets, (size_t)element->length, false);
    element->memory = &element->own;
    return 0;
}

static int check_element(const exs_xferfile_t *from, struct exs_file_element *element)
{
    const exs_iovec_t *memory = &from->exs_xfvec.exs_iov;

    switch (from->exs_xfv_type) {
    case EXS_IOVEC:
        element->length = memory->exs_iov_len;
        if (memory->exs_iov_len > SSIZE_MAX)
            return EINVAL;
        return exs_memory_take(memory->exs_iov_mhandle, memory->exs_iov_base, memory->exs_iov_len,
                               false, &element->own, &element->memory);
    case EXS_FDVEC:
        return check_descriptor(&from->exs_xfvec.exs_fdv, element);
    case EXS_PATHVEC:
        return check_path(&from->exs_xfvec.exs_pathv, &element->length);
    default:
        return EINVAL;
    }
}

/* ---- All elements --------------------------------------------------------------------------- */

/* An empty element is a packet, but nothing in a stream. */
static void skip_empty(struct exs_file_parts *parts)
{
    while (!parts->packets && parts->index < parts->count &&
           parts->elements[parts->index].length == 0)
        parts->index++;
}

int exs_file_parts_open(struct exs_file_parts *parts, const exs_xferfile_t *vector, size_t count,
                        bool packets)
{
    *parts = (struct exs_file_parts){.vector = vector, .packets = packets, .fd = -1};
    parts->elements = calloc(count, sizeof(*parts->elements));
    if (!parts->elements)
        return ENOMEM;
    for (; parts->count < count; parts->count++) {
        struct exs_file_element *element = &parts->elements[parts->count];
        int error = check_element(&vector[parts->count], element);

        if (error == 0 && packets && element->length > INT32_MAX)
            error = EMSGSIZE;
        if (error) {
            parts->count += element->memory ? 1 : 0;
            return error;
        }
        if (vector[parts->count].exs_xfv_type != EXS_IOVEC && element->length > parts->longest)
            parts->longest = element->length;
    }
    skip_empty(parts);
    return 0;
}

void exs_file_parts_close(struct exs_file_parts *parts)
{
    for (size_t i = 0; i < parts->count; i++) {
        if (parts->elements[i].memory)
            exs_memory_give(parts->elements[i].memory);
        exs_file_sealed_unmap(&parts->elements[i].sealed);
    }
    if (parts->fd >= 0)
        (void)close(parts->fd);
    free(parts->elements);
}

bool exs_file_parts_over(const struct exs_file_parts *parts)
{
    return parts->index == parts->count;
}

/* ---- Parts ---------------------------------------------------------------------------------- */

/* Reads length octets. A file that ends early has been truncated. */
static int read_all(int fd, char *buffer, size_t length, uint64_t offset)
{
    while (length > 0) {
        ssize_t got = pread(fd, buffer, length, (off_t)offset);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return EIO;
        buffer += got;
        length -= (size_t)got;
        offset += (size_t)got;
    }
    return 0;
}

/* The path was that of a file when it was checked. It may be gone now, or lead to a FIFO. */
static int open_again(const char *path)
{
    return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

static int read_part(struct exs_file_parts *parts, const exs_xferfile_t *element, void *buffer,
                     size_t length)
{
    int fd = parts->fd;

    if (element->exs_xfv_type == EXS_FDVEC)
        fd = element->exs_xfvec.exs_fdv.exs_fdv_fildes;
    else if (fd < 0)
        fd = parts->fd = open_again(element->exs_xfvec.exs_pathv.exs_pathv_path);
    if (fd < 0)
        return EIO;
    return read_all(fd, buffer, length, offset_of(element) + parts->offset);
}

static void advance(struct exs_file_parts *parts, size_t length)
{
    parts->offset += length;
    if (parts->offset < parts->elements[parts->index].length)
        return;
    if (parts->fd >= 0)
        (void)close(parts->fd);
    parts->fd = -1;
    parts->offset = 0;
    parts->index++;
    skip_empty(parts);
}

int exs_file_parts_next(struct exs_file_parts *parts, void *buffer, size_t room,
                        struct exs_file_part *part)
{
    const exs_xferfile_t *element = &parts->vector[parts->index];
    const struct exs_file_element *state = &parts->elements[parts->index];
    uint64_t rest;
    int error = 0;

    *part = (struct exs_file_part){0};
    if (exs_file_parts_over(parts))
        return 0;
    rest = state->length - parts->offset;
    part->length = rest < room ? (size_t)rest : room;
    part->memory = state->memory;
    if (state->sealed.mapped) {
        part->addr = state->sealed.octets + parts->offset;
    } else if (state->memory) {
        part->addr = element->exs_xfvec.exs_iov.exs_iov_base;
        part->length = (size_t)rest;
    } else {
        part->addr = buffer;
        error = read_part(parts, element, buffer, part->length);
    }
    if (error == 0)
        advance(parts, part->length);
    return error;
}
