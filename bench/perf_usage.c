/* SPDX-License-Identifier: BSD-2-Clause */
#include "perf_options.h"

#include <stdio.h>

void perf_usage(FILE *stream)
{
    (void)fputs(
        "it_perf server [OPTIONS]          serves clients, one after the other\n"
        "it_perf client HOST [OPTIONS]     measures with the server on HOST\n"
        "it_perf --loopback [OPTIONS]      both sides on this machine, in two processes\n"
        "\n"
        "What is measured (client, loopback):\n"
        "  --op send|write|read      Send/Recv, RDMA Write or RDMA Read; default send\n"
        "  --measure lat|bw|rate     lat: half a round trip (read: a whole one), us; default\n"
        "                            bw: bytes/s of a stream; rate: messages/s of a stream\n"
        "  --size N                  bytes of a message, with k or m behind: KiB, MiB; default 64\n"
        "  --sizes A,B,C             one after the other; A:B: doubling; A:B:xF: F times as large\n"
        "  --matrix                  all operations, lat and bw, of all sizes (64,4k,64k,1m);\n"
        "                            --op and --measure choose one of them\n"
        "  --mode poll|wait          it_evd_dequeue in a loop, or it_evd_wait; default poll\n"
        "  --spin US                 wait: it_evd_wait polls for so many microseconds at most; 0:\n"
        "                            it sleeps at once; default: as the library likes\n"
        "  --crc on|off              CRC32c on the wire; default on; devices: as they are set\n"
        "  --depth N                 requests under way; default 64 for lat, 16 for bw, 512 for\n"
        "                            rate\n"
        "  --transport itapi|tcp|all tcp: plain TCP in place of ours; all: each Interface that is\n"
        "                            there, and plain TCP\n"
        "  --reference tcp           the same over plain TCP, the runs alternating with ours\n"
        "  --coalesce                bw, rate: requests that are not reported may wait for those\n"
        "                            that are (IT_COALESCE_WR_FLAG)\n"
        "\n"
        "How (client, loopback):\n"
        "  --seconds S               length of a run; default 0.4\n"
        "  --iters N                 messages of a run, in place of --seconds\n"
        "  --warmup N                messages before each run; default: a tenth of the run's\n"
        "  --runs N                  runs, of which the median is the result; default 5\n"
        "each\n"
        "  --verify                  also look at what arrives (ours only)\n"
        "  --pin A,B                 client on CPU A, server on CPU B; default: anywhere\n"
        "  --strict-heap             fail if anything calls the heap during a run\n"
        "  --json                    JSON in place of a table\n"
        "\n"
        "Both sides:\n"
        "  --port P                  TCP port of the server, 7472 by default; 0: any (server)\n"
        "  --ia NAME                 Interface Adapter, or a device (siw0); default uiwarp\n"
        "  --once                    server: end after one client\n"
        "  --help                    this text\n"
        "\n"
        "Exit status: 0 done, 1 something failed, 2 wrong usage.\n",
        stream);
}
