#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# test_tutorial.sh BIN_DIR: each step of the tutorial does what docs/tutorial.md says of it.
set -euo pipefail
factor=${ITAPI_TIME_FACTOR:-1} # of all time limits
. "$(dirname "${BASH_SOURCE[0]}")/../common/server.bash"

bin=$1

# client STEP TEXT...: what it prints.
client() {
    timeout $((60 * factor)) "$bin/$1" client 127.0.0.1 "$port" "${@:2}" 2>&1 || fail "$1: the client fails"
}

expect() { # expect TEXT LINES
    [ "$2" = "$1" ] || fail "not \"$1\" but: $2"
}

tcp=$'echo by TCP: one\necho by TCP: two words'
start_server "$bin/step1" server
expect "$tcp" "$(client step1 one 'two words')"
expect "$tcp" "$(client step1 one 'two words')"
end_server

start_server "$bin/step2" server
output=$(client step2 one 'two words')
expect "$tcp" "$(tail -n 2 <<<"$output")"
grep -q '^512 octets are registered; a peer would need key 0x[0-9a-f]* and address 0x' <<<"$output" || fail "step2: $output"
end_server

start_server "$bin/step3" server
expect "$tcp"$'\nthe connection is RDMA now' "$(client step3 one 'two words')"
expect "$tcp" "$(client step1 one 'two words')"
end_server

rdma=$'echo by RDMA: one\necho by RDMA: two words'
start_server "$bin/step4" server
expect "$rdma" "$(client step4 one 'two words')"
expect "$rdma" "$(client step4 one 'two words')"
end_server

start_server "$bin/step5" server
expect $'echo in this program\'s memory: ONE\necho in this program\'s memory: TWO WORDS' "$(client step5 one 'two words')"
end_server

start_server "$bin/step6" server
# Connected, and silent: it holds nobody up.
exec 3<>"/dev/tcp/127.0.0.1/$port"
clients=()
for number in 1 2 3 4; do
    timeout $((60 * factor)) "$bin/step4" client 127.0.0.1 "$port" one 'two words' >"$folder/client$number" 2>&1 &
    clients+=($!)
done
expect "$tcp" "$(client step1 one 'two words')"
for number in 1 2 3 4; do
    wait "${clients[number - 1]}" || fail "client $number: $(cat "$folder/client$number")"
    expect "$rdma" "$(cat "$folder/client$number")"
done
exec 3>&-
expect "$rdma" "$(client step4 one 'two words')"
