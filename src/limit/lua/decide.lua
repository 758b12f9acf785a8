-- The whole question: a row a key. ARGV[1] is packed doubles: whether to spend;
-- then a row: algorithm (its place in algo.def), flags (1: enforcing, 2:
-- windows start with the caller), cost, number of rates; then a rate: six
-- numbers, as script.c packs them.

-- How long a state lives that means nothing from `fresh` on. The second more
-- is for clocks that are corrected between two requests.
local function life(fresh)
	return string.format('%.0f', ceil((fresh - now) / 1000) + 1000)
end

local judges = { token_bucket, sliding_log, sliding_window, fixed_window }
local rows, allowed, at = {}, true, 9
for i = 1, #KEYS do
	local kind, flags, cost, n = decode('<dddd', args, at)
	-- false: none; nil: of another type.
	local value = guarded('GET', KEYS[i])
	if type(value) == 'table' then
		if value.err:sub(1, 10) ~= 'WRONGTYPE ' then
			return value
		end
		value = nil
	end
	local passed, mended, finish =
	    judges[kind + 1](value, at + 32, n, cost, flags >= 2)
	at = at + 32 + n * 48
	if flags % 2 == 1 and not passed then
		allowed = false
	end
	rows[i] = { value, passed, mended, finish }
end
local spending = decode('<d', args) == 1
for i = 1, #KEYS do
	local value, passed, mended, finish = spread(rows[i])
	local spent = allowed and passed
	local state, fresh = finish(spent)
	if not spending then
		mended = false
	elseif spent or mended then
		call('SET', KEYS[i], state, 'PX', life(fresh))
	elseif value and call('PTTL', KEYS[i]) == -1 then
		call('PEXPIRE', KEYS[i], life(fresh))
		mended = true
	end
	if mended then
		reply[2] = reply[2] + 1
	end
end
return encode('<' .. ('d'):rep(#reply), spread(reply))
