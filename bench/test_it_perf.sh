#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# test_it_perf.sh IT_PERF [SANITIZER]: every pattern moves its data correctly, in a few short runs.
# How fast, is not looked at: that would fail on a busy machine.
set -euo pipefail
factor=${ITAPI_TIME_FACTOR:-1} # of all time limits
. "$(dirname "${BASH_SOURCE[0]}")/../samples/common/server.bash"

it_perf=$1

# run ARGUMENTS...: two runs of 50 messages of both transports, in both processes.
run() {
    timeout $((60 * factor)) "$it_perf" --loopback --runs 2 --iters 50 --verify --reference tcp --json \
        --depth 16 "$@" >"$folder/json" || fail "failed: $*"
    grep -q '"value": [0-9].*"reference": [0-9].*"ratio": [0-9]' "$folder/json" ||
        fail "no good JSON: $*: $(cat "$folder/json")"
}

# With CRCs a sanitizer finds nothing more.
sums='on off'
[ "${2-none}" = none ] || sums=on
for mode in poll wait; do
    for crc in $sums; do
        for op in send read; do
            run --op "$op" --measure lat --mode "$mode" --crc "$crc"
        done
        for op in send write read; do
            run --op "$op" --measure bw --size 64k --mode "$mode" --crc "$crc"
            run --op "$op" --measure rate --size 100 --mode "$mode" --crc "$crc"
        done
    done
done
# ThreadSanitizer is right about this pattern: the program polls memory that the library writes.
[ "${2-}" = thread ] || run --op write --measure lat --size 5000
run --op send --measure lat --size 1m
timeout $((60 * factor)) "$it_perf" --loopback --runs 1 --iters 50 --depth 1 --size 0 >/dev/null ||
    fail 'empty messages: failed'

# Plain TCP with another congestion control, which every kernel has, and with sums.
for op in send read; do
    run --op "$op" --measure lat --size 300k --congestion reno --sums
    run --op "$op" --measure bw --size 300k --congestion reno --sums
    grep -q '"congestion": "reno"' "$folder/json" || fail "no congestion control: $(cat "$folder/json")"
done

# Only the client polls.
for op in send write read; do
    timeout $((60 * factor)) "$it_perf" --loopback --runs 1 --iters 50 --verify --op "$op" --measure bw --mode client >/dev/null ||
        fail "--mode client: $op failed"
done

# The time ends with the last completion.
for op in send write read; do
    timeout $((60 * factor)) "$it_perf" --loopback --runs 1 --iters 50 --verify --op "$op" --measure rate --local >/dev/null ||
        fail "--local: $op failed"
done

# Waits without polling, or with five microseconds of it.
run --op send --measure lat --mode wait --spin 0
run --op read --measure lat --mode wait --spin 5 --percentiles --warmup 0

# Results have the form that bench/README.md describes.
check_json() { # check_json FILE COUNT: an array of so many results, or, with COUNT one, an object
    grep -q '"cpu_us_per_message": [0-9].*"p50_us"' "$1" || fail "no good JSON: $(cat "$1")"
    command -v python3 >/dev/null || return 0
    python3 - "$@" <<'END' || fail "no good JSON: $(cat "$1")"
import json, sys

words = ['transport', 'op', 'measure', 'mode', 'crc', 'unit']
numbers = ['size', 'depth', 'iters', 'runs', 'value', 'min', 'median', 'max', 'cpu_us_per_message', 'cpu_seconds_per_gb']
maybe = ['ia', 'congestion', 'spin_us', 'reference', 'ratio', 'p50_us', 'p99_us', 'p999_us', 'heap_calls']
results = json.load(open(sys.argv[1]))
if sys.argv[2] == 'one':
    results = [results]
elif len(results) != int(sys.argv[2]):
    sys.exit(f'{len(results)} results, not {sys.argv[2]}')
for result in results:
    assert all(isinstance(result[name], str) for name in words), result
    assert all(isinstance(result[name], (int, float)) for name in numbers), result
    assert all(name in result for name in maybe), result
    assert result['min'] <= result['median'] == result['value'] <= result['max'], result
    assert (result['transport'] == 'tcp') == (result['ia'] is None), result
    if result['reference'] is not None:
        assert abs(result['ratio'] - result['value'] / result['reference']) < 0.01 * result['ratio'], result
        assert result['reference_min'] <= result['reference_median'] <= result['reference_max'], result
    if result['measure'] != 'lat' or result['p50_us'] is None:
        assert result['p50_us'] is None and result['p999_us'] is None, result
    else:
        assert 0 < result['p50_us'] <= result['p99_us'] <= result['p999_us'], result
END
}

measure() { # measure FILE ARGUMENTS...: one run of 20 messages
    timeout $((60 * factor)) "$it_perf" --loopback --runs 1 --iters 20 --depth 8 --json "${@:2}" >"$1" || fail "failed: ${*:2}"
}

