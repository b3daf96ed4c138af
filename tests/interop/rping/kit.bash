# SPDX-License-Identifier: BSD-2-Clause
# Starts the programs of both sides in the guest and checks their output. rping's exit status means
# nothing. Starting a process is expensive in the guest, so the shell does most work itself.

folder=$(mktemp -d)
port=7200
declare -A pid_of=() setting_was=()
trap 'clean_up' EXIT
trap 'fail "took too long"' TERM

far=(ip netns exec far)
line_by_line=()
ended=0
mkfifo "$folder/never"
exec {never}<>"$folder/never"

# pause SECONDS: waits without starting a process.
pause() { read -r -t "$1" -u "$never" || true; }

say() { printf 'rping: %s\n' "$*"; }

fail() {
    local log
    trap '' TERM
    printf 'rping: FAILED: %s\n' "$*" >&2
    for log in "$folder"/*.{out,err}; do
        [ ! -s "$log" ] || tail -n 20 "$log" | cut -c 1-200 | sed "s|^|${log##*/} \| |" >&2
    done
    exit 1
}

clean_up() {
    local name
    for name in "${!pid_of[@]}"; do
        kill -KILL "${pid_of[$name]}" 2>/dev/null || true
    done
    siw_settings_back
    rm -rf "$folder"
}

# limit SECONDS: a case that takes longer fails, and shows the output of the programs.
limit() {
    local self=$$
    (pause "$1" && kill -TERM "$self") &
    pid_of[limit]=$!
    disown
}

# place WHERE: sets interfaces and addresses of both sides, and the words in front of commands of the
# other side. A program on plain TCP has no interface of the kernel.
place() {
    our_interface=uiwarp their_interface=
    there=()
    case $1 in
    same) our_address=10.77.0.1 their_address=10.77.0.1 ;;
    far) our_address=10.77.1.1 their_address=10.77.1.2 there=("${far[@]}") ;;
    far6) our_address=fd77:1::1 their_address=fd77:1::2 there=("${far[@]}") ;;
    siw)
        our_interface=siw_near our_address=10.77.1.1
        their_interface=siw_far their_address=10.77.1.2 there=("${far[@]}")
        ;;
    rxe_same)
        our_interface=rxe_same our_address=10.77.2.1
        their_interface=rxe_same their_address=10.77.2.1
        ;;
    rxe)
        our_interface=rxe_near our_address=10.77.3.1
        their_interface=rxe_far their_address=10.77.3.2
        ;;
    *) fail "no such place: $1" ;;
    esac
}

# Each server uses a new port, because connections of the last one may be in time-wait.
next_port() { port=$((port + 1)); }

# ---- siw's settings ----------------------------------------------------------

siw_setting() { # siw_setting NAME VALUE: until siw_settings_back
    local file=/sys/module/siw/parameters/$1
    [ -n "${setting_was[$1]-}" ] || setting_was[$1]=$(<"$file")
    echo "$2" >"$file"
}

siw_settings_back() {
    local name
    for name in "${!setting_was[@]}"; do
        echo "${setting_was[$name]}" >"/sys/module/siw/parameters/$name"
    done
    setting_was=()
}

# ---- Programs ----------------------------------------------------------------
# Each program has a name. Its output goes to $folder/NAME.out and $folder/NAME.err; in one file the
# two would mix in the middle of lines.

# watched COMMAND...: starts a command with line-buffered output, so that a line can be waited for.
watched() {
    local line_by_line=(stdbuf -oL)
    "$@"
}

start_program() { # start_program NAME COMMAND...
    local name=$1
    shift
    : >"$folder/$name.out" # at once: the last program of this name has said what one waits for now
    : >"$folder/$name.err"
    "${line_by_line[@]}" "$@" >"$folder/$name.out" 2>"$folder/$name.err" &
    pid_of[$name]=$!
}

start_ours() { # start_ours NAME ARGUMENTS...
    start_program "$1" "$program" -i "$our_interface" "${@:2}"
}

