#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# test_verbs_peer.sh VERBS_PEER: connects two of them over siw, on one address and between two
# namespaces, and tests every command and its refusals. Runs in the guest of tests/vm.
set -euo pipefail

verbs_peer=$1
declare -A in out pid
answer=
# Set by the helpers below: the listener, the last connection at each side, the last memory.
listener='' port='' ca='' cb='' mem='' address='' rkey=''

fail() {
    printf 'test_verbs_peer.sh: %s\n' "$*" >&2
    exit 1
}

# start NAME [COMMAND...]: starts a peer as "COMMAND... verbs_peer".
start() {
    local name=$1 fifos fd
    shift
    fifos=$(mktemp -d)
    mkfifo "$fifos/in" "$fifos/out"
    "$@" "$verbs_peer" <"$fifos/in" >"$fifos/out" &
    pid[$name]=$!
    exec {fd}>"$fifos/in"
    in[$name]=$fd
    exec {fd}<"$fifos/out"
    out[$name]=$fd
    rm -r "$fifos"
}

# hang_up NAME: closes its input.
hang_up() {
    local fd=${in[$1]}
    exec {fd}>&-
}

# gone NAME STATUS: waits for its end with this status.
gone() {
    local status=0 fd=${out[$1]}
    wait "${pid[$1]}" 2>/dev/null || status=$?
    exec {fd}<&-
    unset "pid[$1]"
    [ "$status" = "$2" ] || fail "$1 ends with $status, not $2"
}

kill_all() {
    local name
    for name in "${!pid[@]}"; do
        kill -KILL "${pid[$name]}" 2>/dev/null || true
    done
}
trap kill_all EXIT

tell() {
    printf '%s\n' "$2" >&"${in[$1]}"
}

# hear NAME PATTERN [COMMAND]: reads the next answer, which must match as a whole.
hear() {
    IFS= read -r -t 90 answer <&"${out[$1]}" || fail "$1 does not answer: ${3-}"
    [[ $answer =~ ^($2)$ ]] || fail "$1 answers '$answer', not '$2': ${3-}"
}

# ask NAME COMMAND PATTERN
ask() {
    tell "$1" "$2"
    hear "$1" "$3" "$2"
}

# field NAME VARIABLE: sets the variable to the value of a field of the last answer.
field() {
    [[ $answer =~ (^| )$1=([^ ]*) ]] || fail "no $1 in '$answer'"
    printf -v "$2" '%s' "${BASH_REMATCH[2]}"
}

# listening NAME ADDRESS: listens; sets listener and port.
listening() {
    ask "$1" "listen $2 0 backlog=250" 'ok listen=[0-9]+ port=[0-9]+'
    field listen listener
    field port port
}

# join ADDRESS [SETUP]: b connects to a's listener; sets ca and cb. With SETUP both have a queue
# pair of these sizes beforehand.
join() {
    ask b "resolve $1 $port timeout=20000" 'ok conn=[0-9]+'
    field conn cb
    [ -z "${2-}" ] || ask b "setup $cb $2" ok
    tell b "connect $cb ird=4 ord=5 timeout=30000"
    ask a "request $listener timeout=30000" 'ok conn=[0-9]+ ird=5 ord=4 pd=-'
    field conn ca
    [ -z "${2-}" ] || ask a "setup $ca $2" ok
    ask a "accept $ca timeout=30000" ok
    hear b 'ok ird=[0-9]+ ord=[0-9]+ pd=-'
}

# part: ends the connection from b's side.
part() {
    ask b "disconnect $cb" ok
    ask b "wait $cb disconnected timeout=20000" 'ok status=.*'
    ask a "wait $ca disconnected timeout=20000" 'ok status=.*'
    ask a "destroy $ca" ok
    ask b "destroy $cb" ok
}

