package controlplane

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// helperVariable makes this test binary another program: a test that kills
// the owner of a control plane needs an owner that is not itself.
const helperVariable = "INFORMER_WALKTHROUGH_HELPER"

func TestMain(m *testing.M) {
	switch os.Getenv(helperVariable) {
	case "owner":
		c, err := Start(context.Background(), Options{})
		if err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
		fmt.Println("folder:", c.folder.path)
		waitForParent()
		_ = c.Stop()
	case "tests":
		// As a test package of ours does it, with one test that asks for a
		// control plane and does not end: see TestAsksAndWaits.
		os.Args = append(os.Args, "-test.run=^TestAsksAndWaits$", "-test.v")
		Main(m)
	default:
		Main(m)
	}
}

func TestAsksAndWaits(t *testing.T) {
	if os.Getenv(helperVariable) != "tests" {
		t.Skip("is run by TestInterruptedTestBinaryStopsIt only")
	}
	Config(t)
	fmt.Println("folder:", shared.running.folder.path)
	waitForParent()
}

// waitForParent waits until the parent process ends.
func waitForParent() {
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
}

// startHelper starts this test binary as the program and returns it with the
// folder of its control plane, which it makes below tmp.
func startHelper(t *testing.T, program, tmp string) (*exec.Cmd, string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), helperVariable+"="+program, "TMPDIR="+tmp)
	_, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	var said []string
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if _, folder, ok := strings.Cut(lines.Text(), "folder: "); ok {
			return cmd, folder
		}
		said = append(said, lines.Text())
	}
	require.Failf(t, "the helper started no control plane", "it said: %s", said)
	return nil, ""
}
