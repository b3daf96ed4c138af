# SPDX-License-Identifier: BSD-2-Clause
"""Queue pairs of type UD: which one gets a datagram, what comes with it, and what happens if it
cannot be delivered.
"""
import os
import select
import socket
import struct
import sys
import time

import pyverbs.enums as e
from pyverbs.addr import AH, AHAttr, GID, GlobalRoute
from pyverbs.cq import CQ, CompChannel
from pyverbs.device import Context
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.pyverbs_error import PyverbsRDMAError
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.wr import SGE, RecvWR, SendWR

PATIENCE = 20  # seconds
SHORT = 0.2  # in which what is lost would have come
QKEY = 0x1234
GRH = 40
MTU = 4096
PLACES = 64
PLACE = GRH + MTU + 1

context = Context(name="uiwarp0")
zone = PD(context)
region = MR(zone, PLACES * PLACE, e.IBV_ACCESS_LOCAL_WRITE)


def handle(gid=None, **options):
    """Returns an address handle for the peer with this GID, by default this host's first one."""
    route = GlobalRoute(dgid=gid or context.query_gid(1, 0), sgid_index=options.pop("sgid_index", 0), **options)
    return AH(zone, attr=AHAttr(gr=route, is_global=1, port_num=1))


def descriptors():
    return {int(fd) for fd in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{fd}")}


class End:
    """A queue pair in RTS with its CQ."""

    def __init__(self, qkey=QKEY, channel=None, depth=PLACES):
        self.cq = CQ(context, 2 * PLACES, None, channel, 0)
        caps = QPCap(depth, depth, 2, 2, 64)
        init = QPInitAttr(qp_type=e.IBV_QPT_UD, scq=self.cq, rcq=self.cq, cap=caps, sq_sig_all=0)
        attributes = QPAttr(port_num=1)
        attributes.qkey = qkey
        self.qp = QP(zone, init, attributes)  # which moves it to RTS

    def receive(self, place, length=PLACE):
        """Posts a receive whose number is that of its place in the region."""
        self.qp.post_recv(RecvWR(wr_id=place, num_sge=1, sg=[SGE(region.buf + place * PLACE, length, region.lkey)]))

    def send(self, peer, data=b"", place=0, **options):
        """Sends from a place in the region, unsignalled by default."""
        region.write(data, len(data), place * PLACE)
        segment = SGE(region.buf + place * PLACE, len(data), options.get("lkey", region.lkey))
        request = SendWR(
            wr_id=1000 + place,
            num_sge=1,
            sg=[segment],
            opcode=options.get("opcode", e.IBV_WR_SEND),
            send_flags=options.get("flags", 0),
            imm_data=options.get("immediate", 0),
        )
        request.set_wr_ud(options.get("ah") or handle(), options.get("number", peer.qp.qp_num), options.get("qkey", QKEY))
        self.qp.post_send(request)

    def completion(self, patience=PATIENCE):
        """Returns the next completion, or None."""
        end = time.monotonic() + patience
        while time.monotonic() < end:
            count, found = self.cq.poll(1)
            if count:
                return found[0]
        return None

    def state(self):
        return self.qp.query(e.IBV_QP_STATE)[0].qp_state


def payload(completion):
    """Returns the octets after the header in the receive's place."""
    return region.read(completion.byte_len - GRH, completion.wr_id * PLACE + GRH)


def message_with_all():
    """Checks payload, numbers, immediate data and the IPv4 header."""
    one, other = End(), End()
    other.receive(5)
    one.send(other, b"datagram", opcode=e.IBV_WR_SEND_WITH_IMM, immediate=0x01020304, flags=e.IBV_SEND_SIGNALED)
    assert one.completion().opcode == e.IBV_WC_SEND
    found = other.completion()
    assert (found.status, found.opcode, found.wr_id) == (e.IBV_WC_SUCCESS, e.IBV_WC_RECV, 5)
    assert found.wc_flags == e.IBV_WC_GRH | e.IBV_WC_WITH_IMM
    assert (found.qp_num, found.src_qp, found.imm_data) == (other.qp.qp_num, one.qp.qp_num, 0x01020304)
    assert payload(found) == b"datagram"
    header = region.read(GRH, 5 * PLACE)
    assert header[:20] == bytes(20) and header[20] == 0x45 and header[29] == socket.IPPROTO_UDP, header
    assert header[32:36] == header[36:40] != bytes(4)
    total = sum(struct.unpack("!10H", header[20:]))
    assert (total & 0xFFFF) + (total >> 16) == 0xFFFF, "the checksum is wrong"


def answer(gid=None, **options):
    """An address handle made from a completion and its header leads back to the sender."""
    one, other = End(), End()
    other.receive(1)
    one.receive(2)
    one.send(other, b"question", ah=handle(gid, **options))
    found = other.completion()
    back = AH(zone, wc=found, grh=region.buf + PLACE, port_num=1)
    other.send(one, b"answer", place=3, ah=back, number=found.src_qp)
    assert payload(one.completion()) == b"answer"


def answer_by_ipv6():
    gids = [context.query_gid(1, index) for index in range(context.query_port(1).gid_tbl_len)]
    own = [index for index, gid in enumerate(gids) if not str(gid).startswith("0000:0000:0000:0000:0000:ffff")]
    if own:
        answer(gids[own[-1]], sgid_index=own[-1])
        assert region.read(1, PLACE)[0] >> 4 == 6


def sizes():
    """Sends messages from nothing to the MTU, also inline. One octet more is an error of the
    sender alone.
    """
    one, other = End(), End()
    for length in (0, 1, MTU - 1, MTU):
        other.receive(1)
        one.send(other, bytes(range(256)) * 16 if length == MTU else b"x" * length)
        found = other.completion()
        assert found.byte_len == GRH + length
    other.receive(1)
    one.send(other, b"inline", flags=e.IBV_SEND_INLINE, lkey=0xDEAD)
    assert payload(other.completion()) == b"inline"
    other.receive(1)
    fails(one, other, e.IBV_WC_LOC_LEN_ERR, bytes(MTU + 1))
    assert other.completion(SHORT) is None


def fails(one, other, status, data, **options):
    """A request that cannot be sent: later ones are flushed, receives stay, and the queue pair can
    go to RTS again.
    """
    one.receive(9)
    one.send(other, data, **options)
    one.send(other, b"behind", place=1)
    assert [(found.wr_id, found.status) for found in (one.completion(), one.completion())] == [
        (1000, status),
        (1001, e.IBV_WC_WR_FLUSH_ERR),
    ]
    assert one.state() == e.IBV_QPS_SQE
    one.qp.modify(QPAttr(qp_state=e.IBV_QPS_RTS), e.IBV_QP_STATE)
    other.send(one, b"still there", place=2)
    assert payload(one.completion()) == b"still there"


def bad_lkey():
    fails(End(), End(), e.IBV_WC_LOC_PROT_ERR, b"data", lkey=0xDEAD)


def short_receive():
    """The receive has no room for the header, as in programs that forget it."""
    one, other = End(), End()
    other.receive(1, GRH + 7)
    other.receive(2)
    one.send(other, b"datagram")
    found = [other.completion(), other.completion()]
    assert [(one.wr_id, one.status) for one in found] == [(1, e.IBV_WC_LOC_LEN_ERR), (2, e.IBV_WC_WR_FLUSH_ERR)]
    assert other.state() == e.IBV_QPS_ERR


def lost():
    """A datagram for another queue pair, or without a receive, is dropped without an event."""
    one, other, third = End(), End(), End(qkey=QKEY + 1)
    for end in (other, third):
        end.receive(1)
    one.send(other, b"wrong Q_Key", qkey=QKEY + 1, flags=e.IBV_SEND_SIGNALED)
    one.send(other, b"wrong number", number=other.qp.qp_num + 7, flags=e.IBV_SEND_SIGNALED)
    one.send(other, b"other port", number=(other.qp.qp_num + 256) & 0xFFFFFF, flags=e.IBV_SEND_SIGNALED)
    one.send(third, b"wrong Q_Key", flags=e.IBV_SEND_SIGNALED)
    for _ in range(4):
        assert one.completion().status == e.IBV_WC_SUCCESS
    assert other.completion(SHORT) is None and third.completion(SHORT) is None
    one.send(third, b"right", qkey=QKEY + 1)
    assert payload(third.completion()) == b"right"
    one.send(third, b"no receive", qkey=QKEY + 1)
    assert third.completion(SHORT) is None
    third.receive(2)
    assert third.completion(SHORT) is None


def key_of_queue_pair():
    """A Q_Key whose first bit is set means the Q_Key of the sender's queue pair."""
    one, other = End(), End()
    other.receive(1)
    one.send(other, b"own key", qkey=0x80000000)
    assert payload(other.completion()) == b"own key"


def stranger():
    """A stranger without a queue pair guesses the Q_Key or the number, or forges another sender."""
    one, other = End(), End()
    port, own = other.qp.qp_num >> 8, one.qp.qp_num
    peer = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    peer.bind(("127.0.0.1", 0))
    peer.settimeout(PATIENCE)
    here = peer.getsockname()[1] << 8

    def packet(number, source, qkey, version=1, kind=1, flags=4, data=b"data"):
        return struct.pack("!4s4B5I", b"itUD", version, kind, flags, 0, number, source, qkey, 0, 8) + data

    right = packet(other.qp.qp_num, here, QKEY)
    wrong = [
        b"",
        right[:27],
        packet(other.qp.qp_num, here, QKEY + 1),
        packet(other.qp.qp_num + 1, here, QKEY),
        packet(other.qp.qp_num ^ 0x10000, here, QKEY),
        packet(other.qp.qp_num | 0x55000000, here, QKEY),
        packet(other.qp.qp_num, own, QKEY),
        packet(other.qp.qp_num, here, QKEY, version=2),
        packet(other.qp.qp_num, here, QKEY, kind=3),
        packet(other.qp.qp_num, here, QKEY, kind=2),
        packet(other.qp.qp_num, here, QKEY, flags=0x84),
        packet(other.qp.qp_num, here, QKEY, data=bytes(MTU + 1)),
    ]
    other.receive(1)
    for data in wrong:
        peer.sendto(data, ("127.0.0.1", port))
    assert other.completion(SHORT) is None
    peer.sendto(right, ("127.0.0.1", port))
    assert payload(other.completion()) == b"data"
    answers = [peer.recv(100) for _ in range(3)]  # the socket has them: that is all that they say
    assert all(len(answer) == 28 and answer[5] == 2 for answer in answers), answers
    peer.close()


def silent_peer():
    """The peer acknowledges nothing. Datagrams beyond the number that may be in transit are lost
    soon.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as quiet:
        quiet.bind(("0.0.0.0", 0))
        number = quiet.getsockname()[1] << 8
        one = End()
        for place in range(PLACES):
            one.send(one, b"lost", place=place, number=number, flags=e.IBV_SEND_SIGNALED)
        start = time.monotonic()
        for _ in range(PLACES):
            assert one.completion().status == e.IBV_WC_SUCCESS
        assert time.monotonic() - start < 5


def no_loss():
    """Many datagrams are sent at once by a sender that never polls."""
    one, other = End(depth=PLACES), End()
    for place in range(PLACES):
        other.receive(place)
    for turn in range(8):
        for place in range(PLACES):
            one.send(other, bytes([turn]) * MTU, place=place)
        for place in range(PLACES):
            found = other.completion()
            assert found and found.wr_id == place
            other.receive(place)


def waiting(port):
    """Returns the octets that the sockets of this port hold."""
    rows = [line.split() for name in ("udp", "udp6") for line in open(f"/proc/net/{name}")]
    return sum(int(row[4].split(":")[1], 16) for row in rows if row[1].endswith(f":{port:04X}"))


def taken_without_poll():
    """As on a device, receives are filled while their program does something else."""
    one, other = End(), End()
    for place in range(8):
        other.receive(place)
        one.send(other, b"datagram", place=place)
    end = time.monotonic() + PATIENCE
    while waiting(other.qp.qp_num >> 8) and time.monotonic() < end:
        time.sleep(0.01)
    assert not waiting(other.qp.qp_num >> 8), "nobody takes them"
    other.qp.modify(QPAttr(qp_state=e.IBV_QPS_ERR), e.IBV_QP_STATE)
    assert [other.completion().status for _ in range(8)] == 8 * [e.IBV_WC_SUCCESS]


def events():
    """An armed CQ reports a datagram. Armed for solicited ones it reports only those."""
    before = descriptors()
    channel = CompChannel(context)
    (descriptor,) = descriptors() - before
    one, other = End(), End(channel=channel)
    for solicited in (False, True):
        other.cq.req_notify(solicited)
        for place, flags in enumerate((0, e.IBV_SEND_SOLICITED) if solicited else (0,)):
            other.receive(place)
            one.send(other, b"datagram", place=10 + place, flags=flags)
        assert select.select([descriptor], [], [], PATIENCE)[0]
        channel.get_cq_event(other.cq)
        other.cq.ack_events(1)
        assert other.completion()
    other.cq.req_notify(True)
    other.receive(1)
    one.send(other, b"datagram")
    assert not select.select([descriptor], [], [], SHORT)[0]
    assert other.completion()


def states():
    """Receives are flushed in ERR and forgotten in RESET. Before RTR nothing is received."""
    one, other = End(), End()
    other.receive(1)
    other.qp.modify(QPAttr(qp_state=e.IBV_QPS_ERR), e.IBV_QP_STATE)
    other.receive(2)
    other.send(one, b"flushed")
    found = sorted((found.wr_id, found.status) for found in (other.completion() for _ in range(3)))
    assert found == [(1, e.IBV_WC_WR_FLUSH_ERR), (2, e.IBV_WC_WR_FLUSH_ERR), (1000, e.IBV_WC_WR_FLUSH_ERR)]
    other.receive(3)
    other.qp.modify(QPAttr(qp_state=e.IBV_QPS_RESET), e.IBV_QP_STATE)
    assert other.completion(SHORT) is None
    attributes = QPAttr(port_num=1)
    attributes.qkey = QKEY
    other.qp.to_init(attributes)
    other.receive(4)
    one.send(other, b"too early")
    assert other.completion(SHORT) is None
    refused(lambda: other.send(one, b"in INIT"))
    attributes.qp_state = e.IBV_QPS_RTR
    other.qp.modify(attributes, e.IBV_QP_STATE)
    one.send(other, b"in RTR")
    assert payload(other.completion()) == b"in RTR"


def refused(call):
    try:
        call()
    except PyverbsRDMAError:
        return
    raise AssertionError("not refused")


def wrong_use():
    one = End()
    refused(lambda: one.send(one, b"write", opcode=e.IBV_WR_RDMA_WRITE))
    refused(lambda: one.send(one, bytes(MTU), flags=e.IBV_SEND_INLINE))
    refused(lambda: handle(GID("0000:" * 7 + "0000")))
    refused(lambda: handle(sgid_index=31))
    for _ in range(PLACES):
        one.receive(0)
    refused(lambda: one.receive(0))


def many():
    """Makes more queue pairs than a port has numbers for."""
    ends = [End(depth=1) for _ in range(300)]
    assert len({end.qp.qp_num for end in ends}) == 300
    ends[299].receive(1)
    ends[0].send(ends[299], b"far")
    assert payload(ends[299].completion()) == b"far"


cases = (message_with_all, answer, answer_by_ipv6, sizes, bad_lkey, short_receive, lost, key_of_queue_pair, stranger)
cases += (silent_peer, no_loss, taken_without_poll, events, states, wrong_use, many)
for case in cases:
    print(case.__name__, flush=True)
    case()
sys.exit(0)
