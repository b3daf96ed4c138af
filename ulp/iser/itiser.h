/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * itiser.h - an iSCSI target with iSER, as a library: libitiser. A program describes targets, their
 * logical units and the portals, and runs a libevent base; everything happens in the thread that
 * runs it.
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
 * What a logical unit does. Offsets and lengths are octets, multiples of the block size and within
 * the unit. Functions return 0 or an errno: ENOSPC, EIO and others become sense data. Those of a
 * unit with ITISER_UNIT_BLOCKS are called by several threads at once, for the same octets, too;
 * those of others by the thread of the base. Data begin at a multiple of 4096, for direct io, if
 * the unit has no memory of its own.
 */
struct itiser_unit_ops {
    int (*read)(void *context, uint64_t offset, void *data, size_t length);
    int (*write)(void *context, uint64_t offset, const void *data, size_t length);
    /*
     * Of a unit that blocks, in the thread of the base: all of it without waiting, or EAGAIN, and
     * then a thread of the pool calls read or write for all of it. NULL: they would always wait.
     */
    int (*read_now)(void *context, uint64_t offset, void *data, size_t length);
    int (*write_now)(void *context, uint64_t offset, const void *data, size_t length);
    int (*flush)(void *context); /* returns when what was written survives a loss of power */
    int (*unmap)(void *context, uint64_t offset, uint64_t length); /* NULL: the unit is not thin */
    /* Octets from offset on that are all mapped or all not; only with unmap. */
    int (*extent)(void *context, uint64_t offset, uint64_t *length, bool *mapped);
    void (*close)(void *context); /* NULL: nothing to do */
};

#define ITISER_UNIT_BLOCKS    0x1u /* may block: called by threads of the pool */
#define ITISER_UNIT_READ_ONLY 0x2u
#define ITISER_UNIT_CACHE     0x4u /* what is written may be lost with the power until a flush */

struct itiser_unit {
    const struct itiser_unit_ops *ops;
    void *context;
    void *memory; /* blocks * block_size octets that may be read and written; NULL: none */
    uint64_t blocks;
    uint32_t block_size;    /* octets: 512 to 65536, a power of two */
    uint32_t physical_size; /* octets that are written at once without being read; 0: block_size */
    unsigned flags;         /* ITISER_UNIT_ bits */
    char serial[32];        /* of VPD 80 and 83; NUL-terminated */
};

/* Kinds of units that the library brings along. */
typedef enum {
    ITISER_MEMORY_UNIT, /* begins as zeros, ends with the program */
    ITISER_FILE_UNIT,   /* a file, or a block device */
    ITISER_NULL_UNIT    /* reads as zeros, whatever is written */
} itiser_unit_kind_t;

typedef enum {
    ITISER_AUTO,
    ITISER_YES,
    ITISER_NO
} itiser_choice_t;

