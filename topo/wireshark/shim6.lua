-- Shim6 (RFC 5533, section 5; RFC 5534, section 5) for tshark and Wireshark:
--
--   tshark -X lua_script:topo/wireshark/shim6.lua -r packets.pcap
--
-- They have a dissector of their own. In version 4.0.17 it reads control messages one octet too early, looks for options at
-- twice their place, and so calls nearly every message malformed. This one takes its place; its fields begin with rfc5533.

local shim6 = Proto("rfc5533", "Shim6")

local NUMBER = 140
local UNIT = 8
local TYPES = {
    [1] = "I1", [2] = "R1", [3] = "I2", [4] = "R2", [5] = "R1bis", [6] = "I2bis",
    [64] = "Update Request", [65] = "Update Acknowledgement", [66] = "Keepalive", [67] = "Probe", [68] = "Error",
}
local OPTIONS = {
    [1] = "Responder Validator", [2] = "Locator List", [3] = "Locator Preferences", [4] = "CGA Parameters",
    [5] = "CGA Signature", [6] = "ULID Pair", [7] = "Forked Instance Identifier", [10] = "Keepalive Timeout",
    [16384] = "Exact Keepalive Timeout (experimental)",
}
local METHODS = { [1] = "HBA", [2] = "CGA" }
local STATES = { [0] = "Operational", [1] = "Exploring", [2] = "Inbound OK" }
local ERRORS = {
    [0] = "unknown message", [1] = "critical option", [2] = "verification method", [3] = "generation out of sync",
    [4] = "number of preferences", [120] = "fork ended",
}

local fields = {
    next = ProtoField.uint8("rfc5533.next", "Next header"),
    length = ProtoField.uint8("rfc5533.length", "Length in units of 8 octets, less one"),
    type = ProtoField.uint8("rfc5533.type", "Type", base.DEC, TYPES),
    checksum = ProtoField.uint16("rfc5533.checksum", "Checksum", base.HEX),
    tag = ProtoField.uint64("rfc5533.tag", "Context tag", base.HEX),
    packet_tag = ProtoField.uint64("rfc5533.packet_tag", "Context tag of the packet", base.HEX),
    initiator_nonce = ProtoField.uint32("rfc5533.initiator_nonce", "Initiator nonce", base.HEX),
    responder_nonce = ProtoField.uint32("rfc5533.responder_nonce", "Responder nonce", base.HEX),
    request_nonce = ProtoField.uint32("rfc5533.request_nonce", "Request nonce", base.HEX),
    state = ProtoField.uint8("rfc5533.state", "State", base.DEC, STATES, 0xC0),
    sent = ProtoField.uint8("rfc5533.sent", "Probes sent", base.DEC, nil, 0x0F),
    received = ProtoField.uint8("rfc5533.received", "Probes received", base.DEC, nil, 0xF0),
    probe_source = ProtoField.ipv6("rfc5533.probe.source", "Source"),
    probe_destination = ProtoField.ipv6("rfc5533.probe.destination", "Destination"),
    probe_nonce = ProtoField.uint32("rfc5533.probe.nonce", "Nonce", base.HEX),
    probe_data = ProtoField.uint32("rfc5533.probe.data", "Data", base.HEX),
    error_code = ProtoField.uint8("rfc5533.error.code", "Code", base.DEC, ERRORS, 0xFE),
    error_pointer = ProtoField.uint16("rfc5533.error.pointer", "Pointer"),
    error_packet = ProtoField.bytes("rfc5533.error.packet", "Packet in error"),
    option_type = ProtoField.uint16("rfc5533.option.type", "Option", base.DEC, OPTIONS, 0xFFFE),
    option_critical = ProtoField.bool("rfc5533.option.critical", "Critical", 16, nil, 0x0001),
    option_length = ProtoField.uint16("rfc5533.option.length", "Octets"),
    validator = ProtoField.bytes("rfc5533.validator", "Validator"),
    generation = ProtoField.uint32("rfc5533.generation", "Generation"),
    count = ProtoField.uint8("rfc5533.locators", "Locators"),
    method = ProtoField.uint8("rfc5533.method", "Verification", base.DEC, METHODS),
    locator = ProtoField.ipv6("rfc5533.locator", "Locator"),
    element_length = ProtoField.uint8("rfc5533.element_length", "Octets of an element"),
    preference = ProtoField.bytes("rfc5533.preference", "Flags, priority, weight"),
    parameters = ProtoField.bytes("rfc5533.parameters", "CGA Parameters"),
    signature = ProtoField.bytes("rfc5533.signature", "Signature"),
    sender = ProtoField.ipv6("rfc5533.sender", "Identity of the sender"),
    receiver = ProtoField.ipv6("rfc5533.receiver", "Identity of the receiver"),
    instance = ProtoField.uint32("rfc5533.instance", "Forked instance"),
    timeout = ProtoField.uint16("rfc5533.timeout", "Seconds"),
    exact_timeout = ProtoField.uint32("rfc5533.exact_timeout", "Microseconds"),
}
local malformed = ProtoExpert.new("rfc5533.malformed", "Malformed", expert.group.MALFORMED, expert.severity.ERROR)
local wrong_checksum =
    ProtoExpert.new("rfc5533.checksum.wrong", "Wrong checksum", expert.group.CHECKSUM, expert.severity.ERROR)

