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

# The source may be read-only.
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
exec "$python" -m pytest -q -ra -p no:cacheprovider --rootdir "$folder" \
	-m "$select" "$folder"
