-- SPDX-License-Identifier: BSD-2-Clause
-- iSER on iWARP for Wireshark and tshark, which know iSER on InfiniBand only: tshark -X lua_script:iser.lua ...
-- Takes what iWARP's dissector finds in Sends, shows the iSER header (RFC 7145 9) and hands the PDU to that of iSCSI.

local iser = Proto("iser_iwarp", "iSER on iWARP")
local header_octets, bhs_octets = 28, 48
local kinds = { [1] = "control", [2] = "Hello", [3] = "HelloReply" }
-- Of PDUs that a Send may carry.
local opcodes = { [0x00] = true, [0x01] = true, [0x02] = true, [0x03] = true, [0x04] = true, [0x05] = true,
    [0x06] = true, [0x20] = true, [0x21] = true, [0x22] = true, [0x23] = true, [0x24] = true, [0x26] = true,
    [0x32] = true, [0x3f] = true }

local kind = ProtoField.uint8("iser_iwarp.kind", "Kind", base.DEC, kinds, 0xf0)
local write_valid = ProtoField.bool("iser_iwarp.wsv", "Write STag valid", 8, nil, 0x08)
local read_valid = ProtoField.bool("iser_iwarp.rsv", "Read STag valid", 8, nil, 0x04)
local write_stag = ProtoField.uint32("iser_iwarp.write_stag", "Write STag", base.HEX)
local write_base = ProtoField.uint64("iser_iwarp.write_base", "Write Base Offset", base.HEX)
local read_stag = ProtoField.uint32("iser_iwarp.read_stag", "Read STag", base.HEX)
local read_base = ProtoField.uint64("iser_iwarp.read_base", "Read Base Offset", base.HEX)
local reject = ProtoField.bool("iser_iwarp.reject", "Reject", 8, nil, 0x01)
local max_version = ProtoField.uint8("iser_iwarp.max_version", "MaxVer", base.DEC, nil, 0xf0)
local version = ProtoField.uint8("iser_iwarp.version", "MinVer or CurVer", base.DEC, nil, 0x0f)
local depth = ProtoField.uint16("iser_iwarp.depth", "iSER-IRD or iSER-ORD")
iser.fields = { kind, write_valid, read_valid, write_stag, write_base, read_stag, read_base, reject, max_version, version, depth }

local iscsi = Dissector.get("iscsi")

local function is_control(octets)
    if octets:len() < header_octets + bhs_octets or octets(0, 1):uint() % 4 ~= 0 then
        return false
    end
    local opcode = octets(header_octets, 1):uint() % 64
    local ahs = octets(header_octets + 4, 1):uint() * 4
    local rest = octets:len() - header_octets - bhs_octets - ahs - octets(header_octets + 5, 3):uint()
    return opcodes[opcode] and rest >= 0 and rest <= 4
end

local function is_iser(octets)
    if octets:len() < header_octets or octets(1, 3):uint() ~= 0 and octets(0, 1):uint() == 0x10 then
        return false
    end
    local first = octets(0, 1):bitfield(0, 4)
    if first == 1 then
        return is_control(octets)
    end
    return (first == 2 or first == 3) and octets:len() == header_octets and octets(4, 24):bytes():tohex() == ("00"):rep(24)
end

function iser.dissector(octets, packet, tree)
    local first = octets(0, 1):bitfield(0, 4)
    local branch = tree:add(iser, octets(0, header_octets), "iSER header, " .. kinds[first])

    branch:add(kind, octets(0, 1))
    if first ~= 1 then
        branch:add(reject, octets(0, 1))
        branch:add(max_version, octets(1, 1))
        branch:add(version, octets(1, 1))
        branch:add(depth, octets(2, 2))
        packet.cols.info:append(" iSER " .. kinds[first])
        return octets:len()
    end
    branch:add(write_valid, octets(0, 1))
    branch:add(read_valid, octets(0, 1))
    branch:add(write_stag, octets(4, 4))
    branch:add(write_base, octets(8, 8))
    branch:add(read_stag, octets(16, 4))
    branch:add(read_base, octets(20, 8))
    iscsi:call(octets(header_octets):tvb(), packet, tree)
    return octets:len()
end

iser:register_heuristic("iwarp_ddp_rdmap", function(octets, packet, tree)
    if not is_iser(octets) then
        return false
    end
    iser.dissector(octets, packet, tree)
    return true
end)
