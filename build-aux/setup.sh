# Shell functions that ./demo and ./test share: packages and builds. To be
# sourced with the root of the repository as the working folder.
# shellcheck shell=sh
# shellcheck disable=SC2034 # the lists are for those who source this

# Debian's names, the same in 12 and 13.
build_packages='gcc libc6-dev make autoconf automake pkgconf
	libevent-dev libhiredis-dev libyaml-dev libsodium-dev'
test_packages='check liblua5.1-0-dev python3-pytest python3-pytest-xdist
	python3-yaml redis-server faketime binutils clang libclang-rt-dev mandoc'

die()
{
	echo "$*" >&2
	exit 1
}

as_root()
{
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	else
		sudo "$@"
	fi
}

# missing_packages PACKAGE...: print those that are not installed.
missing_packages()
{
	installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' \
	    "$@" 2>/dev/null | sed -n 's/ installed$//p')
	for package in "$@"; do
		echo "$installed" | grep -qxF "$package" || echo "$package"
	done
}

# Packages of servers start them when they arrive, unless this file says no.
# One that is there belongs to somebody else and decides as it likes.
policy=/usr/sbin/policy-rc.d

policy_ours=no

hold_services()
{
	[ ! -e "$policy" ] || return 0
	policy_ours=yes
	printf '#!/bin/sh\nexit 101\n' | as_root tee "$policy" >/dev/null
	trap release_services EXIT
	trap 'exit 1' HUP INT TERM
	as_root chmod 755 "$policy"
}

release_services()
{
	[ "$policy_ours" = yes ] || return 0
	policy_ours=no
	as_root rm -f "$policy"
	trap - EXIT HUP INT TERM
}

# install_packages PACKAGE...: install what is missing. Needs no network and
# no time when nothing is.
install_packages()
{
	command -v dpkg-query >/dev/null || {
		echo "Not a Debian system; it has to provide:" "$@" >&2
		return 0
	}
	# shellcheck disable=SC2046 # names hold no spaces
	set -- $(missing_packages "$@")
	[ $# -gt 0 ] || return 0
	[ "$(id -u)" -eq 0 ] || command -v sudo >/dev/null ||
	    die "Neither root nor sudo. As root: apt-get install $*"
	echo "Installing with apt-get: $*"
	hold_services
	as_root apt-get update -qq ||
	    echo "apt-get update failed; trying with what it knows" >&2
	as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y \
	    --no-install-recommends "$@" ||
	    die "apt-get could not install: $*"
	case " $* " in
	*' redis-server '*)
		# Just came, for the tests: nobody asked for a service.
		! command -v systemctl >/dev/null ||
		    as_root systemctl -q disable redis-server || true
		;;
	esac
	release_services
}

# Make ./configure when it is missing or older than what it is made from.
prepare_configure()
{
	[ -e configure ] && [ -e Makefile.in ] && [ -z "$(find configure.ac \
	    Makefile.am src/local.mk tests/local.mk -newer configure)" ] &&
	    return 0
	autoreconf -fi >autoreconf.log 2>&1 || {
		cat autoreconf.log >&2
		die "autoreconf failed"
	}
	rm -f autoreconf.log
	touch configure
}

# configure_in FOLDER [ARGUMENT]...: configure unless that was done with the
# same arguments. What was built with others goes.
configure_in()
{
	folder=$1
	shift
	[ -e "$folder/Makefile" ] &&
	    [ "$(cat "$folder/arguments" 2>/dev/null)" = "$*" ] && return 0
	mkdir -p "$folder"
	[ ! -e "$folder/Makefile" ] ||
	    make -s -C "$folder" clean >/dev/null 2>&1 || true
	(cd "$folder" && ../configure -q "$@") || return 1
	echo "$*" >"$folder/arguments"
}

# make_in FOLDER [TARGET]...: quiet unless it fails.
make_in()
{
	folder=$1
	shift
	make -C "$folder" -j"$(nproc)" "$@" >"$folder/make.log" 2>&1 || {
		tail -n 40 "$folder/make.log" >&2
		echo "The whole output: $folder/make.log" >&2
		return 1
	}
}
