#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# devices.sh [IT_PERF [DEVICE...]]: compares the library with perftest on devices of rdma-core, on a machine that has them
# (./dev vm bench/devices.sh). Both use the same device, pattern, depth and processors; their runs alternate, and medians are
# compared. Both sides are on this machine. If uDAPL (dapltest) is installed, streams of Writes and Reads are also compared with
# it, with its settings: 7 open requests, each with a completion, and a target that waits.
# Environment: ROUNDS, the number of runs; ROWS, a pattern of row names ('write_*', 'udapl_*'); MODE, poll or wait;
# TIMES, a factor for the number of messages; VALUES=yes prints all values on stderr.
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

autogroup=/proc/sys/kernel/sched_autogroup_enabled
before=''
polite=()
! chrt -i 0 true 2>/dev/null || polite=(chrt -i 0)

# rxe runs in threads of the kernel. If such a thread wakes on a processor where a program polls, it waits for the end of the
# program's time slice, which is some milliseconds. This happens in one of a hundred round trips or in none, and would decide
# the comparison. Therefore programs do not share the processor as groups. Programs of a ping-pong on rxe, and all programs
# that share one processor, only get the time that kernel threads leave. Streams on two processors do not run like this: each
# request would cause a switch to the device, instead of one switch for several. A ping-pong on siw needs no thread.
kernel_first() {
    [ -w "$autogroup" ] || return 0
    before=$(cat "$autogroup")
    echo 0 >"$autogroup"
}

is_polite() { # is_polite MODE DEVICE MEASURE
    [ "$1" != client ] || return 1
    [ "$client_cpu" = "$server_cpu" ] || [[ $3 = lat && $2 != siw* ]]
}

stop_server() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    server=''
}

clean_up() {
    [ -z "$before" ] || echo "$before" >"$autogroup"
    stop_server
    rm -rf "$folder"
}
trap clean_up EXIT

for program in "$it_perf" ib_send_lat ib_write_lat ib_write_bw ib_read_bw rdma; do
    command -v "$program" >/dev/null || { say "$program is not there" && exit 1; }
done

# With two processors each side has its own. Otherwise they share one, and polling would only delay
# the other side.
client_cpu=0
server_cpu=0
mode='wait'
if [ "$(nproc)" -gt 1 ]; then
    server_cpu=1
    mode='poll'
fi
mode=${MODE:-$mode}
kernel_first

interface_of() { # interface_of DEVICE: the network interface that it is on
    rdma link show "$1/1" | sed -n 's/.*netdev \([^ ]*\).*/\1/p'
}

address_of() { # address_of DEVICE: IPv4
    ip -o -4 address show dev "$(interface_of "$1")" | awk '{ sub("/.*", "", $4); print $4; exit }'
}

median() { # median COLUMN
    awk -v column="$1" '{ print $column }' | sort -g | awk '{ value[NR] = $1 } END { print value[int((NR + 1) / 2)] }'
}

# Prints two figures of a latency, the median and the mean of all round trips, and one of a stream, twice.
ours() { # ours MODE DEVICE OP MEASURE SIZE DEPTH ITERS: us or MB/s
    local percentiles=() figure=value first=()
    [ "$4" = bw ] || { percentiles=(--percentiles) && figure=p50_us; }
    ! is_polite "$1" "$2" "$4" || first=("${polite[@]}")
    timeout 120 "${first[@]}" "$it_perf" --loopback --ia "$2" --op "$3" --measure "$4" --size "$5" --depth "$6" --iters "$7" \
        --mode "$1" --runs 1 --pin "$client_cpu,$server_cpu" --json "${percentiles[@]}" |
        sed -n "s/.*\"value\": \([^,]*\).*/\1 &/; s/^\([^ ]*\) .*\"$figure\": \([^,]*\).*/\2 \1/p" | scale "$4" 1e-6
}

scale() { # scale MEASURE FACTOR: bandwidths only
    awk -v measure="$1" -v factor="$2" '{ if (measure == "bw") { $1 *= factor; $2 *= factor } print $1, $2 }'
}

await_listener() { # await_listener PORT
    local left=200
    until rdma resource show cm_id | grep -q "LISTEN.*:$1\\b"; do
        kill -0 "$server" 2>/dev/null || return 1
        [ "$((left -= 1))" -gt 0 ] || return 1
        sleep 0.05
    done
}

