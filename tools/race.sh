# Sets race to the flag of the race detector, if it works here: it needs a C compiler, but on macOS.
race=-race
if [ "$("$GO" env GOOS)" != darwin ]; then
	cc=$("$GO" env CC)
	if [ "$("$GO" env CGO_ENABLED)" != 1 ] || ! command -v "${cc%% *}" >/dev/null; then
		race=
		echo "no C compiler on this machine: the tests run without the race detector"
	fi
fi