# memory NAME SIZE [OPTIONS]: makes a memory; sets mem, address, rkey.
memory() {
    ask "$1" "mem $2 ${3-}" 'ok mem=[0-9]+ address=0x[0-9a-f]+ rkey=0x[0-9a-f]+'
    field mem mem
    field address address
    field rkey rkey
}

# ---- What is refused -------------------------------------------------------------------------

test_usage() {
    local command want
    for command in '' frobnicate 'listen 10.77.0.1' 'listen 10.77.0.1 65536' 'listen there 1' \
        'listen 10.77.0.1 0 backlog=' 'listen 10.77.0.1 0 backlog=1 backlog=1' 'listen ::1 0 extra' \
        'request 1' 'request 7 timeout=1' 'request 1 timeout=-1' 'accept 7' 'reject 7' 'connect 7' \
        'resolve 10.77.0.1 0' 'resolve 10.77.0.1 1 from=here' 'setup 7' 'wait 7 disconnected timeout=1' \
        'disconnect 7' 'destroy 7' 'destroy listen 7' 'destroy this 7' 'state 7' 'mem 0' 'mem x' 'mem' \
        'mem 10 rights=q' 'mem 10 dev=none' 'mem 10 conn=7' 'free 7' 'fill 7 0 1 1' 'check 7 0 1 1' \
        'zero 7 0 1' 'recv 7 - id=1' 'send 7 - id=1' 'send 7 -' 'write 7 - to=0 rkey=0 id=1' \
        'read 7 - from=0 rkey=0' 'done 7 1 timeout=1' 'burst 7 send 1 - step=0 id=0 depth=1 timeout=1' \
        'prepare 7 echo 1 7 1' 'echo 7 1 7 1 timeout=1' 'sink 7 1 7 1 timeout=1' 'spin' 'spin 0xg' \
        'poll_memory 7 0 0 timeout=1' 'async' 'async timeout=1 dev=none' 'pause 1' 'abort 1' 'quit now'; do
        ask a "$command" 'error usage .+'
    done

    memory a 100
    for command in "fill $mem 0 101 1" "fill $mem 101 0 1" "fill $mem 18446744073709551615 1 1" \
        "check $mem 50 51 1" "zero $mem 100 1" "poll_memory $mem 100 0 timeout=1" "fill $mem 0 1"; do
        ask a "$command" 'error usage .+'
    done
    ask a "fill $mem 3 90 5" ok
    ask a "check $mem 3 90 5" ok
    ask a "check $mem 2 5 5" 'error differs at=2 want=0x[0-9a-f]{2} got=0x00'
    # Compute the pattern from its definition: top octet of (p + 1) * STEP + s * SEED.
    printf -v want '%02x' $((((3 + 1) * 0x9E3779B97F4A7C15 + 6 * 0xD1B54A32D192ED03) >> 56 & 255))
    ask a "check $mem 3 90 6" "error differs at=3 want=0x$want got=0x[0-9a-f]{2}"
    ask a "zero $mem 2 2" ok
    ask a "check $mem 3 1 5" 'error differs at=3 .*'
    ask a "check $mem 4 89 5" ok
    ask a "poll_memory $mem 2 0 timeout=0" ok
    ask a "poll_memory $mem 2 1 timeout=20" 'error timeout'
    ask a "free $mem" ok
    ask a "free $mem" 'error usage .+'
    ask a 'spin 10' ok
    ask a 'async timeout=10' 'error timeout'
}

# ---- Connections -----------------------------------------------------------------------------

