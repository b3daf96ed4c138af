# SPDX-License-Identifier: BSD-2-Clause
"""Errors between two queue pairs of one process, connected by hand, complete as on InfiniBand."""
import errno
import os
import select
import signal
import socket
import struct
import sys
import time
from types import SimpleNamespace

import pyverbs.cm_enums as ce
import pyverbs.enums as e
from pyverbs.addr import AHAttr, GlobalRoute
from pyverbs.cmid import CMID, AddrInfo
from pyverbs.cq import CQ, CompChannel
from pyverbs.device import Context
from pyverbs.mr import MR, MW, MWBind, MWBindInfo
from pyverbs.pd import PD
from pyverbs.pyverbs_error import PyverbsRDMAError
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.wr import SGE, RecvWR, SendWR

PSN = 5
PATIENCE = 20  # seconds

context = Context(name="uiwarp0")
zone = PD(context)
region = MR(zone, 4096, e.IBV_ACCESS_LOCAL_WRITE)


class Pair:
    """Two connected queue pairs, a and b, on one CQ, and optionally another CQ for receives."""

    def __init__(self, receives=None, connected=True):
        self.cq = CQ(context, 64)
        self.receives = receives or self.cq
        self.a = self.queue_pair()
        self.b = self.queue_pair()
        if not connected:
            return
        self.a.to_rts(self.attributes(self.b))
        self.b.to_rts(self.attributes(self.a))

    def queue_pair(self):
        caps = QPCap(8, 8, 2, 2)
        return QP(zone, QPInitAttr(qp_type=e.IBV_QPT_RC, scq=self.cq, rcq=self.receives, cap=caps), QPAttr(port_num=1))

    @staticmethod
    def attributes(peer):
        attributes = QPAttr(port_num=1)
        attributes.dest_qp_num = peer.qp_num
        route = GlobalRoute(dgid=context.query_gid(1, 0), sgid_index=0)
        attributes.ah_attr = AHAttr(gr=route, is_global=1, port_num=1)
        attributes.max_dest_rd_atomic = attributes.max_rd_atomic = 1
        attributes.path_mtu = e.IBV_MTU_1024
        attributes.rq_psn = attributes.sq_psn = PSN
        attributes.timeout, attributes.retry_cnt = 8, 3
        attributes.rnr_retry, attributes.min_rnr_timer = 7, 12
        return attributes

    def receive(self, queue, wr_id, length=64):
        queue.post_recv(RecvWR(wr_id=wr_id, num_sge=1, sg=[SGE(region.buf, length, region.lkey)]))

    def send(self, queue, wr_id, lkey=None):
        key = region.lkey if lkey is None else lkey
        queue.post_send(SendWR(wr_id=wr_id, num_sge=1, sg=[SGE(region.buf, 64, key)]))

    def expect(self, *wanted):
        """Waits for these completions (wr_id, status), in any order between the two ends."""
        end = time.monotonic() + PATIENCE
        found = []
        while len(found) < len(wanted) and time.monotonic() < end:
            found += [(wc.wr_id, wc.status) for wc in self.cq.poll(1)[1]]
        assert sorted(found) == sorted(wanted), f"{found} instead of {wanted}"
        return found


def state(queue):
    return queue.query(e.IBV_QP_STATE)[0].qp_state


def bad_lkey():
    pair = Pair()
    pair.send(pair.a, 1, lkey=0xDEAD)
    pair.expect((1, e.IBV_WC_LOC_PROT_ERR))
    assert state(pair.a) == e.IBV_QPS_ERR


def receives_are_flushed(pair, channel, status):
    """Request 1 fails. The CQ of the receives reports that 2 is flushed, though nobody polls the
    other CQ.
    """
    signal.alarm(PATIENCE)
    channel.get_cq_event(pair.receives)
    signal.alarm(0)
    pair.receives.ack_events(1)
    assert [(wc.wr_id, wc.status) for wc in pair.receives.poll(1)[1]] == [(2, e.IBV_WC_WR_FLUSH_ERR)]
    pair.expect((1, status))


