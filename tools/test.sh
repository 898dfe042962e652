#!/bin/sh
# Every test of the project: what `make test` does, for a machine without make, too.
set -eu
cd "$(dirname "$0")/.."
GO=${GO:-go}

"$GO" run ./internal/controlplane/cmd/controlplane
. tools/race.sh
# Three packages at once, each with an API server of its own: they wait more than they compute.
# The swap matrix has the machine to itself, later: tools/pairs.sh.
exec "$GO" test $race -p 3 -skip '^TestMatrix$' ./... "$@"
