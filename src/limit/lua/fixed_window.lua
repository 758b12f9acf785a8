-- fixed_window. A slot: period, start of the window, count.
local function fixed_window(value, at, n, cost, first)
	local slots, passed, mended = {}, true, false
	for i = 1, n do
		local period, need, most =
		    decode('<ddd', args, at + (i - 1) * 48)
		local from, bad = slot(value, 24, i, period)
		local start, count = now, 0
		if not first then
			start = now - now % period
		end
		if from then
			local _, s, c = decode('<ddd', value, from)
			if not (whole(s) and whole(c)) then
				bad = true
			elseif c > 0 and s > now + period then
				count, bad = c, true
			elseif c > 0 and now < s + period then
				start, count = s, c
			end
		end
		local fits = count + need <= most
		passed, mended = passed and fits, mended or bad
		slots[i] = { period, need, most, start, count, fits }
	end
	return passed, mended, function(spent)
		local state, fresh = '', now
		for i = 1, n do
			local period, need, most, start, count, fits =
			    spread(slots[i])
			local ends = start + period
			if spent then
				count = count + need
			end
			verdict(fits, math.max(most - count, 0),
			    fits and 0 or ends - now, ends - now)
			state = state .. encode('<ddd', period, start, count)
			if count > 0 then
				fresh = math.max(fresh, ends)
			end
		end
		return state, fresh
	end
end
