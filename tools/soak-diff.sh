#!/bin/sh
# The differential tests for as long as DURATION says (1h, 90m, 600s), each round with fresh seeds. A
# failure shows the shrunken program, its seed and the file to run it again with, and ends the soak.
set -eu
cd "$(dirname "$0")/.."
GO=${GO:-go}

number=${DURATION%[hms]}
case $number in '' | *[!0-9]*) number= ;; esac
case $DURATION in
*h) seconds=$((${number:-0} * 3600)) ;;
*m) seconds=$((${number:-0} * 60)) ;;
*s) seconds=${number:-0} ;;
*) seconds=0 ;;
esac
if [ "$seconds" -le 0 ]; then
	echo "DURATION is \"$DURATION\"; say how long in hours, minutes or seconds, like DURATION=1h or DURATION=20m" >&2
	exit 2
fi

# Built once, and outside of the tree but for the folders they run in.
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
trap 'exit 130' INT TERM
tests='Like(ClientGos|RealFIFO)$|^TestDifferential$|^TestStoreEndsUpLikeTheServer$|SameAs(ClientGo|ControllerRuntime)$'
packages='
chapters/04-reflector-deltafifo/deltafifo
chapters/04-reflector-deltafifo/reflector
chapters/05-handledeltas/handledeltas
chapters/05-handledeltas/indexer
chapters/06-reconcile-loop/controller
chapters/06-reconcile-loop/priorityqueue
chapters/06-reconcile-loop/workqueue
full/runtime/assembly'
for package in $packages; do
	echo "building the tests of $package"
	"$GO" test -race -c -o "$bin/$(basename "$package").test" "./$package"
done

end=$(($(date +%s) + seconds))
round=0
while [ "$(date +%s)" -lt "$end" ]; do
	round=$((round + 1))
	for package in $packages; do
		[ "$(date +%s)" -lt "$end" ] || break
		(cd "$package" && "$bin/$(basename "$package").test" -test.run "$tests" -test.short -test.timeout 60m -rapid.nofailfile=false) >"$bin/log" 2>&1 || {
			cat "$bin/log"
			echo "round $round: $package differs from upstream; the lines above name the seed and the failfile"
			exit 1
		}
		echo "round $round: $package: no difference after $(($(date +%s) - end + seconds)) s"
	done
done