theirs_once() { # theirs_once DEVICE OP MEASURE SIZE DEPTH ITERS: us or MB/s
    local arguments value first=()
    port=$((port + 1))
    arguments=(-d "$1" -R -F -p "$port" -s "$4" -n "$6" -t "$5")
    # A rate is printed with more digits than a bandwidth.
    [ "$3" = lat ] || arguments+=(-Q $(($5 / 4)) --output=message_rate)
    ! is_polite "$mode" "$1" "$3" || first=("${polite[@]}")
    [ "$3" = bw ] || [ "$mode" = poll ] || arguments+=(-e)
    [ "$2" = read ] || arguments+=(-I "$(($4 <= 64 ? $4 : 0))")
    [ "$2" != read ] || arguments+=(-o 16)
    timeout 120 "${first[@]}" taskset -c "$server_cpu" "ib_$2_$3" "${arguments[@]}" >"$folder/server" 2>&1 &
    server=$!
    await_listener "$port" || return 1
    timeout 120 "${first[@]}" taskset -c "$client_cpu" "ib_$2_$3" "${arguments[@]}" "$(address_of "$1")" \
        >"$folder/client" 2>&1 || return 1
    wait "$server" || true
    server=''
    # For a latency these are t_typical and t_avg; t_avg leaves out the two longest round trips.
    value=$(awk -v measure="$3" -v size="$4" 'measure == "bw" && NF == 1 && /^[0-9.]+$/ { figure = $1 " " $1 }
        measure == "lat" && $1 == size && NF > 6 { figure = $5 " " $6 }
        END { print figure }' "$folder/client")
    [ -n "$value" ] && scale "$3" "$4" <<<"$value"
}

# perftest does not always start on these devices.
theirs() { # theirs DEVICE OP MEASURE SIZE DEPTH ITERS
    for _ in 1 2 3; do
        theirs_once "$@" && return
        stop_server
    done
    say "ib_$2_$3: $(tail -n 3 "$folder/server" "$folder/client" 2>&1)"
    return 1
}

# dapltest has streams of Writes and Reads only, and names a device by its network interface.
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
    [ -n "$value" ] && scale bw "$3e-6" <<<"$value $value"
}

udapl() { # udapl DEVICE OP MEASURE SIZE DEPTH ITERS
    for _ in 1 2 3; do
        udapl_once "$1" "$2" "${@:4}" && return
        stop_server
    done
    say "dapltest: $(tail -n 3 "$folder/server" "$folder/client" 2>&1)"
    return 1
}

tell() { # tell NAME FILE
    [ -z "${VALUES-}" ] || say "$1 $(basename "$2"): $(sort -g "$2" | tr '\n' ';')"
}

# row PEER MODE DEVICE OP MEASURE SIZE DEPTH ITERS SIGN LIMIT: PEER is theirs or udapl
row() {
    local peer=$1 name="$4_$5_$6" sign=$9 limit=${10}
    [ "$peer" = theirs ] || name="udapl_$4_$6"
    # shellcheck disable=SC2053 # a pattern it is
    [[ $name == $rows ]] || return 0
    : >"$folder/ours"
    : >"$folder/theirs"
    for ((i = 0; i < rounds; i++)); do
        if ! ours "${@:2:7}" >>"$folder/ours" || ! "$peer" "${@:3:6}" >>"$folder/theirs"; then
            printf '%-9s %-5s %-3s %6s %s\n' "$3" "$4" "$5" "$6" failed
            return 0
        fi
    done
    tell "$name" "$folder/ours"
    tell "$name" "$folder/theirs"
    awk -v one="$(median 1 <"$folder/ours")" -v other="$(median 1 <"$folder/theirs")" -v sign="$sign" -v limit="$limit" \
        -v mean="$(median 2 <"$folder/ours")" -v their_mean="$(median 2 <"$folder/theirs")" -v measure="$5" \
        -v head="$(printf '%-9s %-5s %-3s %6s' "$3" "$4" "$5" "$6")" -v peer="$peer" 'BEGIN {
        ratio = one / other
        good = sign == "<=" ? ratio <= limit : ratio >= limit
        means = measure == "bw" ? "" : sprintf("  means %.2f %.2f %.3f", mean, their_mean, mean / their_mean)
        printf "%s %10.3f %10.3f %-8s %-4s %6.3f  %s %s  %s%s\n", head, one, other, peer == "udapl" ? "uDAPL" : "perftest",
            measure == "bw" ? "MB/s" : "us", ratio, sign, limit, good ? "ok" : "missed", means
    }'
}

printf '%-9s %-5s %-3s %6s %10s %10s %-8s %-4s %6s\n' device op '' size itapi peer '' '' ratio
for device in "${devices[@]}"; do
    for size in 64 65536; do
        lat=$(((size == 64 ? 3000 : 1000) * times))
        # siw accepts some MB before anything has arrived, and it_perf's stream ends only when everything
        # has.
        case $device in
        siw*) bw=$(((size == 64 ? 20000 : 8000) * times)) ;;
        *) bw=$(((size == 64 ? 5000 : 500) * times)) ;;
        esac
        row theirs "$mode" "$device" send lat "$size" 1 "$lat" '<=' 1.05
        # A Write wakes no waiter.
        [ "$mode" = wait ] || row theirs poll "$device" write lat "$size" 1 "$lat" '<=' 1.05
        # perftest has no streams with waiting.
        row theirs poll "$device" write bw "$size" 16 "$bw" '>=' 0.97
        row theirs poll "$device" read bw "$size" 16 "$bw" '>=' 0.97
        command -v dapltest >/dev/null || continue
        row udapl client "$device" write bw "$size" 7 "$bw" '>=' 1
        row udapl client "$device" read bw "$size" 7 "$bw" '>=' 1
    done
done