measure "$folder/one" --percentiles --reference tcp
check_json "$folder/one" one
# All patterns except the latency of RDMA Writes, which wake nobody.
measure "$folder/waits" --matrix --mode wait --sizes 1,100
check_json "$folder/waits" 10
measure "$folder/reads" --matrix --op read --sizes 16:64:x2 --transport tcp
check_json "$folder/reads" 6
if [ "${2-}" != thread ]; then
    measure "$folder/matrix" --matrix --sizes 64:4k:x64 --reference tcp --percentiles
    check_json "$folder/matrix" 24
    "$(dirname "${BASH_SOURCE[0]}")/plot" "$folder/matrix" "$folder/plot.svg" || fail 'bench/plot fails'
    [ "$(grep -c '<g id="line uiwarp ' "$folder/plot.svg")" = 6 ] || fail 'the picture does not have 6 lines'
    tail -n 1 "$folder/plot.svg" | grep -q '^</svg>$' || fail 'the picture has no end'
    "$(dirname "${BASH_SOURCE[0]}")/plot" "$folder/one" "$folder/plot.png" || fail 'bench/plot draws no PNG'
    [ "$(head -c 4 "$folder/plot.png" | tail -c 3)" = PNG ] || fail 'plot.png is no PNG'
    ! "$(dirname "${BASH_SOURCE[0]}")/plot" "$folder/one" "$folder/plot.x" 2>/dev/null || fail 'a picture of no kind'
fi
# Whatever Interfaces there are, uiwarp is one of them.
measure "$folder/all" --transport all --op write --measure rate
grep -q '"ia": "uiwarp".*"reference": [0-9]' "$folder/all" || fail "no uiwarp: $(cat "$folder/all")"
grep -q '"transport": "tcp"' "$folder/all" || fail "no TCP: $(cat "$folder/all")"
timeout $((60 * factor)) "$it_perf" --loopback --runs 2 --seconds 0.01 --transport tcp >"$folder/table" || fail '--seconds fails'
grep -q '^  tcp .*[0-9]' "$folder/table" || fail "no table: $(cat "$folder/table")"

# The table has the unit of the JSON, or millions of it.
for measure in lat bw rate; do
    measure "$folder/one" --measure "$measure"
    unit=$(sed -n 's/.*"unit": "\([^"]*\)".*/\1/p' "$folder/one")
    [ "$measure" = lat ] || unit=M$unit
    percentiles=()
    [ "$measure" != lat ] || percentiles=(--percentiles)
    timeout $((60 * factor)) "$it_perf" --loopback --runs 1 --iters 20 --measure "$measure" "${percentiles[@]}" >"$folder/table" ||
        fail "no table: $measure"
    awk 'length > 100 { exit 1 }' "$folder/table" || fail "more than 100 columns: $(cat "$folder/table")"
    grep -q "messages; $unit\$" "$folder/table" || fail "the unit is not $unit: $(cat "$folder/table")"
done

expect() { # expect STATUS ARGUMENTS...
    local status=0
    timeout $((60 * factor)) "$it_perf" "${@:2}" >"$folder/output" 2>"$folder/errors" || status=$?
    [ "$status" = "$1" ] || fail "exit status $status, not $1: ${*:2}: $(cat "$folder/output" "$folder/errors")"
}

# Makes latencies many times as long.
sed 's/"value": \([0-9]*\)/"value": 9\1/' "$folder/waits" >"$folder/other"
expect 0 compare "$folder/waits" "$folder/waits"
grep -q '^10 results, 0 of them worse' "$folder/output" || fail "no comparison: $(cat "$folder/output")"
expect 1 compare "$folder/waits" "$folder/other"
expect 0 compare "$folder/waits" "$folder/other" --tolerance 1000000
expect 2 compare "$folder/waits" "$folder/reads"
expect 2 compare "$folder/waits" "$folder/table"
expect 2 compare "$folder/waits" "$folder/nowhere"
expect 0 compare "$folder/waits" "$folder/waits" --tolerance 0
sed 's/"size": 100/"size": -100/' "$folder/waits" >"$folder/other"
expect 2 compare "$folder/waits" "$folder/other"

start_server "$it_perf" server --port 0 --once
timeout $((60 * factor)) "$it_perf" client localhost --port "$port" --runs 1 --iters 20 --matrix --sizes 1,3 --mode wait >/dev/null ||
    fail 'the client failed with a matrix'
wait_server || fail 'the server failed with a matrix'

start_server "$it_perf" server --port 0 --once
timeout $((60 * factor)) "$it_perf" client localhost --port "$port" --runs 1 --iters 50 >/dev/null ||
    fail 'the client failed'
wait_server || fail 'the server failed'