test_connect() { # ADDRESS
    local long
    printf -v long '%0502d' 0

    ask a "listen $1 $port" 'error rdma_(bind_addr|listen) errno=98'
    ask a "request $listener timeout=10" 'error timeout'
    ask b "resolve $1 $port" 'ok conn=[0-9]+'
    field conn cb
    ask b device 'ok name=siw_[a-z]+ transport=iwarp max_sge=[0-9]+'
    ask b "device conn=$cb" 'ok name=siw_[a-z]+ transport=iwarp max_sge=[0-9]+'
    ask b "accept $cb" 'error usage .+'
    ask b "state $cb" 'error usage .+'
    ask b "send $cb - id=1" 'error usage .+'
    ask b "setup $cb sge=100" 'error rdma_create_qp errno=22'
    ask b "setup $cb sq=8 rq=8 sge=2 inline=32" ok
    ask b "setup $cb" 'error usage .+'
    ask b "state $cb" 'ok state=[A-Z]+'
    ask b "wait $cb disconnected timeout=10" 'error timeout'
    ask b "connect $cb pd=${long}0000000000" 'error usage .+'
    ask b "connect $cb pd=0" 'error usage .+'
    ask b "connect $cb pd=0g" 'error usage .+'
    tell b "connect $cb ird=3 ord=7 pd=c0ffee"
    ask a "request $listener timeout=30000" 'ok conn=[0-9]+ ird=7 ord=3 pd=c0ffee'
    field conn ca
    ask a "connect $ca" 'error usage .+'
    ask a "accept $ca ird=6 ord=2 pd=0102FF" ok
    hear b 'ok ird=[0-9]+ ord=[0-9]+ pd=0102ff'
    ask a "state $ca" 'ok state=RTS'
    ask b "state $cb" 'ok state=RTS'
    ask b "wait $cb no_such_event timeout=0" 'error usage .+'
    ask a "disconnect $ca" ok
    ask b "wait $cb disconnected timeout=20000" 'ok status=.*'
    ask b "wait $cb disconnected timeout=10" 'error timeout'
    ask a "wait $ca established timeout=20000" 'error disconnected status=.*'
    ask b "state $cb" 'ok state=ERR'
    ask a "destroy $ca" ok
    ask b "destroy $cb" ok

    # Send the longest private data of siw both ways.
    ask b "resolve $1 $port" 'ok conn=[0-9]+'
    field conn cb
    tell b "connect $cb pd=$long"
    ask a "request $listener timeout=30000" "ok conn=[0-9]+ ird=[0-9]+ ord=[0-9]+ pd=$long"
    field conn ca
    ask a "accept $ca pd=$long" ok
    hear b "ok ird=[0-9]+ ord=[0-9]+ pd=$long"
    part

    # The peer rejects, nobody is there, nobody answers.
    ask b "resolve $1 $port" 'ok conn=[0-9]+'
    field conn cb
    tell b "connect $cb"
    ask a "request $listener timeout=30000" 'ok conn=[0-9]+ .*'
    field conn ca
    ask a "reject $ca pd=1234" ok
    hear b 'error rejected status=-?[0-9]+ pd=1234'
    ask a "destroy $ca" ok
    ask b "destroy $cb" ok
    ask b "resolve $1 1" 'ok conn=[0-9]+'
    field conn cb
    ask b "connect $cb" 'error rdma_connect errno=111'
    ask b "destroy $cb" ok
    ask b "resolve $1 $port" 'ok conn=[0-9]+'
    field conn cb
    ask b "connect $cb timeout=300" 'error timeout'
    ask b "destroy $cb" ok
    ask a "request $listener timeout=30000" 'ok conn=[0-9]+ .*'
    field conn ca
    # siw may not know yet that the other side is gone.
    ask a "accept $ca timeout=20000" '(ok .*|error [a-z_]+ (status|errno)=-?[0-9]+)'
    ask a "destroy $ca" ok
}

# A listener on all addresses. The events of several connections do not mix.
test_wildcard() { # ADDRESS WILDCARD
    local l1=$listener p1=$port conns=() i
    listening a "$2"
    join "$1"
    conns+=("$ca $cb")
    for i in 1 2; do
        join "$1"
        conns+=("$ca $cb")
    done
    read -r ca cb <<<"${conns[1]}"
    part
    for i in 0 2; do
        read -r ca cb <<<"${conns[i]}"
        ask a "wait $ca disconnected timeout=10" 'error timeout'
        ask b "state $cb" 'ok state=RTS'
        part
    done
    # A request that no command took is destroyed with the listener.
    ask b "resolve $1 $port" 'ok conn=[0-9]+'
    field conn cb
    tell b "connect $cb timeout=30000"
    ask a "request $l1 timeout=500" 'error timeout'
    ask a "destroy listen $listener" ok
    hear b 'error (rejected|unreachable|connect_error|disconnected) .*'
    ask b "destroy $cb" ok
    listener=$l1
    port=$p1
}

