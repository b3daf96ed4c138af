#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# test_step6.sh BIN_DIR PROGRAM...: a step 6 in another language against the programs in C, as their server and as
# their client.
set -euo pipefail
factor=${ITAPI_TIME_FACTOR:-1} # of all time limits
. "$(dirname "${BASH_SOURCE[0]}")/../common/server.bash"
. "$(dirname "${BASH_SOURCE[0]}")/step6.bash"

bin=$1
shift
serve_clients "$@"
for server in step4 step6; do
    start_server "$bin/$server" server
    expect "$rdma" "$(client "$@")"
    expect "$rdma" "$(client "$@")"
    end_server
done
start_server "$@" server
expect "$rdma" "$(client "$@")"
end_server