def event_of_receives():
    channel = CompChannel(context)
    pair = Pair(CQ(context, 64, None, channel, 0))
    pair.receive(pair.a, 2)
    pair.receives.req_notify()
    pair.send(pair.a, 1, lkey=0xDEAD)
    receives_are_flushed(pair, channel, e.IBV_WC_LOC_PROT_ERR)


def event_without_connection():
    """The peer is gone. The request is posted during the attempt to connect, or after it."""
    for delay in (0, 0.2):
        channel = CompChannel(context)
        pair = Pair(CQ(context, 64, None, channel, 0), connected=False)
        low, high = sorted((pair.a, pair.b), key=lambda queue: queue.qp_num)
        attributes = pair.attributes(high)
        high.close()
        low.to_init(attributes)
        pair.receive(low, 2)
        pair.receives.req_notify()
        low.to_rts(attributes)
        time.sleep(delay)
        pair.send(low, 1)
        receives_are_flushed(pair, channel, e.IBV_WC_RETRY_EXC_ERR)


def descriptors():
    return {int(fd) for fd in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{fd}")}


def solicited_only():
    """A CQ armed for solicited events reports one of them at once, and no others."""
    before = descriptors()
    channel = CompChannel(context)
    (descriptor,) = descriptors() - before
    receives = CQ(context, 64, None, channel, 0)
    pair = Pair(receives)
    for wr_id in (2, 3):
        pair.receive(pair.b, wr_id)
    receives.req_notify(True)
    pair.send(pair.a, 1)
    pair.expect((1, e.IBV_WC_SUCCESS))  # the peer has it in its receive
    assert not select.select([descriptor], [], [], 0.1)[0]
    flags = e.IBV_SEND_SIGNALED | e.IBV_SEND_SOLICITED
    pair.a.post_send(SendWR(wr_id=4, num_sge=1, send_flags=flags, sg=[SGE(region.buf, 64, region.lkey)]))
    assert select.select([descriptor], [], [], PATIENCE)[0]
    channel.get_cq_event(receives)
    receives.ack_events(1)
    assert [wc.wr_id for wc in receives.poll(4)[1]] == [2, 3]
    pair.expect((4, e.IBV_WC_SUCCESS))


def bad_rkey():
    pair = Pair()
    write = SendWR(wr_id=1, num_sge=1, opcode=e.IBV_WR_RDMA_WRITE, sg=[SGE(region.buf, 64, region.lkey)])
    write.set_wr_rdma(0x1234, region.buf)
    pair.a.post_send(write)
    pair.expect((1, e.IBV_WC_REM_ACCESS_ERR))


def too_long():
    pair = Pair()
    pair.receive(pair.b, 2, length=16)
    pair.send(pair.a, 1)
    pair.expect((1, e.IBV_WC_REM_INV_REQ_ERR), (2, e.IBV_WC_LOC_LEN_ERR))


def receiver_not_ready():
    pair = Pair()
    pair.send(pair.a, 1)
    assert pair.cq.poll(1)[0] == 0
    pair.receive(pair.b, 2)
    pair.expect((1, e.IBV_WC_SUCCESS), (2, e.IBV_WC_SUCCESS))


def tries_are_over():
    """A Send without a receive fails after the sender's number of tries. Each lasts as long as the
    receiver asks.
    """
    for retries, timer in ((0, 31), (2, 20)):
        pair = Pair(connected=False)
        for queue, peer in ((pair.a, pair.b), (pair.b, pair.a)):
            attributes = pair.attributes(peer)
            attributes.rnr_retry, attributes.min_rnr_timer = retries, timer
            queue.to_rts(attributes)
        for sender in (pair.a, pair.b):
            pair.receive(sender, 2)
        pair.send(pair.a, 1)
        pair.send(pair.b, 3)
        pair.expect((1, e.IBV_WC_SUCCESS), (2, e.IBV_WC_SUCCESS), (2, e.IBV_WC_SUCCESS), (3, e.IBV_WC_SUCCESS))
        sender = pair.a if retries else pair.b
        pair.send(sender, 4)
        pair.expect((4, e.IBV_WC_RNR_RETRY_EXC_ERR))
        assert state(sender) == e.IBV_QPS_ERR


def peer_gone():
    pair = Pair()
    pair.receive(pair.b, 2)
    pair.send(pair.a, 1)
    pair.expect((1, e.IBV_WC_SUCCESS), (2, e.IBV_WC_SUCCESS))
    pair.b.close()
    pair.receive(pair.a, 4)
    pair.send(pair.a, 3)
    found = pair.expect((3, e.IBV_WC_RETRY_EXC_ERR), (4, e.IBV_WC_WR_FLUSH_ERR))
    assert found[0][0] == 3, f"flushed before the failure: {found}"


def error_by_hand():
    pair = Pair()
    pair.receive(pair.a, 1)
    pair.a.modify(QPAttr(qp_state=e.IBV_QPS_ERR), e.IBV_QP_STATE)
    pair.expect((1, e.IBV_WC_WR_FLUSH_ERR))
    pair.send(pair.a, 2)
    pair.expect((2, e.IBV_WC_WR_FLUSH_ERR))


def stranger(to_number, from_number, psn, kind=0):
    """Connects by hand, as docs and link/ofa_greeting.c describe it, like a stranger that has
    guessed the numbers.
    """
    greeting = b"itapi.ofa.hand\0\2" + struct.pack(
        ">4IQI", to_number, from_number, psn, psn, 1, e.IBV_QPT_RC << 8 | kind
    )
    peer = socket.create_connection(("127.0.0.1", to_number >> 8), PATIENCE)
    peer.sendall(b"MPA ID Req Frame" + struct.pack(">BBH", 0x40, 1, len(greeting)) + greeting)
    return peer


def is_rejected(peer):
    reply = peer.recv(20, socket.MSG_WAITALL)
    assert reply[:16] == b"MPA ID Rep Frame" and reply[16] & 0x20, reply
    peer.close()


def strangers_come_first():
    """They know the number of a queue pair in INIT, and more; the peer comes among them.

    The last ones know all that both ends know. But they do not listen on the port in the peer's number, and so
    cannot say which nonce they have connected with.
    """
    pair = Pair(connected=False)
    low, high = sorted((pair.a, pair.b), key=lambda queue: queue.qp_num)
    high.to_init(pair.attributes(low))
    strangers = [stranger(high.qp_num, low.qp_num, PSN + 1) for _ in range(6)]
    strangers += [stranger(high.qp_num, low.qp_num + 256, PSN) for _ in range(6)]
    time.sleep(0.1)
    low.to_rts(pair.attributes(high))
    time.sleep(0.1)
    strangers += [stranger(high.qp_num, low.qp_num, PSN) for _ in range(3)]
    time.sleep(0.1)
    high.to_rts(pair.attributes(low))
    pair.receive(high, 2)
    pair.send(low, 1)
    pair.expect((1, e.IBV_WC_SUCCESS), (2, e.IBV_WC_SUCCESS))
    for peer in strangers:
        is_rejected(peer)


def listen_above(port):
    """Returns a listening socket with a larger port."""
    listener = socket.socket()
    listener.settimeout(PATIENCE)
    for larger in range(65535, port, -1):
        try:
            listener.bind(("", larger))
            listener.listen()
            return listener
        except OSError:
            pass
    raise AssertionError("no port is free")


def knock_comes_first():
    """The other end asks a queue pair in INIT to connect. It does so in RTR, and needs no RTS."""
    pair = Pair(connected=False)
    with listen_above(pair.a.qp_num >> 8) as listener:
        peer = SimpleNamespace(qp_num=listener.getsockname()[1] << 8)
        pair.a.to_init(pair.attributes(peer))
        is_rejected(stranger(pair.a.qp_num, peer.qp_num, PSN, kind=1))
        pair.a.to_rtr(pair.attributes(peer))
        caller, _ = listener.accept()
        caller.settimeout(PATIENCE)
        request = caller.recv(68, socket.MSG_WAITALL)
        wanted = b"itapi.ofa.hand\0\2" + struct.pack(">2I", peer.qp_num, pair.a.qp_num)
        assert wanted in request, request
        caller.close()


def own_peer():
    """A queue pair connected to itself: its requests use its own receives, memory and windows."""
    pair = Pair(connected=False)
    queue = pair.a
    remote = e.IBV_ACCESS_REMOTE_WRITE | e.IBV_ACCESS_REMOTE_READ
    memory = MR(zone, 4096, e.IBV_ACCESS_LOCAL_WRITE | e.IBV_ACCESS_MW_BIND | remote)
    for _ in range(2):
        attributes = pair.attributes(queue)
        attributes.qp_access_flags = e.IBV_ACCESS_REMOTE_WRITE | e.IBV_ACCESS_REMOTE_READ
        queue.to_init(attributes)
        pair.receive(queue, 1)
        queue.to_rts(attributes)
        pair.send(queue, 2)
        pair.expect((1, e.IBV_WC_SUCCESS), (2, e.IBV_WC_SUCCESS))
        pair.send(queue, 3)
        assert pair.cq.poll(1)[0] == 0
        pair.receive(queue, 4)
        pair.expect((3, e.IBV_WC_SUCCESS), (4, e.IBV_WC_SUCCESS))
        memory.write("to myself", 9, 0)
        for wr_id, opcode in ((5, e.IBV_WR_RDMA_WRITE), (6, e.IBV_WR_RDMA_READ)):
            request = SendWR(wr_id=wr_id, num_sge=1, opcode=opcode, sg=[SGE(memory.buf, 9, memory.lkey)])
            request.set_wr_rdma(memory.rkey, memory.buf + 100)
            queue.post_send(request)
            pair.expect((wr_id, e.IBV_WC_SUCCESS))
        assert memory.read(9, 100) == b"to myself"
        for kind in (e.IBV_MW_TYPE_1, e.IBV_MW_TYPE_2):
            with MW(zone, kind) as window:
                info = MWBindInfo(memory, memory.buf + 200, 100, remote)
                if kind == e.IBV_MW_TYPE_2:
                    request = SendWR(wr_id=10, num_sge=0, opcode=e.IBV_WR_BIND_MW)
                    request.set_bind_wr(window, info)
                    queue.post_send(request)
                else:
                    queue.bind_mw(window, MWBind(info, e.IBV_SEND_SIGNALED, 10))
                pair.expect((10, e.IBV_WC_SUCCESS))
                request = SendWR(wr_id=11, num_sge=1, opcode=e.IBV_WR_RDMA_WRITE, sg=[SGE(memory.buf, 9, memory.lkey)])
                request.set_wr_rdma(window.rkey, memory.buf + 200 + kind)
                queue.post_send(request)
                pair.expect((11, e.IBV_WC_SUCCESS))
            assert memory.read(9, 200 + kind) == b"to myself"
        pair.receive(queue, 7)
        queue.modify(QPAttr(qp_state=e.IBV_QPS_ERR), e.IBV_QP_STATE)
        pair.send(queue, 8)
        pair.expect((7, e.IBV_WC_WR_FLUSH_ERR), (8, e.IBV_WC_WR_FLUSH_ERR))
        queue.modify(QPAttr(qp_state=e.IBV_QPS_RESET), e.IBV_QP_STATE)


def nobody_listens():
    """The port is tried for a while. A bound port that does not listen refuses."""
    with socket.socket() as quiet:
        quiet.bind(("127.0.0.1", 0))
        where = AddrInfo(
            dst="127.0.0.1", dst_service=str(quiet.getsockname()[1]), port_space=ce.RDMA_PS_TCP, flags=0
        )
        caller = CMID(creator=where, qp_init_attr=QPInitAttr(cap=QPCap(1, 1, 1, 1)))
        start = time.monotonic()
        try:
            caller.connect()
        except PyverbsRDMAError as error:
            assert error.error_code == errno.ECONNREFUSED, error
            assert time.monotonic() - start > 0.2
        else:
            raise AssertionError("connected to nobody")


cases = (bad_lkey, event_of_receives, event_without_connection, bad_rkey, too_long, receiver_not_ready)
cases += (solicited_only, strangers_come_first, knock_comes_first, tries_are_over, peer_gone, error_by_hand)
cases += (own_peer, nobody_listens)
for case in cases:
    print(case.__name__, flush=True)
    case()
sys.exit(0)
