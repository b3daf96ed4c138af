-- SPDX-License-Identifier: BSD-2-Clause
-- iSER over iWARP for Wireshark, which knows it over InfiniBand only: takes the Sends of RDMAP, shows the
-- iSER header, and hands the PDU behind it to the dissector of iSCSI.
--
--   tshark -X lua_script:iser.lua -r FILE

local iser = Proto("iser_iwarp", "iSER (RFC 7145)")

local kinds = { [1] = "control", [2] = "Hello", [3] = "HelloReply" }
local kind = ProtoField.uint8("iser_iwarp.kind", "Kind", base.DEC, kinds, 0xf0)
local write_valid = ProtoField.bool("iser_iwarp.wsv", "Write STag valid", 8, nil, 0x08)
local read_valid = ProtoField.bool("iser_iwarp.rsv", "Read STag valid", 8, nil, 0x04)
local write_stag = ProtoField.uint32("iser_iwarp.write_stag", "Write STag", base.HEX)
local write_base = ProtoField.uint64("iser_iwarp.write_base", "Write Base Offset", base.HEX)
local read_stag = ProtoField.uint32("iser_iwarp.read_stag", "Read STag", base.HEX)
local read_base = ProtoField.uint64("iser_iwarp.read_base", "Read Base Offset", base.HEX)
local versions = ProtoField.uint8("iser_iwarp.versions", "Versions", base.HEX)
local depth = ProtoField.uint16("iser_iwarp.depth", "Read depth", base.DEC)
iser.fields = { kind, write_valid, read_valid, write_stag, write_base, read_stag, read_base, versions, depth }

local HEADER, BHS = 28, 48
local iscsi = Dissector.get("iscsi")

local function dissect(buffer, pinfo, tree)
    local number = buffer(0, 1):bitfield(0, 4)
    if buffer:len() < HEADER or not kinds[number] then return false end
    if number == 1 and buffer:len() < HEADER + BHS then return false end
    if number ~= 1 and buffer:len() ~= HEADER then return false end

    local branch = tree:add(iser, buffer(0, HEADER))
    branch:add(kind, buffer(0, 1))
    pinfo.cols.protocol = "iSER"
    if number ~= 1 then
        branch:add(versions, buffer(1, 1))
        branch:add(depth, buffer(2, 2))
        pinfo.cols.info = kinds[number]
        return true
    end
    branch:add(write_valid, buffer(0, 1))
    branch:add(read_valid, buffer(0, 1))
    branch:add(write_stag, buffer(4, 4))
    branch:add(write_base, buffer(8, 8))
    branch:add(read_stag, buffer(16, 4))
    branch:add(read_base, buffer(20, 8))
    iscsi:call(buffer(HEADER):tvb(), pinfo, tree)
    return true
end

iser:register_heuristic("iwarp_ddp_rdmap", dissect)
