#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# test_tutorial.sh BIN_DIR: each step of the tutorial does what docs/tutorial.md says of it.
set -euo pipefail
factor=${ITAPI_TIME_FACTOR:-1} # of all time limits
. "$(dirname "${BASH_SOURCE[0]}")/../common/server.bash"
. "$(dirname "${BASH_SOURCE[0]}")/step6.bash"

bin=$1

start_server "$bin/step1" server
expect "$tcp" "$(client "$bin/step1")"
expect "$tcp" "$(client "$bin/step1")"
end_server

start_server "$bin/step2" server
output=$(client "$bin/step2")
expect "$tcp" "$(tail -n 2 <<<"$output")"
grep -q '^512 octets are registered; a peer would need key 0x[0-9a-f]* and address 0x' <<<"$output" || fail "step2: $output"
end_server

start_server "$bin/step3" server
expect "$tcp"$'\nthe connection is RDMA now' "$(client "$bin/step3")"
expect "$tcp" "$(client "$bin/step1")"
end_server

start_server "$bin/step4" server
expect "$rdma" "$(client "$bin/step4")"
expect "$rdma" "$(client "$bin/step4")"
end_server

start_server "$bin/step5" server
expect $'echo in this program\'s memory: ONE\necho in this program\'s memory: TWO WORDS' "$(client "$bin/step5")"
end_server

serve_clients "$bin/step6"