shim6.fields = fields
shim6.experts = { malformed, wrong_checksum }

-- Whatever does not fit ends the dissection with its reason.
local function check(fits, reason)
    if not fits then
        error({ malformed = reason }, 0)
    end
end

-- A tag has 47 bits; the one before them says that it is a payload header.
local function add_tag(tree, field, octets)
    tree:add(field, octets, octets:uint64():band(UInt64.new(0xffffffff, 0x7fff)))
end

local function probes(octets, tree, number, name)
    for index = 0, number - 1 do
        local at = octets:range(40 * index, 40)
        local branch = tree:add(at, name .. " " .. index + 1)
        branch:add(fields.probe_source, at:range(0, 16))
        branch:add(fields.probe_destination, at:range(16, 16))
        branch:add(fields.probe_nonce, at:range(32, 4))
        branch:add(fields.probe_data, at:range(36, 4))
    end
end

-- What stands between the checksum and the options, by type; each returns where the options begin.
local MESSAGES = {
    [1] = function(all, tree)
        add_tag(tree, fields.tag, all:range(6, 6))
        tree:add(fields.initiator_nonce, all:range(12, 4))
        return 16
    end,
    [2] = function(all, tree)
        tree:add(fields.initiator_nonce, all:range(8, 4))
        tree:add(fields.responder_nonce, all:range(12, 4))
        return 16
    end,
    [3] = function(all, tree)
        add_tag(tree, fields.tag, all:range(6, 6))
        tree:add(fields.initiator_nonce, all:range(12, 4))
        tree:add(fields.responder_nonce, all:range(16, 4))
        return 24
    end,
    [5] = function(all, tree)
        add_tag(tree, fields.packet_tag, all:range(6, 6))
        tree:add(fields.responder_nonce, all:range(12, 4))
        return 16
    end,
    [6] = function(all, tree)
        add_tag(tree, fields.tag, all:range(6, 6))
        tree:add(fields.initiator_nonce, all:range(12, 4))
        tree:add(fields.responder_nonce, all:range(16, 4))
        add_tag(tree, fields.packet_tag, all:range(26, 6))
        return 32
    end,
    [64] = function(all, tree)
        add_tag(tree, fields.tag, all:range(6, 6))
        tree:add(fields.request_nonce, all:range(12, 4))
        return 16
    end,
    [66] = function(all, tree)
        add_tag(tree, fields.tag, all:range(6, 6))
        return 16
    end,
    [67] = function(all, tree)
        add_tag(tree, fields.tag, all:range(6, 6))
        tree:add(fields.received, all:range(12, 1))
        tree:add(fields.sent, all:range(12, 1))
        tree:add(fields.state, all:range(13, 1))
        local sent, received = all:range(12, 1):bitfield(4, 4), all:range(12, 1):bitfield(0, 4)
        check(all:len() >= 16 + 40 * (sent + received), "too short for its probes")
        if sent > 0 then
            probes(all:range(16, 40 * sent), tree, sent, "Sent")
        end
        if received > 0 then
            probes(all:range(16 + 40 * sent, 40 * received), tree, received, "Received")
        end
        return 16 + 40 * (sent + received)
    end,
    [68] = function(all, tree)
        tree:add(fields.error_code, all:range(3, 1))
        tree:add(fields.error_pointer, all:range(6, 2))
        tree:add(fields.error_packet, all:range(8))
        return all:len()
    end,
}
MESSAGES[4] = MESSAGES[1]
MESSAGES[65] = MESSAGES[64]

