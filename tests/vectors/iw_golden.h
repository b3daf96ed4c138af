/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Complete TCP payloads of known iWARP conversations (RFC 5044, 6581, 5041, 5040, 7306), one row
 * per TCP segment, with the frame's number in its capture. from: I initiator, R responder.
 * Connection F carries the two FPDUs whose CRCs RFC 5044 prints; connection s is a Terminate in the
 * order of the RFC, then in that of Linux siw.
 */
#ifndef ITAPI_TESTS_VECTORS_IW_GOLDEN_H
#define ITAPI_TESTS_VECTORS_IW_GOLDEN_H

struct iw_golden {
    char connection;
    unsigned frame;
    char from;
    const char *what;
    const char *hex;
};

static const struct iw_golden iw_golden[] = {
    /* A: MPA revision 2 (enhanced), CRC, all RDMAP operations, protection error */
    {'A', 4, 'I', "MPA Request v2: C=1 S=1, IRD 8, ORD 4, private data golden-req",
     "4d504120 49442052 65712046 72616d65 5002000e 00080004 676f6c64 656e2d72 6571"},
    {'A', 6, 'R', "MPA Reply v2: C=1 S=1, IRD 4, ORD 8, private data golden-rep",
     "4d504120 49442052 65702046 72616d65 5002000e 00040008 676f6c64 656e2d72 6570"},
    {'A', 8, 'I', "Send, QN 0, MSN 1, MO 0, 51 octets, pad 1",
     "00454143 00000000 00000000 00000001 00000000 68656c6c 6f2c2069 57415250 21205468 "
     "69732053 656e6420 63617272 69657320 3531206f 63746574 73206f66 20706179 6c6f6100 "
     "8a6f56b6"},
    {'A', 10, 'R', "Send with SE, QN 0, MSN 1, 40 octets, pad 0",
     "003a4145 00000000 00000000 00000001 00000000 616e7377 65722077 69746820 536f6c69 "
     "63697465 64204576 656e742c 20343020 6f637465 74732e2e 6a1b9041"},
    {'A', 12, 'I', "RDMA Write, STag 11223344, TO 10002000, 21 octets, pad 3",
     "0023c140 11223344 00000000 10002000 30313233 34353637 38393a3b 3c3d3e3f 40414243 "
     "44000000 3a9ad0e2"},
    {'A', 14, 'I', "RDMA Read Request, QN 1, MSN 1: sink AABBCC01/7f0000001000, size 16, source...",
     "002e4141 00000000 00000001 00000001 00000000 aabbcc01 00007f00 00001000 00000010 "
     "55667788 00000000 00000040 aaa864e5"},
    {'A', 16, 'R', "RDMA Read Response, STag AABBCC01, TO 7f0000001000, 16 octets, pad 0",
     "001ec142 aabbcc01 00007f00 00001000 72656164 2d726573 706f6e73 652d3136 2feda857"},
    {'A', 18, 'I', "Send with Invalidate of 55667788, MSN 2, 42 octets",
     "003c4144 55667788 00000000 00000002 00000000 706c6561 73652069 6e76616c 69646174 "
     "65203535 36363737 38382c20 666f7274 792d7477 6f206f63 742e0000 773f14f4"},
    {'A', 20, 'R', "Send with SE and Invalidate of AABBCC01, MSN 2, 42 octets",
     "003c4146 aabbcc01 00000000 00000002 00000000 696e7661 6c696461 74652041 41424243 "
     "43303120 616e6420 72616973 6520616e 20657665 6e742e2e 2e2e0000 742d8627"},
    {'A', 22, 'I', "Send MSN 3, segment 1 of 2: L=0, MO 0, 64 octets",
     "00520143 00000000 00000000 00000003 00000000 00070e15 1c232a31 383f464d 545b6269 "
     "70777e85 8c939aa1 a8afb6bd c4cbd2d9 e0e7eef5 fc030a11 181f262d 343b4249 50575e65 "
     "6c737a81 888f969d a4abb2b9 fb982275"},
    {'A', 24, 'I', "Send MSN 3, segment 2 of 2: L=1, MO 64, 36 octets",
     "00364143 00000000 00000000 00000003 00000040 c0c7ced5 dce3eaf1 f8ff060d 141b2229 "
     "30373e45 4c535a61 686f767d 848b9299 a0a7aeb5 2378fabb"},
    {'A', 26, 'I', "RDMA Write of length 0 (STag and TO are not checked)",
     "000ec140 00000000 00000000 00000000 a30572ab"},
    {'A', 28, 'I', "two FPDUs in one TCP segment: RDMA Write L=0 (32 octets) then L=1 (8 octets)",
     "002e8140 11223344 00000000 10002000 00000000 00000000 00000000 00000000 00000000 "
     "00000000 00000000 00000000 36ae4790 0016c140 11223344 00000000 10002020 00000000 "
     "00000000 a2361c53"},
    {'A', 30, 'I', "first 11 octets of an FPDU (Send MSN 4) - tshark shows it with the next frame",
     "00414143 00000000 000000"},
    {'A', 32, 'I', "the rest of that FPDU",
     "00000000 04000000 00746869 73204650 44552069 73206375 7420696e 746f2074 776f2054 "
     "43502073 65676d65 6e74732c 20343720 6f637473 00d71af4 b1"},
    {'A', 34, 'I', "RDMA Write to an STag that does not exist (DEADBEEF)",
     "001ec140 deadbeef 00000000 00001234 746f2061 20626164 20535461 672e2e2e 492cbf9c"},
    {'A', 36, 'R', "Terminate: layer DDP, Tagged Buffer Error, Invalid STag; M=1 D=1 R=0; DDP s...",
     "00264147 00000000 00000002 00000001 00000000 1100c000 001ec140 deadbeef 00000000 "
     "00001234 ffde6f55"},
    /* B: MPA revision 1, CRC, no private data */
    {'B', 44, 'I', "MPA Request v1: C=1, PD_Length 0",
     "4d504120 49442052 65712046 72616d65 40010000"},
    {'B', 46, 'R', "MPA Reply v1: C=1, PD_Length 0",
     "4d504120 49442052 65702046 72616d65 40010000"},
    {'B', 48, 'I', "Send MSN 1, 44 octets",
     "003e4143 00000000 00000000 00000001 00000000 72657669 73696f6e 206f6e65 2053656e "
     "642c2069 6e697469 61746f72 20676f65 73206669 7273742e 2e2e2e2e bcd8093b"},
    {'B', 50, 'R', "Send MSN 1, 44 octets",
     "003e4143 00000000 00000000 00000001 00000000 616e6420 6f6e6c79 206e6f77 206d6179 "
     "20746865 20726573 706f6e64 65722073 656e6420 46504455 732e2e2e e35bd861"},
    {'B', 52, 'I', "RDMA Read Request for a source STag that the peer may not read",
     "002e4141 00000000 00000001 00000001 00000000 01020304 00000000 00000000 00001000 "
     "99999999 00000000 00000000 ca9e43b4"},
    {'B', 54, 'R', "Terminate: layer RDMAP, Remote Protection Error, Access violation; M=1 D=1 ...",
     "00464147 00000000 00000002 00000001 00000000 0102e000 002e4141 00000000 00000001 "
     "00000001 00000000 01020304 00000000 00000000 00001000 99999999 00000000 00000000 "
     "3ffa9edf"},
    /* C: revision 2, peer-to-peer, RTR = zero-length RDMA Read, responder sends first data */
    {'C', 62, 'I', "MPA Request v2: A=1 B=1 C=1 D=1, IRD 1, ORD 1 (all three RTR kinds offered)",
     "4d504120 49442052 65712046 72616d65 50020004 c001c001"},
    {'C', 64, 'R', "MPA Reply v2: A=1 B=0 C=0 D=1: RTR is the zero-length Read",
     "4d504120 49442052 65702046 72616d65 50020004 80014001"},
    {'C', 66, 'I', "RTR: RDMA Read Request of length 0, MSN 1",
     "002e4141 00000000 00000001 00000001 00000000 00000000 00000000 00000000 00000000 "
     "00000000 00000000 00000000 f2c6dd3d"},
    {'C', 68, 'R', "RDMA Read Response of length 0",
     "000ec142 00000000 00000000 00000000 6975d6ca"},
    {'C', 70, 'R', "Send R->I, MSN 1, 44 octets",
     "003e4143 00000000 00000000 00000001 00000000 74686520 72657370 6f6e6465 72206973 "
     "20666972 73742074 6f207365 6e642075 73657220 64617461 2e2e2e2e f674b393"},
    /* D: revision 2, rejected, automatic IRD/ORD negotiation declined (3FFF) */
    {'D', 78, 'I', "MPA Request v2: IRD 3FFF, ORD 3FFF",
     "4d504120 49442052 65712046 72616d65 50020004 3fff3fff"},
    {'D', 80, 'R', "MPA Reply v2: R=1, private data no",
     "4d504120 49442052 65702046 72616d65 70020006 3fff3fff 6e6f"},
    /* E: revision 2, CRC not used by either side: CRC field is zero and not checked */
    {'E', 88, 'I', "MPA Request v2: C=0 (bytes 16-19: 10 02 00 04)",
     "4d504120 49442052 65712046 72616d65 10020004 00010001"},
    {'E', 90, 'R', "MPA Reply v2: C=0", "4d504120 49442052 65702046 72616d65 10020004 00010001"},
    {'E', 92, 'I', "Send MSN 1, 44 octets, CRC field 0",
     "003e4143 00000000 00000000 00000001 00000000 6e6f2043 5243206f 6e207468 69732063 "
     "6f6e6e65 6374696f 6e2c2066 69656c64 20697320 7a65726f 2e2e2e2e 00000000"},
    /* F: revision 1, CRC and markers in both directions */
    {'F', 100, 'I', "MPA Request v1: M=1 C=1", "4d504120 49442052 65712046 72616d65 c0010000"},
    {'F', 102, 'R', "MPA Reply v1: M=1 C=1", "4d504120 49442052 65702046 72616d65 c0010000"},
    {'F', 104, 'I', "marker (0) + Send MSN 1 of 24 zero octets; CRC 52 23 99 83 as in RFC 5044",
     "00000000 002a4143 00000000 00000000 00000001 00000000 00000000 00000000 00000000 "
     "00000000 00000000 00000000 52239983"},
    {'F', 106, 'I', "RDMA Write of 420 octets: filler up to stream position 1EC",
     "01b2c140 11223344 00000000 00000000 00010203 04050607 08090a0b 0c0d0e0f 10111213 "
     "14151617 18191a1b 1c1d1e1f 20212223 24252627 28292a2b 2c2d2e2f 30313233 34353637 "
     "38393a3b 3c3d3e3f 40414243 44454647 48494a4b 4c4d4e4f 50515253 54555657 58595a5b "
     "5c5d5e5f 60616263 64656667 68696a6b 6c6d6e6f 70717273 74757677 78797a7b 7c7d7e7f "
     "80818283 84858687 88898a8b 8c8d8e8f 90919293 94959697 98999a9b 9c9d9e9f a0a1a2a3 "
     "a4a5a6a7 a8a9aaab acadaeaf b0b1b2b3 b4b5b6b7 b8b9babb bcbdbebf c0c1c2c3 c4c5c6c7 "
     "c8c9cacb cccdcecf d0d1d2d3 d4d5d6d7 d8d9dadb dcdddedf e0e1e2e3 e4e5e6e7 e8e9eaeb "
     "ecedeeef f0f1f2f3 f4f5f6f7 f8f9fafb fcfdfeff 00010203 04050607 08090a0b 0c0d0e0f "
     "10111213 14151617 18191a1b 1c1d1e1f 20212223 24252627 28292a2b 2c2d2e2f 30313233 "
     "34353637 38393a3b 3c3d3e3f 40414243 44454647 48494a4b 4c4d4e4f 50515253 54555657 "
     "58595a5b 5c5d5e5f 60616263 64656667 68696a6b 6c6d6e6f 70717273 74757677 78797a7b "
     "7c7d7e7f 80818283 84858687 88898a8b 8c8d8e8f 90919293 94959697 98999a9b 9c9d9e9f "
     "a0a1a2a3 4596d235"},
    {'F', 108, 'I',
     "Send MSN 2 of 24 zero octets with a marker inside (position 200, FPDUPTR 00...",
     "002a4143 00000000 00000000 00000002 00000000 00000014 00000000 00000000 00000000 "
     "00000000 00000000 00000000 84925898"},
    {'F', 110, 'R', "R->I: marker (0) + Send MSN 1 of 24 zero octets",
     "00000000 002a4143 00000000 00000000 00000001 00000000 00000000 00000000 00000000 "
     "00000000 00000000 00000000 52239983"},
    /* G: RFC 7306 atomics and immediate data */
    {'G', 118, 'I', "MPA Request v2", "4d504120 49442052 65712046 72616d65 50020004 00020002"},
    {'G', 120, 'R', "MPA Reply v2", "4d504120 49442052 65702046 72616d65 50020004 00020002"},
    {'G', 122, 'I', "Atomic Request FetchAdd: id 01010101, STag 22334455, TO 40, add 5",
     "0046414a 00000000 00000001 00000001 00000000 00000000 01010101 22334455 00000000 "
     "00000040 00000000 00000005 00000000 00000000 00000000 00000000 ffffffff ffffffff "
     "6db9645c"},
    {'G', 124, 'R', "Atomic Response: id 01010101, original value 1000",
     "001e414b 00000000 00000003 00000001 00000000 01010101 00000000 00001000 2c0f6dd1"},
    {'G', 126, 'I', "Atomic Request CmpSwap: swap 77 if equal 1005, full masks",
     "0046414a 00000000 00000001 00000002 00000000 00000002 01010102 22334455 00000000 "
     "00000040 00000000 00000077 ffffffff ffffffff 00000000 00001005 ffffffff ffffffff "
     "13f768bd"},
    {'G', 128, 'R', "Atomic Response: original value 1005",
     "001e414b 00000000 00000003 00000002 00000000 01010102 00000000 00001005 f8731e1d"},
    {'G', 130, 'I', "Immediate Data (opcode 8), QN 0 MSN 1",
     "001a4148 00000000 00000000 00000001 00000000 11223344 55667788 fa7ee097"},
    {'G', 132, 'I', "Immediate Data with SE (opcode 9), QN 0 MSN 2",
     "001a4149 00000000 00000000 00000002 00000000 99aabbcc ddeeff00 7c547a8b"},
    /* H: revision 2, responder wants ORD 4 but the initiator has IRD 2 */
    {'H', 140, 'I', "MPA Request v2: IRD 2, ORD 2",
     "4d504120 49442052 65712046 72616d65 50020004 00020002"},
    {'H', 142, 'R', "MPA Reply v2: IRD 2, ORD 4",
     "4d504120 49442052 65702046 72616d65 50020004 00020004"},
    {'H', 144, 'I', "Terminate: layer LLP, MPA error, Insufficient IRD; no headers",
     "00164147 00000000 00000002 00000001 00000000 20060000 6540fb1b"},
    /* siw quirk: Terminate for DDP / untagged / no buffer, RFC encoding then siw encoding */
    {'s', 4, 'I', "MPA Request v2", "4d504120 49442052 65712046 72616d65 10020004 00010001"},
    {'s', 6, 'R', "MPA Reply v2", "4d504120 49442052 65702046 72616d65 10020004 00010001"},
    {'s', 8, 'I', "Send MSN 1 that finds no receive buffer",
     "003e4143 00000000 00000000 00000001 00000000 6e6f2072 65636569 76652062 75666665 "
     "72206973 20706f73 74656420 666f7220 74686973 2053656e 642e2e2e 00000000"},
    {'s', 10, 'R', "RFC 5040 encoding: 12 02 c0 00",
     "002a4147 00000000 00000002 00000001 00000000 1202c000 003e4143 00000000 00000000 "
     "00000001 00000000 00000000"},
    {'s', 12, 'R', "siw on a little-endian host: 21 02 03 00, segment length counts payload only",
     "002a4147 00000000 00000002 00000001 00000000 21020300 002c4143 00000000 00000000 "
     "00000001 00000000 00000000"},
};

#endif
