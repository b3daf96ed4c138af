#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# test_decode.sh FOLDER: decode finds what is wrong with a capture. The one of vectors is of rping
# over siw with CRC, 7 FPDUs; frame 10 is an FPDU of 120 octets that begins at octet 1000 of the file.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/test.bash"

command -v tshark >/dev/null || { echo 'missing packages: tshark' && exit 77; }
decode=${vm%/*}/decode
good=${vm%/*}/vectors/rping.pcap

# changed OFFSET OCTET (hexadecimal): makes a copy with this octet.
changed() {
    cp "$good" "$folder/changed.pcap"
    printf '%b' "\\x$2" | dd of="$folder/changed.pcap" bs=1 seek="$1" conv=notrunc status=none
}

expect 0 "$decode" "$good" "$good"
is "$(sort -u "$stdout")" 'rping.pcap: 7 FPDUs, 0 faults'

changed 1040 ff
expect 1 "$decode" "$good" "$folder/changed.pcap"
grep -q 'changed.pcap: frame 10: .*Bad CRC32' "$stdout" || fail "$(<"$stdout")"

changed 1001 02
expect 1 "$decode" "$folder/changed.pcap"
grep -q 'changed.pcap: frame 10: ' "$stdout" || fail "$(<"$stdout")"

# The DDP version is wrong.
changed 1002 c2
expect 1 "$decode" "$folder/changed.pcap"
grep -q 'frame 10: FPDU of another DDP or RDMAP version' "$stdout" || fail "$(<"$stdout")"

# Frame 10 appears again after itself. As a retransmission it is no fault. At a later place of its
# stream (the third octet of its sequence number is octet 80 of the file) nobody can decode it.
part() { editcap -F pcap -r "$good" "$folder/part.$1" "$2"; }
joined() { mergecap -F pcap -a -w "$folder/joined.pcap" "$folder"/part.{1,2,3}; }
part 1 1-10
part 2 10
part 3 11-18
joined
expect 0 "$decode" "$folder/joined.pcap"
sequence=$(od -An -tu1 -j 80 -N 1 "$folder/part.2")
printf '%b' "$(printf '\\x%x' $(((sequence + 64) % 256)))" |
    dd of="$folder/part.2" bs=1 seek=80 conv=notrunc status=none
joined
expect 1 "$decode" "$folder/joined.pcap"
grep -q 'frame 11: 120 octets are no FPDU' "$stdout" || fail "$(<"$stdout")"

# Required content is missing: a file with a header only, and no file.
head -c 24 "$good" >"$folder/empty.pcap"
expect 1 "$decode" "$folder/empty.pcap"
expect 1 "$decode" "$good" "$folder/none.pcap"
