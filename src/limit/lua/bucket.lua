-- The commonest question: one enforcing row of token_bucket with one rate. The
-- state and the reply are those of the decide script.
local period, need, cap, gain, unit, tick, spending =
    decode('<ddddddd', ARGV[1])
local key = KEYS[1]
local value = guarded('GET', key)
local at, used, mended = now - now % tick, 0, false
if value then
	local size, from = #value, nil
	if type(value) == 'table' then
		if value.err:sub(1, 10) ~= 'WRONGTYPE ' then
			return value
		end
		mended = true
	elseif size % 32 ~= 0 or size == 0 then
		mended = true
	elseif size == 32 then
		from = 1
	else
		-- Written when there were more rates.
		for other = 1, size, 32 do
			if decode('<d', value, other) == period then
				from = other
			end
		end
	end
	if from then
		local _, t, u, c = decode('<dddd', value, from)
		at, used, mended = bucket_age(t, u, c, cap, gain, tick)
	end
end
local passed, wait, full = 1, 0, now
if used + need <= cap then
	used = used + need
else
	passed = 0
	wait = at + ceil((used + need - cap) / gain) * tick - now
end
if used > 0 then
	full = at + ceil(used / gain) * tick
end
if spending == 1 then
	local ms = ceil((full - now) / 1000) + 1000
	local life = string.format('%.0f', ms)
	if passed == 1 or mended then
		local state = encode('<dddd', period, at, used, cap)
		call('SET', key, state, 'PX', life)
	elseif call('PTTL', key) == -1 then
		call('PEXPIRE', key, life)
		mended = true
	end
else
	mended = false
end
return encode('<dddddd', now, mended and 1 or 0, passed,
    floor((cap - used) / unit), wait, passed == 1 and full - now or wait)
