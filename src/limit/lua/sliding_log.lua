-- sliding_log. One log for all rates of the row: a base, then (time, total) an
-- entry, oldest first; the total is the sum of all costs up to this entry, the
-- base that of what has left. So any sum is one subtraction, and any place is
-- found by bisection, whatever the length of the log.
local function sliding_log(value, at, n, cost)
	local longest, room, mended, count = 0, 0, value == nil, 0
	local slots, passed = {}, true
	local base, newest, last = 0, 0, 0

	local function entry(i)
		return decode('<dd', value, i * 16 - 7)
	end
	-- How many of the oldest are below a mark: which 1, time; 2, total.
	local function below(which, mark)
		local lo, hi = 0, count
		while lo < hi do
			local mid = ceil((lo + hi) / 2)
			if select(which, entry(mid)) < mark then
				lo = mid
			else
				hi = mid - 1
			end
		end
		return lo
	end
	-- The total up to the entry of that place.
	local function upto(i)
		if i == 0 then
			return base
		end
		return (select(2, entry(i)))
	end
	local function garbage()
		return sliding_log(nil, at, n, cost)
	end

	for i = 1, n do
		local period, need, most =
		    decode('<ddd', args, at + (i - 1) * 48)
		longest, room = math.max(longest, period), math.max(room, most)
		slots[i] = { period, need, most }
	end
	if value then
		if #value % 16 ~= 8 then
			return garbage()
		end
		count = (#value - 8) / 16
		base = decode('<d', value)
		last = base
		if count > 0 then
			newest, last = entry(count)
		end
		if not (whole(base) and whole(newest) and whole(last)
		    and base <= last and last < 4503599627370496) then
			return garbage()
		end
		if newest > now + longest then
			local kept = below(1, now + 1)
			local late = { value:sub(1, 8 + kept * 16) }
			for i = kept + 1, count do
				late[#late + 1] = encode('<dd', now, upto(i))
			end
			value, newest, mended = table.concat(late), now, true
		end
	end
	local present = math.max(now, newest)
	for i = 1, n do
		local s = slots[i]
		local gone = upto(below(1, present - s[1] + 1))
		local used = last - gone
		if not (whole(gone) and (used == 0
		    or used > 0 and newest > present - s[1])) then
			return garbage()
		end
		s.used, s.passed = used, used + s[2] <= s[3]
		if not s.passed then
			local leaver = entry(below(2, last + s[2] - s[3]) + 1)
			s.wait = leaver + s[1] - now
			if not (whole(leaver) and s.wait > 0
			    and leaver <= present) then
				return garbage()
			end
			passed = false
		end
	end
	return passed, mended, function(spent)
		for i = 1, n do
			local s = slots[i]
			local left = s[3] - s.used
			local reset = 0
			if not s.passed then
				reset = s.wait
			elseif spent then
				left, reset = left - s[2], present + s[1] - now
			elseif s.used > 0 then
				reset = newest + s[1] - now
			end
			verdict(s.passed, math.max(left, 0), s.wait or 0, reset)
		end
		if not spent then
			if not value then
				return encode('<d', 0), now
			end
			local gone = math.max(0, count - room)
			local fresh = count > 0 and newest + longest or now
			return encode('<d', upto(gone))
			    .. value:sub(9 + gone * 16), math.max(now, fresh)
		end
		-- As it passed, and no entry costs less than 1, there is room.
		local gone = below(1, present - longest + 1)
		local kept = ''
		base = upto(gone)
		if gone < count then
			kept = value:sub(9 + gone * 16)
		else
			base, last = 0, 0
		end
		return encode('<d', base) .. kept
		    .. encode('<dd', present, last + cost), present + longest
	end
end
