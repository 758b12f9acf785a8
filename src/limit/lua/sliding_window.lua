-- sliding_window. A slot: period, index of the newest sub-window, nine counters
-- by age, newest first.
local function window_load(value, from, period, sub)
	local index = floor(now / sub)
	local s = { period, index, 0, 0, 0, 0, 0, 0, 0, 0, 0 }
	if not from then
		return s, 0, false
	end
	local old, sum = { decode('<ddddddddddd', value, from) }, 0
	local sane, mended = whole(old[2]), false
	for i = 3, 11 do
		sane, sum = sane and whole(old[i]), sum + old[i]
	end
	if not sane or sum > 4503599627370496 then
		return s, 0, true
	end
	if old[2] > index + 8 then
		old[2], mended = index, true
	end
	if old[2] >= index then
		return old, sum, mended
	end
	local shift = index - old[2]
	sum = 0
	for i = 3 + shift, 11 do
		s[i] = old[i - shift]
		sum = sum + s[i]
	end
	return s, sum, false
end

local function sliding_window(value, at, n)
	local slots, passed, mended = {}, true, false
	for i = 1, n do
		local period, need, most, sub =
		    decode('<dddd', args, at + (i - 1) * 48)
		local from, bad = slot(value, 88, i, period)
		local s, sum, odd = window_load(value, from, period, sub)
		s.need, s.most, s.sub, s.sum = need, most, sub, sum
		s.passed = sum + need <= most
		passed, mended = passed and s.passed, mended or bad or odd
		slots[i] = s
	end
	return passed, mended, function(spent)
		local state, fresh = '', now
		for i = 1, n do
			local s = slots[i]
			local wait, reset, empty = 0, 0, now
			if not s.passed then
				local k = 11
				local excess = s.sum + s.need - s.most - s[k]
				while excess > 0 do
					k = k - 1
					excess = excess - s[k]
				end
				wait = (s[2] + 12 - k) * s.sub - now
			end
			if spent then
				s[3], s.sum = s[3] + s.need, s.sum + s.need
			end
			for k = 11, 3, -1 do
				if s[k] > 0 then
					empty = (s[2] + 12 - k) * s.sub
				end
			end
			reset = s.passed and empty - now or wait
			verdict(s.passed, math.max(s.most - s.sum, 0), wait,
			    reset)
			state = state .. encode('<ddddddddddd', s[1], s[2],
			    s[3], s[4], s[5], s[6], s[7], s[8], s[9], s[10],
			    s[11])
			fresh = math.max(fresh, empty)
		end
		return state, fresh
	end
end
