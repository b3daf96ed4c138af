#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# devices.sh [IT_PERF [DEVICE...]]: the library on devices of rdma-core beside perftest, where those devices are
# (./dev vm bench/devices.sh): same device, pattern, depth and processors, runs alternating, medians. Both sides are on this
# machine. Streams of Writes and Reads are measured beside uDAPL (dapltest) too, if that is installed.
# In the environment: ROUNDS, how many runs; ROWS, a pattern of what of the table ('write_*'); MODE, poll or wait; TIMES, how
# many times as many messages.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

it_perf=${1:-$here/../build/bin/it_perf}
shift || true
devices=("$@")
[ $# -gt 0 ] || devices=(siw_same rxe_same)
rounds=${ROUNDS:-5}
rows=${ROWS:-*}
times=${TIMES:-1}
port=20000
folder=$(mktemp -d)
server=''

say() { echo "devices.sh: $*" >&2; }

clean_up() {
    stop_server
    rm -rf "$folder"
}
trap clean_up EXIT

for program in "$it_perf" ib_send_lat ib_write_lat ib_write_bw ib_read_bw rdma; do
    command -v "$program" >/dev/null || { say "$program is not there" && exit 1; }
done

# With two processors each side has one, else they share it: who polls then only keeps the other off.
client_cpu=0
server_cpu=0
mode='wait'
if [ "$(nproc)" -gt 1 ]; then
    server_cpu=1
    mode='poll'
fi
mode=${MODE:-$mode}

interface_of() { # interface_of DEVICE: the network interface that it is on
    rdma link show "$1/1" | sed -n 's/.*netdev \([^ ]*\).*/\1/p'
}

address_of() { # address_of DEVICE: IPv4
    ip -o -4 address show dev "$(interface_of "$1")" | awk '{ sub("/.*", "", $4); print $4; exit }'
}

median() { sort -g | awk '{ value[NR] = $1 } END { print value[int((NR + 1) / 2)] }'; }

ours() { # ours DEVICE OP MEASURE SIZE DEPTH ITERS: us or MB/s
    timeout 120 "$it_perf" --loopback --ia "$1" --op "$2" --measure "$3" --size "$4" --depth "$5" --iters "$6" \
        --mode "$(mode_of "$3")" --runs 1 --pin "$client_cpu,$server_cpu" --json |
        sed -n 's/.*"value": \([^,]*\).*/\1/p' | scale "$3" 1e-6
}

mode_of() { # mode_of MEASURE: perftest has no streams of Writes that wait
    [ "$1" = bw ] && echo poll || echo "$mode"
}

scale() { # scale MEASURE FACTOR: bandwidths only
    awk -v measure="$1" -v factor="$2" '{ print measure == "bw" ? $1 * factor : $1 }'
}

await_listener() { # await_listener PORT
    local left=200
    until rdma resource show cm_id | grep -q "LISTEN.*:$1\\b"; do
        kill -0 "$server" 2>/dev/null || return 1
        [ "$((left -= 1))" -gt 0 ] || return 1
        sleep 0.05
    done
}

stop_server() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    server=''
}

theirs_once() { # theirs_once DEVICE OP MEASURE SIZE DEPTH ITERS: us or MB/s
    local arguments output=latency value
    port=$((port + 1))
    arguments=(-d "$1" -R -F -p "$port" -s "$4" -n "$6" -t "$5")
    if [ "$3" = bw ]; then
        output=message_rate # with more digits than a bandwidth has
        arguments+=(-Q $(($5 / 4)))
    fi
    [ "$(mode_of "$3")" = poll ] || arguments+=(-e)
    [ "$2" = read ] || arguments+=(-I "$(($4 <= 64 ? $4 : 0))")
    [ "$2" != read ] || arguments+=(-o 16)
    timeout 120 taskset -c "$server_cpu" "ib_$2_$3" "${arguments[@]}" >"$folder/server" 2>&1 &
    server=$!
    await_listener "$port" || return 1
    timeout 120 taskset -c "$client_cpu" "ib_$2_$3" "${arguments[@]}" "--output=$output" "$(address_of "$1")" \
        >"$folder/client" 2>&1 || return 1
    wait "$server" || true
    server=''
    value=$(grep -E '^[0-9.]+$' "$folder/client" | tail -n 1) || return 1
    [ -n "$value" ] && scale "$3" "$4" <<<"$value"
}

