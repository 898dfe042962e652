#!/bin/sh
# The end-to-end tests: what `make e2e` does, for a machine without make, too.
# And what can't be measured under the race detector of `make test`.
set -eu
cd "$(dirname "$0")/.."
GO=${GO:-go}

"$GO" run ./internal/controlplane/cmd/controlplane --with-controller-manager
"$GO" test ./full/controller -run TestUnrelatedSecretsTakeLittleMemory -count=1 -v
MIRROR_E2E=1 exec "$GO" test ./full/e2e -count=1 -v "$@"
