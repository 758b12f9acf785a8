-- token_bucket. A slot: period, time (on a tick), units used, capacity.

-- Time and units used as of now, out of what a slot says. The time lies ahead
-- when the clock has stepped back.
local function bucket_age(t, u, c, cap, gain, tick)
	local start = now - now % tick
	if not (t >= 0 and t < 9007199254740992 and t % 1 == 0
	    and u >= 0 and u <= c and u % 1 == 0
	    and (c == cap
	    or c > 0 and c < 4503599627370496 and c % 1 == 0)) then
		return start, 0, true
	end
	if c ~= cap then
		-- ceil(u * cap / c), bit by bit: no step exceeds 2^53.
		local share, rest, left, bit = 0, 0, cap, 4503599627370496
		while bit >= 1 do
			share, rest = share * 2, rest * 2
			if rest >= c then
				share, rest = share + 1, rest - c
			end
			if left >= bit then
				left, rest = left - bit, rest + u
				if rest >= c then
					share, rest = share + 1, rest - c
				end
			end
			bit = bit / 2
		end
		u = rest > 0 and share + 1 or share
	end
	if tick > 1 then
		t = ceil(t / tick) * tick
	end
	if t >= start then
		if t > start + ceil(cap / gain) * tick then
			return start, u, true
		end
		return t, u, false
	end
	-- A product beyond 2^53 is inexact, and above u all the same.
	u = u - (start - t) / tick * gain
	return start, u > 0 and u or 0, false
end