-- The contents of options by type.
local CONTENTS = {
    [1] = function(all, tree) tree:add(fields.validator, all) end,
    [2] = function(all, tree)
        check(all:len() >= 5, "too short for a list of locators")
        tree:add(fields.generation, all:range(0, 4))
        tree:add(fields.count, all:range(4, 1))
        local count = all:range(4, 1):uint()
        -- With the option's four octets the locators begin at a multiple of eight.
        local first = 5 + count
        first = first + (-(4 + first)) % UNIT
        check(all:len() == first + 16 * count, "a list of locators of another length")
        for index = 0, count - 1 do
            tree:add(fields.method, all:range(5 + index, 1))
            tree:add(fields.locator, all:range(first + 16 * index, 16))
        end
    end,
    [3] = function(all, tree)
        check(all:len() >= 5, "too short for preferences")
        tree:add(fields.generation, all:range(0, 4))
        tree:add(fields.element_length, all:range(4, 1))
        local length = all:range(4, 1):uint()
        check(length > 0 and (all:len() - 5) % length == 0, "no whole preferences")
        for at = 5, all:len() - 1, length do
            tree:add(fields.preference, all:range(at, length))
        end
    end,
    [4] = function(all, tree) tree:add(fields.parameters, all) end,
    [5] = function(all, tree) tree:add(fields.signature, all) end,
    [6] = function(all, tree)
        check(all:len() == 36, "a ULID pair of another length")
        tree:add(fields.sender, all:range(4, 16))
        tree:add(fields.receiver, all:range(20, 16))
    end,
    [7] = function(all, tree)
        check(all:len() == 4, "a forked instance of another length")
        tree:add(fields.instance, all)
    end,
    [10] = function(all, tree)
        check(all:len() == 4, "a keepalive timeout of another length")
        tree:add(fields.timeout, all:range(2, 2))
    end,
    [16384] = function(all, tree)
        check(all:len() == 4, "an exact keepalive timeout of another length")
        tree:add(fields.exact_timeout, all)
    end,
}

local function options(all, first, tree)
    local at = first
    while at < all:len() do
        check(all:len() - at >= 4, "too short for an option")
        local length = all:range(at + 2, 2):uint()
        check(all:len() - at >= 4 + length, "an option ends behind the message")
        local number = all:range(at, 2):bitfield(0, 15)
        local branch = tree:add(all:range(at, 4 + length), OPTIONS[number] or "Unknown option")
        branch:add(fields.option_type, all:range(at, 2))
        branch:add(fields.option_critical, all:range(at, 2))
        branch:add(fields.option_length, all:range(at + 2, 2))
        if CONTENTS[number] and length > 0 then
            CONTENTS[number](all:range(at + 4, length), branch)
        end
        at = at + 4 + length
        at = at + (-at) % UNIT
    end
end

-- The sum of all words, which is 0xffff with the right checksum among them.
local function sum(all)
    local total = 0
    for at = 0, all:len() - 1, 2 do
        total = total + all:range(at, 2):uint()
    end
    while total > 0xffff do
        total = total % 0x10000 + math.floor(total / 0x10000)
    end
    return total
end

local function control(all, pinfo, tree)
    local kind = all:range(2, 1):bitfield(1, 7)
    pinfo.cols.info = "Shim6 " .. (TYPES[kind] or "message " .. kind)
    tree:add(fields.type, all:range(2, 1), kind)
    local checksum = tree:add(fields.checksum, all:range(4, 2))
    if sum(all) ~= 0xffff then
        checksum:add_proto_expert_info(wrong_checksum)
    end
    check(MESSAGES[kind], "a message of a type that there is not")
    check(all:len() >= 16, "too short for its type")
    options(all, MESSAGES[kind](all, tree), tree)
end

function shim6.dissector(packet, pinfo, root)
    pinfo.cols.protocol = "Shim6"
    local tree = root:add(shim6, packet:range())
    local fine, reason = pcall(function()
        check(packet:len() >= UNIT, "too short for a header")
        tree:add(fields.next, packet:range(0, 1))
        tree:add(fields.length, packet:range(1, 1))
        local length = UNIT * (packet:range(1, 1):uint() + 1)
        check(packet:len() >= length, "shorter than it says")
        if packet:range(2, 1):bitfield(0, 1) == 1 then
            pinfo.cols.info = "Shim6 payload"
            add_tag(tree, fields.tag, packet:range(2, 6))
        else
            control(packet:range(0, length), pinfo, tree)
        end
        if packet:len() > length then
            DissectorTable.get("ip.proto"):try(packet:range(0, 1):uint(), packet:range(length):tvb(), pinfo, root)
        end
    end)
    if not fine then
        tree:add_proto_expert_info(malformed, type(reason) == "table" and reason.malformed or tostring(reason))
    end
    return packet:len()
end

DissectorTable.get("ip.proto"):add(NUMBER, shim6)
