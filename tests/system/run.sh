#!/bin/sh
# Test the built program from outside. WEIR names it; WEIR_TESTS=all adds the
# tests marked slow. Exit 77 (skipped) when what they need is not installed.
set -eu

python=/usr/bin/python3
folder=$(dirname "$0")
if ! "$python" -c 'import pytest' 2>/dev/null; then
	echo "pytest is missing (Debian: apt install python3-pytest)"
	exit 77
fi
if ! command -v redis-server >/dev/null; then
	echo "redis-server is missing (Debian: apt install redis-server)"
	exit 77
fi

select='not slow'
[ "${WEIR_TESTS:-quick}" = all ] && select=''

# Tests wait more than they work, so more run at a time than there are cores;
# sanitizers make them work.
parallel=
if "$python" -c 'import xdist' 2>/dev/null; then
	parallel='-n 4'
	[ -z "${WEIR_SANITIZERS:-}" ] || parallel='-n 2'
fi

# The source may be read-only.
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
# shellcheck disable=SC2086 # an option and its value
exec "$python" -m pytest -q -ra -p no:cacheprovider --rootdir "$folder" \
	$parallel -m "$select" "$folder" "$@"