# ---- Data ------------------------------------------------------------------------------------

test_data() { # ADDRESS
    local ma mb addr_a key_a want segments size=300000
    join "$1" 'sq=16 rq=16 sge=4 inline=32'
    memory a $size "rights=lwr conn=$ca"
    ma=$mem addr_a=$address key_a=$rkey
    memory b $size "conn=$cb"
    mb=$mem

    # Sends with several segments, without octets, solicited, silent, inline.
    ask b "fill $mb 0 $size 1" ok
    ask a "recv $ca $ma:0:100,$ma:1000:1,$ma:100:199900 id=11" ok
    ask a "recv $ca - id=12" 'error post errno=22'
    ask a "recv $ca $ma:0:0 id=12" ok
    ask a "recv $ca $ma:200000:99999 id=13" ok
    ask a "recv $ca $ma:299999:1 id=0xffffffffffff" ok
    ask b "send $cb $mb:0:100,$mb:1000:1,$mb:100:199900 id=21 solicited" ok
    ask b "send $cb - id=22 fence" ok
    ask b "send $cb $mb:200000:99999 id=23 silent" ok
    ask b "send $cb $mb:299999:1 id=24 inline" ok
    ask a "done $ca 3 timeout=60000" \
        'ok n=3 11:SUCCESS:recv:200001 12:SUCCESS:recv:0 13:SUCCESS:recv:99999'
    ask a "done $ca 1 timeout=60000" 'ok n=1 281474976710655:SUCCESS:recv:1'
    ask b "done $cb 3 timeout=60000" \
        'ok n=3 21:SUCCESS:send:[0-9]+ 22:SUCCESS:send:0 24:SUCCESS:send:[0-9]+'
    ask b "done $cb 1 timeout=10" 'error timeout n=0'
    ask b "done $cb 0 timeout=0" 'ok n=0'
    ask a "check $ma 0 $size 1" ok

    # RDMA Writes and Reads.
    ask b "fill $mb 0 $size 2" ok
    ask b "write $cb $mb:0:150000,$mb:150000:149998 to=$addr_a rkey=$key_a id=31" ok
    ask b "write $cb $mb:299998:1 to=$((addr_a + 299998)) rkey=$key_a id=32 silent inline" ok
    ask b "write $cb $mb:299999:1 to=$((addr_a + 299999)) rkey=$key_a id=33 fence" ok
    printf -v want '%d' $((((299999 + 1) * 0x9E3779B97F4A7C15 + 2 * 0xD1B54A32D192ED03) >> 56 & 255))
    ask a "poll_memory $ma 299999 $want timeout=60000" ok
    ask a "check $ma 0 $size 2" ok
    ask b "done $cb 2 timeout=60000" 'ok n=2 31:SUCCESS:write:[0-9]+ 33:SUCCESS:write:[0-9]+'
    ask b "zero $mb 0 $size" ok
    ask b "read $cb $mb:5:299990 from=$((addr_a + 5)) rkey=$key_a id=34" ok
    ask b "done $cb 1 timeout=60000" 'ok n=1 34:SUCCESS:read:299990'
    ask b "read $cb - from=0 rkey=0 id=35" 'error usage .+'
    ask b "read $cb $mb:0:0 from=$addr_a rkey=$key_a id=35" ok
    ask b "done $cb 1 timeout=60000" 'ok n=1 35:SUCCESS:read:0'
    ask b "check $mb 5 299990 2" ok
    ask b "check $mb 0 6 2" 'error differs at=0 .*'

    # Wrong segment words are refused.
    for segments in "$mb:0:300001" "$mb:300000:1" "$mb:1" "9:0:1" "$mb:0:1,," ",$mb:0:1" "x" \
        "$mb:18446744073709551615:2"; do
        ask b "send $cb $segments id=1" 'error usage .+'
    done
    ask b "send $cb $mb:0:1,$mb:0:1,$mb:0:1,$mb:0:1,$mb:0:1,$mb:0:1,$mb:0:1 id=1" 'error post errno=[0-9]+'
    ask b "done $cb 1 timeout=10" 'error timeout n=0'

    # A message invalidates a memory.
    memory a 4096 "conn=$ca"
    ask a "recv $ca $ma:0:10 id=41" ok
    ask b "send $cb $mb:0:10 id=42 invalidate=$rkey" ok
    ask a "done $ca 1 timeout=60000" 'ok n=1 41:SUCCESS:recv(_inv)?:10'
    ask b "done $cb 1 timeout=60000" 'ok n=1 42:SUCCESS:send:[0-9]+'

    # A write to it breaks the connection. Posted requests are flushed.
    ask b "recv $cb $mb:0:1 id=44" ok
    ask b "write $cb $mb:0:1 to=$address rkey=$rkey id=43" ok
    ask a "wait $ca disconnected timeout=20000" 'ok .*'
    ask b "wait $cb disconnected timeout=20000" 'ok .*'
    ask b "done $cb 2 timeout=10000" 'ok n=2( 43:[A-Z_]+:write:[0-9]+| 44:WR_FLUSH_ERR:recv:0){2}'
    ask a "free $mem" ok
    ask a "destroy $ca" ok
    ask b "destroy $cb" ok

    # siw cannot fence a read.
    join "$1"
    ask b "read $cb $mb:0:1 from=$addr_a rkey=$key_a id=1 fence" 'error post errno=[0-9]+'
    part
    ask a "free $ma" ok
    ask b "free $mb" ok
}

