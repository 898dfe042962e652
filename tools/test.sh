#!/bin/sh
# Every test of the project: what `make test` does, for a machine without make, too.
set -eu
cd "$(dirname "$0")/.."
GO=${GO:-go}

"$GO" run ./internal/controlplane/cmd/controlplane

# The race detector needs a C compiler, but on macOS.
race=-race
if [ "$("$GO" env GOOS)" != darwin ]; then
	cc=$("$GO" env CC)
	if [ "$("$GO" env CGO_ENABLED)" != 1 ] || ! command -v "${cc%% *}" >/dev/null; then
		race=
		echo "no C compiler on this machine: the tests run without the race detector"
	fi
fi

# Three packages at once, each with an API server of its own: they wait more than they compute.
exec "$GO" test $race -p 3 ./... "$@"
