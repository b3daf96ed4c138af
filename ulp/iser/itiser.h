/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * itiser.h - libitiser, an iSCSI target with iSER as a library. A program describes targets, their
 * logical units and the portals, and runs a libevent base; everything happens in the thread that
 * runs the base.
 */
#ifndef ITAPI_ULP_ISER_ITISER_H
#define ITAPI_ULP_ISER_ITISER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>

#ifdef __cplusplus
extern "C" {
#endif

struct event_base;

/* ==============================================================================================
 * Logical units
 * ============================================================================================== */

/*
 * The operations of a logical unit. Offsets and lengths are octets, multiples of the block size and
 * within the unit. Functions return 0 or an errno: ENOSPC, EIO and others become sense data.
 * Operations of a unit with ITISER_UNIT_BLOCKS are called by several threads at once, even for the
 * same octets; those of other units by the thread of the base. Data is aligned to 4096, for direct
 * I/O, unless the unit has memory of its own.
 */
struct itiser_unit_ops {
    int (*read)(void *context, uint64_t offset, void *data, size_t length);
    int (*write)(void *context, uint64_t offset, const void *data, size_t length);
    /*
     * For a unit that blocks, in the thread of the base: transfers everything without waiting, or
     * returns EAGAIN; then a thread of the pool calls read or write for all of it. NULL: the
     * operation may always wait.
     */
    int (*read_now)(void *context, uint64_t offset, void *data, size_t length);
    int (*write_now)(void *context, uint64_t offset, const void *data, size_t length);
    int (*flush)(void *context); /* returns when written data survives a loss of power */
    int (*unmap)(void *context, uint64_t offset, uint64_t length); /* NULL: the unit is not thin */
    /*
     * Gets the number of octets from offset on that are all mapped or all unmapped; only with
     * unmap.
     */
    int (*extent)(void *context, uint64_t offset, uint64_t *length, bool *mapped);
    void (*close)(void *context); /* NULL: nothing to do */
};

#define ITISER_UNIT_BLOCKS    0x1u /* may block: called by threads of the pool */
#define ITISER_UNIT_READ_ONLY 0x2u
#define ITISER_UNIT_CACHE     0x4u /* a loss of power before a flush may lose written data */

struct itiser_unit {
    const struct itiser_unit_ops *ops;
    void *context;
    void *memory; /* blocks * block_size octets that may be read and written directly; or NULL */
    uint64_t blocks;
    uint32_t block_size;    /* octets: 512 to 65536, a power of two */
    uint32_t physical_size; /* octets written at once without a read; 0: block_size */
    unsigned flags;         /* ITISER_UNIT_ bits */
    char serial[32];        /* for VPD pages 80 and 83; NUL-terminated */
};

/* Kinds of units that the library provides. */
typedef enum {
    ITISER_MEMORY_UNIT, /* initially zeros, gone when the program ends */
    ITISER_FILE_UNIT,   /* a file, or a block device */
    ITISER_NULL_UNIT    /* always reads as zeros */
} itiser_unit_kind_t;

typedef enum {
    ITISER_AUTO,
    ITISER_YES,
    ITISER_NO
} itiser_choice_t;

struct itiser_unit_config {
    itiser_unit_kind_t kind;
    const char *path;    /* of a file unit */
    uint64_t size;       /* octets; 0: the size of the file. A file of size 0 is enlarged to it */
    uint32_t block_size; /* 0: 512 */
    bool direct;         /* O_DIRECT */
    bool read_only;
    itiser_choice_t thin; /* UNMAP makes holes; ITISER_AUTO: in memory, and in most files */
    const char *serial; /* 1 to 31 printable octets without blanks; the same for the same content */
};

/**
 * Opens a unit of the library.
 *
 * @param error  out: one line for people when it fails; may be NULL
 *
 * @return NULL when it fails; to be closed with itiser_unit_close when no target uses it
 */
struct itiser_unit *itiser_unit_open(const struct itiser_unit_config *config, char error[256]);
void itiser_unit_close(struct itiser_unit *unit);

/* ==============================================================================================
 * Targets, portals
 * ============================================================================================== */

/* A name and a secret for CHAP. */
struct itiser_secret {
    const char *name;
    const uint8_t *secret; /* at least 12 octets */
    size_t length;         /* 0: no secret */
};

#define ITISER_LUNS_MAX 256u

struct itiser_target_config {
    const char *name;       /* iqn., eui. or naa. */
    const char *alias;      /* sent to initiators; 255 octets at most; NULL: none */
    const char *state_file; /* for reservations that survive a restart (APTPL); NULL: none do */
    struct itiser_unit *units[ITISER_LUNS_MAX]; /* by LUN; NULL: no unit */
    struct itiser_secret incoming;              /* proved by initiators; length 0: no CHAP */
    struct itiser_secret outgoing;              /* proved by the target; length 0: none */
    const char *const *initiators; /* names that may log in, ended by NULL; NULL: all */
    const char *const *networks;   /* ADDRESS/BITS that may log in, ended by NULL; NULL: all */
};

typedef enum {
    ITISER_PLAIN = 0x1,  /* iSCSI in plain TCP */
    ITISER_RDMA = 0x2,   /* iSER from the first octet */
    ITISER_CONVERT = 0x4 /* iSER after a login in plain TCP */
} itiser_kinds_t;

struct itiser_portal_config {
    struct sockaddr_storage address; /* IPv4 or IPv6, with the port; port 0: the kernel chooses */
    unsigned kinds;                  /* itiser_kinds_t bits */
    uint16_t tag; /* portal group; the same for all paths to one set of targets */
};

/* Which octet Write STag and Write Base Offset refer to for solicited data. */
typedef enum {
    ITISER_WRITE_BASE_AUTO,  /* TaggedBufferForSolicitedDataOnly, or else as Linux */
    ITISER_WRITE_BASE_LINUX, /* the base is the first solicited octet */
    ITISER_WRITE_BASE_RFC    /* the base is the first octet of the command */
} itiser_write_base_t;

struct itiser_config {
    size_t size; /* sizeof(struct itiser_config) as the caller knows it */
    const struct itiser_target_config *targets;
    size_t target_count;
    const struct itiser_portal_config *portals;
    size_t portal_count;
    struct itiser_secret discovery_incoming; /* like those of a target, for discovery sessions */
    struct itiser_secret discovery_outgoing;
    const char *interface; /* Interface of the IA for RDMA, as for it_ia_create; NULL: "uiwarp" */
    itiser_write_base_t write_base;
    /*
     * Limit of FirstBurstLength: octets of unsolicited data, immediate data included. 512 to 65536;
     * 0: 65536, over RDMA 8192.
     */
    uint32_t first_burst;
    bool first_burst_none;     /* insists on InitialR2T=Yes */
    bool immediate_none;       /* insists on ImmediateData=No */
    bool no_crc;               /* iWARP: no CRC32c, unless the initiator insists on it */
    bool no_spin;              /* the thread sleeps at once while an initiator is silent */
    unsigned login_timeout_ms; /* 0: 15000 */
    /* Silence of an initiator until it is pinged, and again until it is dropped; 0: 30000. */
    unsigned silence_ms;
    /*
     * Limit of connections that have not logged in, and of discovery sessions without a proof;
     * 0: 512. The same per address; 0: half of them.
     */
    unsigned half_logins, half_logins_share;
    unsigned threads; /* threads of the pool; 0: 4 */
    /*
     * Octets of the buffers of all commands. A session may have as much as is left for others; its
     * commands end with BUSY beyond that. 0: 1 GiB.
     */
    uint64_t buffers;
};

struct itiser;

/**
 * Begins to serve. Values outside of the ranges above are refused.
 *
 * @param base    the program's event base; must outlive what is returned
 * @param config  copied; units are the caller's and must outlive what is returned
 * @param error   out: one line for people when it fails; may be NULL
 *
 * @return NULL when it fails
 *
 * Threads: the one that runs the base, for all calls.
 */
struct itiser *itiser_start(struct event_base *base, const struct itiser_config *config,
                            char error[256]);

/**
 * Replaces the access rules: initiators, networks, incoming and outgoing of each target, and the
 * secrets of discovery. Sessions go on; logins that have begun end, since initiators log in anew
 * under the new rules. The rest of config is as it was at the start.
 *
 * @param config  has the targets of itiser_start, by name and no others
 * @param error   out: one line for people when it fails; may be NULL
 *
 * @return false when it fails: nothing has changed
 */
bool itiser_reconfigure(struct itiser *target, const struct itiser_config *config, char error[256]);

/*
 * Gets the address of a portal, with the port that the kernel has chosen. Returns false if there is
 * no such portal.
 */
bool itiser_portal_address(const struct itiser *target, size_t index,
                           struct sockaddr_storage *address);

/*
 * Shuts down in order: accepts no new connection and sends an asynchronous message to each session.
 * Calls stopped once, when all sessions have left or the time is up. Then call itiser_free.
 */
void itiser_stop(struct itiser *target, unsigned timeout_ms, void (*stopped)(void *argument),
                 void *argument);

/* May be called at any time; cuts all connections. */
void itiser_free(struct itiser *target);

/* Prints sessions, connections and counters as lines of text. */
void itiser_status(const struct itiser *target, FILE *to);

#ifdef __cplusplus
}
#endif

#endif
