/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * it_rping: pings by RDMA, compatible with rping of the package rdmacm-utils.
 *
 *    client                          server
 *    ------                          ------
 *    Send: address of the source ->
 *                                 <- RDMA Read of the source
 *                                 <- Send: go on
 *    Send: address of the sink   ->
 *                                 <- RDMA Write of the data read, into the sink
 *                                 <- Send: go on
 *
 * Each ping does this once; then the client disconnects.
 */
#include "it_rping_client.h"
#include "it_rping_server.h"

int main(int argc, char *argv[])
{
    struct adapter adapter;
    struct options options;
    bool done;
    int status;

    report_program("it_rping");
    status = options_parse(argc, argv, &options);
    if (status >= 0)
        return status;
    report_traces(options.debug);
    if (!adapter_open(&adapter, options.ia))
        return EXIT_FAILED;
    done = options.server ? server_run(&adapter, &options) : client_run(&adapter, &options);
    adapter_close(&adapter);
    return done ? EXIT_FINE : EXIT_FAILED;
}