struct itiser_unit_config {
    itiser_unit_kind_t kind;
    const char *path;    /* of a file unit */
    uint64_t size;       /* octets; 0: as large as the file is. A file of size 0 is made so large */
    uint32_t block_size; /* 0: 512 */
    bool direct;         /* O_DIRECT */
    bool read_only;
    itiser_choice_t thin; /* UNMAP makes holes; ITISER_AUTO: in memory, and in files if they can */
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

/* A name and a secret of CHAP. */
struct itiser_secret {
    const char *name;
    const uint8_t *secret; /* 12 octets at least */
    size_t length;         /* 0: none */
};

#define ITISER_LUNS_MAX 256u

struct itiser_target_config {
    const char *name;       /* iqn., eui. or naa. */
    const char *alias;      /* NULL: none */
    const char *state_file; /* of reservations that survive (APTPL); NULL: none do */
    struct itiser_unit *units[ITISER_LUNS_MAX]; /* by LUN; NULL: there is none */
    struct itiser_secret incoming;              /* what initiators prove; length 0: no CHAP */
    struct itiser_secret outgoing;              /* what the target proves; length 0: it does not */
    const char *const *initiators; /* names that may log in; NULL: all. Ends with NULL */
    const char *const *networks;   /* ADDRESS/BITS that may; NULL: all. Ends with NULL */
};

typedef enum {
    ITISER_PLAIN = 0x1,  /* iSCSI in plain TCP */
    ITISER_RDMA = 0x2,   /* iSER from the first octet */
    ITISER_CONVERT = 0x4 /* iSER behind a login in plain TCP */
} itiser_kinds_t;

struct itiser_portal_config {
    struct sockaddr_storage address; /* IPv4 or IPv6, with the port; port 0: the kernel's choice */
    unsigned kinds;                  /* itiser_kinds_t bits */
    uint16_t tag; /* portal group; the same for all paths to one set of targets */
};

/* Where the octets of solicited data lie behind Write STag and Write Base Offset. */
typedef enum {
    ITISER_WRITE_BASE_AUTO, /* as Linux: the key TaggedBufferForSolicitedDataOnly decides if sent */
    ITISER_WRITE_BASE_LINUX, /* the base is the first solicited octet */
    ITISER_WRITE_BASE_RFC    /* the base is the first octet of the command */
} itiser_write_base_t;

struct itiser_config {
    size_t size; /* sizeof(struct itiser_config) as the caller knows it */
    const struct itiser_target_config *targets;
    size_t target_count;
    const struct itiser_portal_config *portals;
    size_t portal_count;
    struct itiser_secret discovery_incoming; /* as of a target, for discovery sessions */
    struct itiser_secret discovery_outgoing;
    const char *interface; /* of the IA for RDMA, as for it_ia_create; NULL: "uiwarp" */
    itiser_write_base_t write_base;
    uint32_t first_burst;  /* octets of unsolicited data, immediate ones included: FirstBurstLength
                                   at most; 0: 65536, over RDMA 8192. 512 to 65536 */
    bool first_burst_none; /* InitialR2T=Yes is insisted on */
    bool immediate_none;   /* ImmediateData=No is insisted on */
    bool no_crc;           /* iWARP: no CRC32c, unless the initiator insists on it */
    bool no_spin;          /* the thread sleeps as soon as an initiator of RDMA says nothing */
    unsigned login_timeout_ms; /* 0: 15000 */
    unsigned silence_ms;  /* of an initiator, until it is pinged, and again until it is given up; 0:
                            30000 */
    unsigned half_logins; /* connections that have not logged in; 0: 512 */
    unsigned half_logins_share; /* of them per address; 0: a half */
    unsigned threads;           /* of the pool; 0: 4 */
};

struct itiser;

/**
 * Begins to serve.
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
 * Takes over who may log in: initiators, networks, incoming and outgoing of each target, and the
 * secrets of discovery. Sessions
 * go on; logins under way are held to what is new. The rest of config is as it was at the start.
 *
 * @param config  has the targets of itiser_start, by name and no others
 * @param error   out: one line for people when it fails; may be NULL
 *
 * @return false when it fails: nothing has changed
 */
bool itiser_reconfigure(struct itiser *target, const struct itiser_config *config, char error[256]);

/* The address of a portal, with the port that the kernel has chosen. False: there is none. */
bool itiser_portal_address(const struct itiser *target, size_t index,
                           struct sockaddr_storage *address);

/*
 * Ends in order: no new connection, an asynchronous message to each session, then over when all
 * have left or the time is up; calls stopped once. Then itiser_free.
 */
void itiser_stop(struct itiser *target, unsigned timeout_ms, void (*stopped)(void *argument),
                 void *argument);

/* At any time; connections are cut. */
void itiser_free(struct itiser *target);

/* Sessions, connections, counters: lines for people. */
void itiser_status(const struct itiser *target, FILE *to);

#ifdef __cplusplus
}
#endif

#endif
