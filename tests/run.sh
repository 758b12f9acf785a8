#!/bin/sh
# Run one compiled test. A fuzz target gets the folder of its corpus, which it
# only replays.
program=$1
shift
case $program in
*/fuzz_*)
	corpus=${srcdir:?}/tests/fuzz/corpus/${program##*/fuzz_}
	[ -n "$(ls -A "$corpus")" ] || {
		echo "no corpus in $corpus" >&2
		exit 99
	}
	exec "$program" -runs=0 "$corpus"
	;;
esac
exec "$program" "$@"
