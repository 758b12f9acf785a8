#!/bin/sh
# Fail when a global symbol of libweir.a does not bear the prefix of its file:
# "http_" in http, elsewhere the name of the file. WEIR_OBJECTS names the
# objects.
set -eu

# Further prefixes: a pattern of files, and what else their symbols may begin
# with. A plural of the file's name never needs an excuse.
excuses='
app/*             command
app/demo_*        demo
app/listen        listeners
base/addr         cidr endpoint
base/counters     counter
config/type_*     type
limit/*_bucket     algo
limit/*_log        algo
limit/*_window     algo
limit/algo        limits
limit/limiter     decision
limit/rate        duration
limit/rules       policy
limit/scripts     script
proxy/proxy       view
proxy/request     exchange
proxy/response    exchange
proxy/send        exchange
proxy/upstream    pool
'

further_prefixes()
{
	echo "$excuses" | while read -r pattern prefixes; do
		# shellcheck disable=SC2254 # it is a pattern
		case $1 in
		$pattern) echo "$prefixes" ;;
		esac
	done
}

[ -n "$WEIR_OBJECTS" ] || exit 99
failed=0
for object in $WEIR_OBJECTS; do
	path=${object#*src/}
	path=${path%.o}
	case $path in
	http/*) prefixes=http ;;
	*) prefixes=${path##*/} ;;
	esac
	prefixes="$prefixes ${prefixes}s $(further_prefixes "$path")"
	# Names with two underscores belong to the compiler.
	for symbol in $("${NM:-nm}" -g --defined-only "$object" |
	    awk 'NF == 3 && $3 !~ /^__/ { print $3 }'); do
		for prefix in $prefixes; do
			case $symbol in
			"$prefix" | "$prefix"_*) continue 2 ;;
			esac
		done
		echo "src/$path.c: $symbol does not begin with any of: $prefixes"
		failed=1
	done
done
exit $failed
