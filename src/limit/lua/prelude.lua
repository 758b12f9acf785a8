-- What all scripts share. Times are microseconds by this server's clock, and
-- every number is whole and below 2^53, where doubles are exact and floor and
-- ceil of a quotient are too. Must run on Lua 5.1 and 5.4. All of this runs at
-- every call, so a function that is not defined is time saved.
--
-- A value is packed doubles, one slot a rate, the rate's period first. Content
-- that cannot be ours counts as never seen and is written anew (`mended`). So
-- does a value of another type; any other error of GET says nothing about the
-- value and becomes the script's own: who may not read must not count anew.
local call, guarded = redis.call, redis.pcall
local encode, decode = struct.pack, struct.unpack
local floor, ceil = math.floor, math.ceil
local clock = call('TIME')
local now = clock[1] * 1000000 + clock[2]
