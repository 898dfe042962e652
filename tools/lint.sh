#!/bin/sh
# go vet and gofmt: what `make lint` does, for a machine without make, too.
set -eu
cd "$(dirname "$0")/.."
GO=${GO:-go}

unformatted=$("$("$GO" env GOROOT)/bin/gofmt" -l .)
if [ -n "$unformatted" ]; then
	echo "not formatted, run gofmt -w on:" "$unformatted" >&2
	exit 1
fi
"$GO" vet ./...
