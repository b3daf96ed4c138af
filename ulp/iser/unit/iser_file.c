/* SPDX-License-Identifier: BSD-2-Clause */
/* Units in a file or on a block device. */
#include "unit/iser_unit.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#define PAGE 4096u /* unit of writes, and alignment of direct I/O */

struct file {
    int fd;
    int now_flags;                  /* for preadv2: RWF_NOWAIT, or 0 where nothing waits */
    bool no_read_now, no_write_now; /* not supported; used in the base's thread only */
    atomic_bool lost;               /* a flush has failed */
};

/* ---- Operations ----------------------------------------------------------------------------- */

static int file_read(void *context, uint64_t offset, void *data, size_t length)
{
    int fd = ((struct file *)context)->fd;
    uint8_t *at = data;

    while (length > 0) {
        ssize_t got = pread(fd, at, length, (off_t)offset);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return errno;
        if (got == 0)
            return EIO; /* the file was truncated */
        at += got;
        offset += (uint64_t)got;
        length -= (size_t)got;
    }
    return 0;
}

static int file_write(void *context, uint64_t offset, const void *data, size_t length)
{
    int fd = ((struct file *)context)->fd;
    const uint8_t *at = data;

    while (length > 0) {
        ssize_t put = pwrite(fd, at, length, (off_t)offset);

        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return put < 0 ? errno : ENOSPC;
        at += put;
        offset += (uint64_t)put;
        length -= (size_t)put;
    }
    return 0;
}

/*
 * Evaluates an attempt that did not wait. The kernel may have moved nothing, a part or all of the
 * data. A part counts as nothing, because the pool repeats the whole transfer.
 */
static int file_now(ssize_t moved, size_t length, bool *never)
{
    if (moved == (ssize_t)length)
        return 0;
    if (moved < 0 && (errno == EOPNOTSUPP || errno == ENOSYS))
        *never = true;
    return EAGAIN; /* also for errors: the pool finds out which */
}

static int file_read_now(void *context, uint64_t offset, void *data, size_t length)
{
    struct file *file = context;
    struct iovec part = {data, length};

    if (file->no_read_now)
        return EAGAIN;
    return file_now(preadv2(file->fd, &part, 1, (off_t)offset, file->now_flags), length,
                    &file->no_read_now);
}

static int file_write_now(void *context, uint64_t offset, const void *data, size_t length)
{
    struct file *file = context;
    struct iovec part = {(void *)(uintptr_t)data, length};

    if (file->no_write_now)
        return EAGAIN;
    return file_now(pwritev2(file->fd, &part, 1, (off_t)offset, file->now_flags), length,
                    &file->no_write_now);
}

/*
 * The kernel reports an error of writing once, and drops the data. Another initiator's flush would
 * succeed although its data may be among what is lost. So no later flush succeeds.
 */
static int file_flush(void *context)
{
    struct file *file = context;
    int error;

    if (atomic_load(&file->lost))
        return EIO;
    do {
        error = fdatasync(file->fd) == 0 ? 0 : errno;
    } while (error == EINTR);
    if (error != 0)
        atomic_store(&file->lost, true);
    return error;
}

static int file_unmap(void *context, uint64_t offset, uint64_t length)
{
    return iser_hole_punch(((struct file *)context)->fd, offset, length);
}

static int file_extent(void *context, uint64_t offset, uint64_t *length, bool *mapped)
{
    return iser_hole_extent(((struct file *)context)->fd, offset, length, mapped);
}

/* A block device does not report which of its blocks are mapped. */
static int device_extent(void *context, uint64_t offset, uint64_t *length, bool *mapped)
{
    (void)context;
    (void)offset;
    (void)length;
    *mapped = true;
    return 0;
}

static void file_close(void *context)
{
    struct file *file = context;

    (void)close(file->fd);
    free(file);
}

static const struct itiser_unit_ops thick_ops = {
    .read = file_read,
    .write = file_write,
    .read_now = file_read_now,
    .write_now = file_write_now,
    .flush = file_flush,
    .close = file_close,
};

static const struct itiser_unit_ops thin_ops = {
    .read = file_read,
    .write = file_write,
    .read_now = file_read_now,
    .write_now = file_write_now,
    .flush = file_flush,
    .unmap = file_unmap,
    .extent = file_extent,
    .close = file_close,
};

static const struct itiser_unit_ops thin_device_ops = {
    .read = file_read,
    .write = file_write,
    .read_now = file_read_now,
    .write_now = file_write_now,
    .flush = file_flush,
    .unmap = file_unmap,
    .extent = device_extent,
    .close = file_close,
};