test_streams() { # ADDRESS
    local ma mb addr_a key_a remote k
    join "$1" 'sq=32 rq=32'
    memory a 400000 "conn=$ca"
    ma=$mem addr_a=$address key_a=$rkey
    memory b 400000 "conn=$cb"
    mb=$mem

    # Bursts of each kind, and sink.
    ask b "fill $mb 0 400000 7" ok
    remote="to=$addr_a rkey=$key_a step=10000 id=0"
    ask b "burst $cb write 40 $mb:0:4000,$mb:4000:6000 $remote depth=32 timeout=60000" 'ok n=40'
    ask a "check $ma 0 400000 7" ok
    ask b "zero $mb 0 400000" ok
    remote="from=$addr_a rkey=$key_a step=10000 id=0"
    ask b "burst $cb read 41 $mb:0:10000 $remote depth=8 timeout=60000" 'error usage .+'
    ask b "burst $cb read 40 $mb:0:10000 $remote depth=3 timeout=60000" 'ok n=40'
    ask b "check $mb 0 400000 7" ok
    ask b "burst $cb read 2 - $remote depth=3 timeout=60000" 'error usage .+'
    ask b "burst $cb send 2 $mb:0:1 to=1 step=0 id=0 depth=1 timeout=1" 'error usage .+'
    ask b "burst $cb recv 2 $mb:0:1 step=0 id=0 depth=1 timeout=1" 'error usage .+'
    ask b "burst $cb send 2 $mb:0:1 step=0 id=0 depth=33 timeout=1" 'error usage .+'

    ask a "zero $ma 0 400000" ok
    ask a "prepare $ca sink 20 $ma 20000" 'ok n=20'
    ask a "prepare $ca sink 20 $ma 20000" 'error usage .+'
    ask a "sink $ca 21 $ma 20000 timeout=1" 'error usage .+'
    ask a "echo $ca 20 $ma 20000 timeout=1" 'error usage .+'
    ask b "burst $cb send 20 $mb:0:20000 step=20000 id=5 depth=20 timeout=60000" 'ok n=20'
    ask a "sink $ca 20 $ma 20000 timeout=60000" 'ok n=20 bytes=400000'
    ask a "check $ma 0 400000 7" ok

    # sink with a seed: message k has the pattern of seed + k, so each message has its own memory.
    memory b 1000 "conn=$cb"
    ask a "prepare $ca sink 3 $ma 1000" 'ok n=3'
    for k in 0 1 2; do
        ask b "fill $mem 0 1000 $((90 + k))" ok
        ask b "send $cb $mem:0:1000 id=$k" ok
        ask b "done $cb 1 timeout=60000" "ok n=1 $k:SUCCESS:send:[0-9]+"
    done
    ask a "sink $ca 3 $ma 1000 timeout=60000 seed=90" 'ok n=3 bytes=3000'
    ask a "prepare $ca sink 1 $ma 1000" 'ok n=1'
    ask b "send $cb $mem:0:1000 id=1" ok
    ask a "sink $ca 1 $ma 1000 timeout=60000 seed=1" \
        'error differs message=0 at=0 want=0x[0-9a-f]{2} got=0x[0-9a-f]{2}'
    ask b "done $cb 1 timeout=60000" 'ok n=1 1:SUCCESS:send:[0-9]+'

    # echo with more messages than slots: 20 halves of 400000 / 10000.
    ask a "prepare $ca echo 50 $ma 10000" 'ok n=20'
    tell a "echo $ca 50 $ma 10000 timeout=60000"
    for ((k = 0; k < 50; k++)); do
        ask b "recv $cb $mb:$((k % 20 * 10000)):$((k % 20 * 500)) id=$k" ok
        ask b "fill $mem 0 1000 $k" ok
        ask b "send $cb $mem:0:$((k % 20 * 50)) id=$((k + 100))" ok
        ask b "done $cb 2 timeout=60000" "ok n=2( ($k:SUCCESS:recv|$((k + 100)):SUCCESS:send):$((k % 20 * 50))){2}"
    done
    hear a 'ok n=50'

    # Without prepare nothing arrives, and receives that a command has posted are in the way.
    ask a "sink $ca 1 $ma 1000 timeout=10" 'error timeout'
    ask b "recv $cb $mb:0:1 id=1" ok
    ask b "echo $cb 1 $mb 1000 timeout=10" 'error usage .+'
    ask b "echo $cb 1 $mb 200001 timeout=10" 'error usage .+'

    # The other side refuses a burst.
    ask b "burst $cb write 5 $mb:0:10 to=$addr_a rkey=0x1 step=1 id=70 depth=5 timeout=60000" \
        'error (completion 7[0-4]:[A-Z_]+:write:0|disconnected)|ok n=5'
    ask b "wait $cb disconnected timeout=20000" 'ok .*'
    ask b "done $cb 1 timeout=10000" 'ok n=1 1:WR_FLUSH_ERR:recv:0'
    ask a "destroy $ca" ok
    ask b "destroy $cb" ok
    ask a "free $ma" ok
    ask b "free $mem" ok
    ask b "free $mb" ok
}

