#!/bin/sh
# The swap matrix on a covering array of all pairs: what `make pairs` does, for a
# machine without make, too.
set -eu
cd "$(dirname "$0")/.."
GO=${GO:-go}

. tools/race.sh
exec "$GO" test $race ./full/runtime/assembly -run '^TestMatrix$' -count=1 -v "$@"