# perftest does not always come up on these devices.
theirs() { # theirs DEVICE OP MEASURE SIZE DEPTH ITERS
    for _ in 1 2 3; do
        theirs_once "$@" && return
        stop_server
    done
    say "ib_$2_$3: $(tail -n 3 "$folder/server" "$folder/client" 2>&1)"
    return 1
}

# dapltest has no other patterns, and finds a device by its network interface.
has_udapl() { # has_udapl OP MEASURE
    [ "$2" = bw ] && [ "$1" != send ] && command -v dapltest >/dev/null
}

udapl_once() { # udapl_once DEVICE OP SIZE DEPTH ITERS: MB/s
    local what=RW value
    [ "$2" = write ] || what=RR
    port=$((port + 1))
    echo "$1 u2.0 nonthreadsafe default libdaplofa.so.2 dapl.2.0 \"$(interface_of "$1") 0\" \"\"" >"$folder/dat.conf"
    DAT_OVERRIDE=$folder/dat.conf timeout 120 taskset -c "$server_cpu" dapltest -T S -D "$1" -n "$port" \
        >"$folder/server" 2>&1 &
    server=$!
    await_listener "$port" || return 1
    DAT_OVERRIDE=$folder/dat.conf timeout 120 taskset -c "$client_cpu" dapltest -T P -s "$(address_of "$1")" -D "$1" \
        -n "$port" -m p -i "$5" -p "$4" "$what" "$3" >"$folder/client" 2>&1 || return 1
    stop_server
    value=$(sed -n 's/.*Operation Throughput *: *\([0-9.]*\) ops.*/\1/p' "$folder/client")
    [ -n "$value" ] && scale bw "$3e-6" <<<"$value"
}

udapl() { # udapl DEVICE OP SIZE DEPTH ITERS
    for _ in 1 2 3; do
        udapl_once "$@" && return
        stop_server
    done
    say "dapltest: $(tail -n 3 "$folder/server" "$folder/client" 2>&1)"
}

# row DEVICE OP MEASURE SIZE DEPTH ITERS SIGN LIMIT
row() {
    local name="$2_$3_$4" sign=$7 limit=$8 one other third
    # shellcheck disable=SC2053 # a pattern it is
    [[ $name == $rows ]] || return 0
    : >"$folder/ours"
    : >"$folder/theirs"
    : >"$folder/udapl"
    for ((i = 0; i < rounds; i++)); do
        if ! ours "${@:1:6}" >>"$folder/ours" || ! theirs "${@:1:6}" >>"$folder/theirs"; then
            printf '%-9s %-5s %-3s %6s %s\n' "$1" "$2" "$3" "$4" failed
            return 0
        fi
        ! has_udapl "$2" "$3" || udapl "$1" "$2" "${@:4:3}" >>"$folder/udapl"
    done
    one=$(median <"$folder/ours")
    other=$(median <"$folder/theirs")
    third=$(median <"$folder/udapl")
    awk -v one="$one" -v other="$other" -v third="$third" -v sign="$sign" -v limit="$limit" \
        -v head="$(printf '%-9s %-5s %-3s %6s' "$1" "$2" "$3" "$4")" \
        -v unit="$([ "$3" = bw ] && echo MB/s || echo us)" 'BEGIN {
        ratio = one / other
        good = sign == "<=" ? ratio <= limit : ratio >= limit
        beside = third == "" ? "" : sprintf("  %10.2f %6.3f", third, third / other)
        printf "%s %10.2f %10.2f %-4s %6.3f  %s %s  %-6s%s\n", head, one, other, unit, ratio, sign, limit,
            good ? "ok" : "missed", beside
    }'
}

printf '%-9s %-5s %-3s %6s %10s %10s %-4s %6s  %-15s  %10s %6s\n' device op '' size itapi perftest '' ratio '' uDAPL ratio
for device in "${devices[@]}"; do
    for size in 64 65536; do
        lat=$(((size == 64 ? 3000 : 1000) * times))
        # siw takes in some MB before anything has arrived, and the end of a stream of it_perf waits for that.
        case $device in
        siw*) bw=$(((size == 64 ? 20000 : 8000) * times)) ;;
        *) bw=$(((size == 64 ? 5000 : 500) * times)) ;;
        esac
        row "$device" send lat "$size" 1 "$lat" '<=' 1.05
        # A Write wakes nobody.
        [ "$mode" = wait ] || row "$device" write lat "$size" 1 "$lat" '<=' 1.05
        row "$device" write bw "$size" 16 "$bw" '>=' 0.97
        row "$device" read bw "$size" 16 "$bw" '>=' 0.97
    done
done