start_rping() { # start_rping NAME ARGUMENTS...
    start_program "$1" "${there[@]}" rping "${@:2}"
}

wait_for_end() { # wait_for_end NAME: sets ended to its status
    ended=0
    wait "${pid_of[$1]}" 2>/dev/null || ended=$?
    unset "pid_of[$1]"
}

end_program() { # end_program NAME SIGNAL: sets ended
    kill "-$2" "${pid_of[$1]}" || fail "the $1 has ended by itself"
    wait_for_end "$1"
}

run_ours() { # run_ours NAME ARGUMENTS...
    start_ours "$@"
    wait_for_end "$1"
    [ "$ended" = 0 ] || fail "it_rping ${*:2}: status $ended"
}

run_ours_to_failure() { # run_ours_to_failure NAME ARGUMENTS...
    start_ours "$@"
    wait_for_end "$1"
    [ "$ended" = 1 ] || fail "it_rping ${*:2}: status $ended, not 1"
}

run_rping() { # run_rping NAME ARGUMENTS...
    start_rping "$@"
    wait_for_end "$1"
}

# ---- Waiting -----------------------------------------------------------------


until_true() { # until_true COMMAND...: for ever, that is, until the limit
    until "$@"; do
        pause 0.1
    done
}

# These tables are those of the process's namespace. siw's own listeners are in them too.
listens() { # listens NAME
    if [[ $our_interface == rxe* ]]; then
        kill -0 "${pid_of[$1]}" || fail "the $1 has ended by itself"
        rdma resource show cm_id | grep -q "state LISTEN .*:$port "
        return
    fi
    local net=/proc/${pid_of[$1]}/net tables
    tables=$(<"$net/tcp")$(<"$net/tcp6") || fail "the $1 has ended by itself"
    [[ $tables =~ $(printf ':%04X [0-9A-F]*:0000 0A ' "$port") ]]
}

wait_listening() { until_true listens "$1"; }

# wait_for_line NAME PATTERN
wait_for_line() { until_true grep -qs -e "$2" "$folder/$1".{out,err}; }

wait_for_ping() { # wait_for_ping NAME NUMBER
    wait_for_line "$1" "^ping data: rdma-ping-$2: "
}

wait_for_further_ping() { # wait_for_further_ping NAME
    local last
    last=$(grep -o '^ping data: rdma-ping-[0-9]*: ' "$folder/$1.out" | tail -n 1)
    last=${last#*-ping-}
    wait_for_ping "$1" $((${last%: } + 2))
}

# ---- Output ------------------------------------------------------------------

expect_line() { # expect_line NAME PATTERN
    grep -q -e "$2" "$folder/$1".{out,err} || fail "the $1 does not say: $2"
}

# rping reports failures only in its text.
expect_content() { # expect_content NAME
    ! grep -Eiq 'fail|error|mismatch|invalid|unknown|bogus' "$folder/$1".{out,err} ||
        fail "the $1 is not content"
}

alphabet='ABCDEFGHIJKLMNOPQRSTUVWXYZ[\]^_`abcdefghijklmnopqrstuvwxyz'
endless_text=$alphabet$alphabet
while [ ${#endless_text} -lt 65600 ]; do
    endless_text+=$endless_text
done

# expect_pings NAME TITLE COUNT SIZE: the output must have exactly these pings, in this order. The
# expected text is computed here, because a client of rping makes its text itself.
expect_pings() {
    local title=$2 count=$3 size=$4 number=0 line head
    while read -r line; do
        [[ $line == "$title: "* ]] || continue
        head="rdma-ping-$number: "
        [ "$line" = "$title: $head${endless_text:number % 58:size - 1 - ${#head}}" ] ||
            fail "the $1 shows another text for ping $number of $size bytes"
        number=$((number + 1))
    done <"$folder/$1.out"
    [ "$number" = "$count" ] || fail "the $1 shows $number pings of $size bytes, not $count"
}
