-- What the algorithms of the decide script share.
local spread = table.unpack or unpack
local args = ARGV[1]

-- The reply: now, how many values were mended, then the verdicts.
local reply = { now, 0 }

local function verdict(passed, remaining, pass_in, reset_in)
	local n = #reply
	reply[n + 1], reply[n + 2] = passed and 1 or 0, remaining
	reply[n + 3], reply[n + 4] = pass_in, reset_in
end

local function whole(x)
	return x >= 0 and x < 9007199254740992 and x % 1 == 0
end

-- Where the slot of a rate lies in a value: its own place, or wherever its
-- period stands once the list of rates has changed. The second result: the
-- value is not ours.
local function slot(value, width, i, period)
	if not value then
		return nil, value == nil
	end
	local size = #value
	local at = (i - 1) * width + 1
	if size % width ~= 0 or size == 0 then
		return nil, true
	end
	if at < size and decode('<d', value, at) == period then
		return at
	end
	for other = 1, size, width do
		if decode('<d', value, other) == period then
			return other
		end
	end
end
