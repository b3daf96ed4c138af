#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# demo.sh [MIB]: the sample "convert" on both sides of this machine, with a file of 256 MiB or as
# many as asked for. CONVERT names the program if it is elsewhere than in build/bin.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/common/server.bash"

convert=${CONVERT:-$here/../build/bin/convert}
mib=${1:-256}

say() { printf '\n%s\n' "$*"; }

[ -x "$convert" ] || fail "$convert is not built"
[[ $mib =~ ^[0-9]+$ ]] || fail "usage: demo.sh [MIB]"

say "1. A file of $mib MiB of random data is made, and a server is started."
head -c "${mib}M" /dev/urandom >"$folder/random.bin"
start_server "$convert" server --port 0 --once
echo "   The server listens on TCP port $port. No RDMA device is in this game."

say "2. A client talks to it in lines of text over TCP (-> client, <- server), then both turn that
   very connection into an RDMA connection. The client writes the file into the server's memory by
   RDMA Write, and reads it back from there by RDMA Read. The client says:"
echo
"$convert" client localhost "$port" "$folder/random.bin" || fail 'the client failed'
wait_server || fail 'the server failed'

say "3. The server says (-> server, <- client):"
echo
sed '1d;/^$/d' "$folder/server.log"

say "4. A look at the file itself, with sha256sum:"
digest=$(sha256sum <"$folder/random.bin" | cut -d ' ' -f 1)
echo "   $digest"
grep -q "SHA-256 of the data received: $digest" "$folder/server.log" ||
    fail 'the server received something else'

say "So a live TCP connection changed to RDMA in mid-stream and moved $mib MiB there and back; the
SHA-256 of the file, of the server's memory and of what was read back are equal. While the client
read, the server's program was computing and made no call: RDMA does not need it."

say "What to do next:
   docs/tutorial.md      an echo server on sockets becomes RDMA, in six programs
   samples/README.md     programs to start from, one idea each
   docs/install.md       install the library, and compile with it
   ./dev perf            measure this machine"
