local function token_bucket(value, at, n)
	local slots, all, mended = {}, true, false
	for i = 1, n do
		local period, need, cap, gain, unit, tick =
		    decode('<dddddd', args, at + (i - 1) * 48)
		local from, bad
		if n == 1 and value and #value == 32 then
			from = 1
		else
			from, bad = slot(value, 32, i, period)
		end
		local time, used = now - now % tick, 0
		if from then
			local _, t, u, c = decode('<dddd', value, from)
			time, used, bad = bucket_age(t, u, c, cap, gain, tick)
		end
		local passed = used + need <= cap
		all, mended = all and passed, mended or bad
		slots[i] = { period, need, cap, gain, unit, tick, time, used,
		    passed }
	end
	return all, mended, function(spent)
		local state, fresh = '', now
		for i = 1, n do
			local period, need, cap, gain, unit, tick, time, used,
			    passed = spread(slots[i])
			local wait, full = 0, now
			if not passed then
				local lack = used + need - cap
				wait = time + ceil(lack / gain) * tick - now
			elseif spent then
				used = used + need
			end
			if used > 0 then
				full = time + ceil(used / gain) * tick
			end
			verdict(passed, floor((cap - used) / unit), wait,
			    passed and full - now or wait)
			state = state
			    .. encode('<dddd', period, time, used, cap)
			if full > fresh then
				fresh = full
			end
		end
		return state, fresh
	end
end