# A memory belongs to one device.
test_devices() { # ADDRESS OTHER
    local other
    join "$1"
    memory a 100 "dev=$2"
    other=$mem
    ask a "recv $ca $other:0:1 id=1" 'error usage .+'
    ask a "sink $ca 1 $other 10 timeout=1" 'error usage .+'
    ask a "free $other" ok
    ask a "mem 100 dev=$2 conn=$ca" 'error usage .+'
    part
}

# ---- Leaks -----------------------------------------------------------------------------------

descriptors() {
    find "/proc/${pid[$1]}/fd" -mindepth 1 | wc -l
}

resident() {
    awk '$1 == "VmRSS:" { print $2 }' "/proc/${pid[$1]}/status"
}

test_leaks() { # ADDRESS
    local i name
    local -A before after
    join "$1"
    part
    for name in a b; do
        before[$name]="$(descriptors $name) $(resident $name)"
    done
    for ((i = 0; i < 40; i++)); do
        join "$1"
        part
    done
    for name in a b; do
        after[$name]="$(descriptors $name) $(resident $name)"
        if [ "${before[$name]% *}" != "${after[$name]% *}" ] ||
            ((${after[$name]#* } > ${before[$name]#* } + 200)); then
            fail "descriptors and KiB of $name: ${before[$name]} before, ${after[$name]} after"
        fi
    done
}

# ---- End -------------------------------------------------------------------------------------

test_end() { # ADDRESS ADDRESS_OF_B TOGETHER [COMMAND...]
    local host=$1 host_b=$2 together=$3 remote conns=() i
    shift 3

    # A write that the memory does not permit raises an event of the device.
    join "$host"
    memory a 100 "rights=lr conn=$ca"
    remote="to=$address rkey=$rkey"
    memory b 100 "conn=$cb"
    ask b "write $cb - to=0 rkey=0 id=1" ok
    ask b "write $cb $mem:0:100 $remote id=2" ok
    ask a "wait $ca disconnected timeout=20000" 'ok .*'
    ask a "async timeout=10000 conn=$ca" 'ok event=QP_ACCESS_ERR'
    ask a "destroy $ca" ok
    ask b "destroy $cb" ok

    # The peer pauses and continues.
    join "$host"
    tell b pause
    tell b "state $cb"
    until [ "$(awk '{ print $3 }' "/proc/${pid[b]}/stat")" = T ]; do sleep 0.05; done
    kill -CONT "${pid[b]}"
    hear b 'ok state=RTS'

    # The peer is killed, and the other side sees it.
    tell b abort
    hang_up b
    gone b 137
    ask a "wait $ca disconnected timeout=20000" 'ok .*'
    ask a "destroy $ca" ok

    # Many connections at once, some with data. At the end all of them still work.
    start b "$@"
    for ((i = 0; i < together; i++)); do
        join "$host" 'sq=2 rq=2 sge=1'
        conns+=("$ca $cb")
    done
    memory a 100000 "conn=$ca"
    for i in $((together - 1)) 0 $((together / 2)); do
        read -r ca cb <<<"${conns[i]}"
        ask a "recv $ca $mem:0:0 id=$i" ok
        ask b "send $cb - id=$i" ok
        ask a "done $ca 1 timeout=60000" "ok n=1 $i:SUCCESS:recv:0"
    done
    ask a "recv $ca $mem:0:10 id=1" ok
    memory b 100000 "conn=$cb"
    ask b "listen $host_b 0" 'ok .*'
    hang_up b
    gone b 0
    ask a "wait $ca disconnected timeout=20000" 'ok .*'
    ask a quit ok
    hang_up a
    gone a 0
}

# run LISTEN_A LISTEN_B WILDCARD OTHER_DEVICE TOGETHER [COMMAND...]: runs all tests.
run() {
    local listen_a=$1 listen_b=$2 wildcard=$3 other=$4 together=$5
    shift 5
    start a
    start b "$@"
    [ "$listen_a" != 10.77.0.1 ] || test_usage
    listening a "$listen_a"
    test_connect "$listen_a"
    test_wildcard "$listen_a" "$wildcard"
    test_data "$listen_a"
    test_streams "$listen_a"
    test_devices "$listen_a" "$other"
    [ "$listen_a" != 10.77.0.1 ] || test_leaks "$listen_a"
    test_end "$listen_a" "$listen_b" "$together" "$@"
}

run 10.77.0.1 10.77.0.1 0.0.0.0 siw_near 70
run fd77:1::1 fd77:1::2 :: siw_same 10 ip netns exec far
printf 'ok\n'
