/* SPDX-License-Identifier: BSD-2-Clause */
/* A link of plain iSCSI: its life and its events. */
#include "transfer/iser_plain.h"

#include <stdlib.h>
#include <unistd.h>

/* Reads, and sends the resulting output. Returns the number of octets read. */
static size_t plain_turn(struct iser_link *link)
{
    struct plain *plain = plain_of(link);
    uint64_t before = link->octets_in;

    if (!event_pending(&plain->readable, EV_READ, NULL))
        return 0; /* the queue is full: plain_watch */
    plain->in_turn = true;
    plain_read(plain);
    plain->in_turn = false;
    if (link->octets_in > before)
        plain_flush(plain);
    return (size_t)(link->octets_in - before);
}

static void plain_readable(evutil_socket_t fd, short what, void *argument)
{
    struct plain *plain = argument;

    (void)fd;
    (void)what;
    iser_stay_learn(plain->stay);
    iser_link_enter(&plain->link);
    (void)plain_turn(&plain->link);
    iser_stay(plain->stay, &plain->link, plain_turn);
    iser_link_leave(&plain->link);
}

static void plain_writable(evutil_socket_t fd, short what, void *argument)
{
    struct plain *plain = argument;

    (void)fd;
    (void)what;
    iser_link_enter(&plain->link);
    plain_flush(plain);
    iser_link_leave(&plain->link);
}

void plain_watch(struct plain *plain)
{
    bool full = plain->messages >= plain->link.limits.window + PLAIN_MESSAGES_SPARE;
    bool waits = plain->slot_count > 0 || plain->first;

    if (full || plain->fd < 0)
        (void)event_del(&plain->readable);
    else if (!event_pending(&plain->readable, EV_READ, NULL))
        (void)event_add(&plain->readable, NULL);
    if (!waits || plain->fd < 0)
        (void)event_del(&plain->writable);
    else if (!event_pending(&plain->writable, EV_WRITE, NULL))
        (void)event_add(&plain->writable, NULL);
}

void plain_unwatch(struct plain *plain)
{
    (void)event_del(&plain->readable);
    (void)event_del(&plain->writable);
}

struct iser_link *iser_plain_new(struct event_base *base, struct iser_stay *stay, int fd)
{
    struct plain *plain = calloc(1, sizeof(*plain));

    if (!plain)
        return NULL;
    iser_link_init(&plain->link, &iser_plain_ops, base);
    plain->stay = stay;
    plain->fd = fd;
    plain->end = &plain->first;
    plain->in_size = PLAIN_IN_BEFORE;
    plain->in = malloc(plain->in_size);
    if (!plain->in ||
        event_assign(&plain->readable, base, fd, EV_READ | EV_PERSIST, plain_readable, plain) !=
            0 ||
        event_assign(&plain->writable, base, fd, EV_WRITE | EV_PERSIST, plain_writable, plain) !=
            0 ||
        event_add(&plain->readable, NULL) != 0) {
        free(plain->in);
        free(plain);
        return NULL;
    }
    return &plain->link;
}

bool plain_full_feature(struct iser_link *link)
{
    struct plain *plain = plain_of(link);
    uint8_t *in = malloc(PLAIN_IN);

    if (!in)
        return false;
    for (size_t i = plain->in_at; i < plain->in_end; i++)
        in[i - plain->in_at] = plain->in[i];
    plain->in_end -= plain->in_at;
    plain->in_at = 0;
    free(plain->in);
    plain->in = in;
    plain->in_size = PLAIN_IN;
    return true;
}

int iser_plain_release(struct iser_link *link, const uint8_t **early, size_t *early_length)
{
    struct plain *plain = plain_of(link);
    int fd = plain->fd;

    *early = plain->in + plain->in_at;
    *early_length = plain->in_end - plain->in_at;
    plain->fd = -1;
    plain_watch(plain);
    return fd;
}

void plain_free(struct iser_link *link)
{
    struct plain *plain = plain_of(link);

    if (plain->fd >= 0)
        (void)close(plain->fd);
    free(plain->staging);
    free(plain->in);
    free(plain);
}
