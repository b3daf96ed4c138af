#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# test_rows.sh FOLDER: socket_perf counts what it should, alone and under it_sdp, and rows prints a line for each row. The
# speed is not checked.
set -euo pipefail

bin=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
printf 'patience 3000\n' >"$folder/sdp.conf"
export IT_SDP_CONFIG="$folder/sdp.conf" HOME="$folder"
fail() {
    echo "${0##*/}: $*" >&2
    exit 1
}

for run in '' "$bin/it_sdp"; do
    for arguments in 'ping -n 50' 'ping -e -n 50 -s 5000'; do
        # shellcheck disable=SC2086
        line=$($run "$bin/socket_perf" $arguments) || fail "$run $arguments: failed"
        [[ $line =~ ^[0-9.]+\ us$ ]] || fail "$run $arguments: \"$line\""
    done
    line=$($run "$bin/socket_perf" stream -n 50 -s 20000 -a 127.0.0.1) || fail "$run stream: failed"
    [[ $line =~ ^[0-9.]+\ MB/s$ ]] || fail "$run stream: \"$line\""
    # shellcheck disable=SC2086
    line=$($run "$bin/socket_perf" idle -n 20) || fail "$run idle: failed"
    [[ $line =~ ^-?[0-9.]+\ KiB\ -?[0-9.]+\ KiB\ ([0-9.]+)\ descriptors$ ]] || fail "$run idle: \"$line\""
    [ "${BASH_REMATCH[1]}" = "$([ "$run" ] && echo 3.00 || echo 1.00)" ] || fail "$run idle: \"$line\""
done
for wrong in 'ping -n 0' 'ping -a nowhere' 'talk'; do
    # shellcheck disable=SC2086
    [ "$("$bin/socket_perf" $wrong 2>&1 | head -c 6)" = usage: ] || fail "$wrong is taken"
done

output=$("$(dirname "$0")/rows" --bin "$bin" --rounds 1 --crc off ping processors) || [ $? = 1 ] || fail "rows: $output"
for row in '1 MiB processors' '64 B ping' '64 B ping epoll'; do
    grep -qE "^$row +off +[0-9.]+ +[0-9.]+ " <<<"$output" || fail "$row: $output"
done