/* ---- Opening --------------------------------------------------------------------------------- */

static bool fail(char error[256], const char *path, const char *why)
{
    (void)snprintf(error, 256, "%.180s: %s", path, why);
    return false;
}

static int open_path(const struct itiser_unit_config *config)
{
    int flags = config->read_only ? O_RDONLY : O_RDWR;

    if (config->direct)
        flags |= O_DIRECT;
    if (config->size > 0 && !config->read_only)
        flags |= O_CREAT;
    return open(config->path, flags | O_CLOEXEC, 0600);
}

/* Gets the size of the file or device; enlarges a new file to the configured size. */
static bool find_size(int fd, const struct itiser_unit_config *config, bool *device, uint64_t *size,
                      char error[256])
{
    struct stat status;

    if (fstat(fd, &status) != 0)
        return fail(error, config->path, strerror(errno));
    *device = S_ISBLK(status.st_mode);
    if (*device)
        return ioctl(fd, BLKGETSIZE64, size) == 0 || fail(error, config->path, strerror(errno));
    if (!S_ISREG(status.st_mode))
        return fail(error, config->path, "neither a file nor a block device");
    if (status.st_size == 0 && config->size > 0) {
        if (ftruncate(fd, (off_t)config->size) != 0)
            return fail(error, config->path, strerror(errno));
        status.st_size = (off_t)config->size;
    }
    *size = (uint64_t)status.st_size;
    return true;
}

/* Tests whether holes can be punched, by one after the end of the file, which has no effect. */
static bool can_punch(int fd, bool device, uint64_t size, const struct itiser_unit_config *config)
{
    if (config->read_only || config->thin == ITISER_NO)
        return false;
    if (device)
        return config->thin == ITISER_YES;
    return iser_hole_punch(fd, size, PAGE) == 0;
}

/* A read of the first block shows whether the descriptor accepts blocks of this size. */
static bool check_block(int fd, uint32_t block_size, const char *path, char error[256])
{
    void *block = aligned_alloc(PAGE, block_size < PAGE ? PAGE : block_size);
    ssize_t got = block ? pread(fd, block, block_size, 0) : -1;

    free(block);
    if (got == (ssize_t)block_size)
        return true;
    return fail(error, path,
                errno == EINVAL ? "direct io needs a larger block size here" : "cannot be read");
}

/* A file on tmpfs is memory, like a memory unit, and never waits. */
static bool is_in_memory(int fd)
{
    struct statfs status;

    return fstatfs(fd, &status) == 0 && status.f_type == TMPFS_MAGIC;
}

static bool describe(struct itiser_unit *unit, struct file *file,
                     const struct itiser_unit_config *config, char error[256])
{
    uint64_t size = 0;
    bool device = false;

    if (!find_size(file->fd, config, &device, &size, error))
        return false;
    if (config->size > size)
        return fail(error, config->path, "smaller than the configured size");
    if (config->size > 0)
        size = config->size;
    unit->blocks = size / unit->block_size;
    if (unit->blocks == 0)
        return fail(error, config->path, "not as large as a block");
    if (!check_block(file->fd, unit->block_size, config->path, error))
        return false;
    if (!can_punch(file->fd, device, size, config))
        unit->ops = &thick_ops;
    else
        unit->ops = device ? &thin_device_ops : &thin_ops;
    if (config->thin == ITISER_YES && !unit->ops->unmap)
        return fail(error, config->path, "cannot be thin");
    unit->flags |= ITISER_UNIT_BLOCKS | ITISER_UNIT_CACHE;
    file->now_flags = !device && is_in_memory(file->fd) ? 0 : RWF_NOWAIT;
    /* Direct I/O starts without waiting, but does not complete so. */
    file->no_read_now = file->no_write_now = config->direct;
    unit->physical_size = PAGE;
    unit->context = file;
    return true;
}

bool iser_file_open(struct itiser_unit *unit, const struct itiser_unit_config *config,
                    char error[256])
{
    struct file *file;

    if (!config->path) {
        (void)snprintf(error, 256, "a file unit needs a path");
        return false;
    }
    file = calloc(1, sizeof(*file));
    if (!file)
        return fail(error, config->path, "out of memory");
    file->fd = open_path(config);
    if (file->fd < 0) {
        free(file);
        return fail(error, config->path, strerror(errno));
    }
    if (describe(unit, file, config, error))
        return true;
    file_close(file);
    return false;
}
