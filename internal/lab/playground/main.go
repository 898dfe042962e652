// Command playground shows the whole system at work: it starts an API server,
// runs the Mirror operator on the layers of the chapters, makes a small example,
// and prints each step of each event's way through the layers.
//
//	go run ./internal/lab/playground            until Ctrl-C
//	go run ./internal/lab/playground --once     until the example's Mirror is Ready
//	go run ./internal/lab/playground --cluster=path/to/kubeconfig --allow-writes
//
// `make run` calls it. Nothing of it is left when it ends: no process, no
// temporary file, and in a cluster none of the objects that it made.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	uberzap "go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/informer-walkthrough/informer-walkthrough/full/runtime/ctrl"
)

// readyLimit is how long --once waits for the Mirror once there is an API server.
const readyLimit = 2 * time.Minute

// options are what the command line says.
type options struct {
	once        bool
	cluster     string
	allowWrites bool
	readyLimit  time.Duration
}

func main() {
	ctrl.SetLogger(zap.New(zap.WriteTo(os.Stderr), zap.Level(zapcore.ErrorLevel), zap.RawZapOpts(uberzap.WrapCore(
		func(c zapcore.Core) zapcore.Core { return withoutTestEnv{c} }))))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go endWithParent(ctx, cancel)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is main without the process: it returns the exit status. Both writers are
// written to by several goroutines.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err == nil {
		err = play(ctx, o, stdout, stderr)
	}
	if err != nil {
		fmt.Fprintln(stderr, "playground:", err)
		return 1
	}
	return 0
}

func parse(args []string, stderr io.Writer) (options, error) {
	o := options{readyLimit: readyLimit}
	flags := flag.NewFlagSet("playground", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.BoolVar(&o.once, "once", false, "end when the Mirror is Ready; exit with 1 if it is not within 2 minutes")
	flags.StringVar(&o.cluster, "cluster", "", "kubeconfig `file` of a cluster to use instead of an API server of our own; KUBECONFIG is never used")
	flags.BoolVar(&o.allowWrites, "allow-writes", false, "write to the cluster that --cluster names; what is made there is removed at the end")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	switch {
	case flags.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q: there are flags only, see --help", flags.Arg(0))
	case o.cluster != "" && !o.allowWrites:
		return o, fmt.Errorf("the example writes to the cluster of %s: allow it with --allow-writes (make run CLUSTER=%[1]s ALLOW_WRITES=1)", o.cluster)
	case o.cluster == "" && o.allowWrites:
		return o, errors.New("--allow-writes belongs to --cluster: name the kubeconfig of the cluster to write to")
	}
	return o, nil
}

// endWithParent cancels when the parent process has gone: go run and make end at
// once at a SIGTERM, and would leave us behind.
func endWithParent(ctx context.Context, cancel func()) {
	parent := os.Getppid()
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if os.Getppid() != parent {
				cancel()
				return
			}
		}
	}
}

// withoutTestEnv drops what envtest logs: it returns its errors as well, and at a
// Ctrl-C while the control plane starts they say nothing to a person.
type withoutTestEnv struct{ zapcore.Core }

func (c withoutTestEnv) With(fields []zapcore.Field) zapcore.Core {
	return withoutTestEnv{c.Core.With(fields)}
}

func (c withoutTestEnv) Check(e zapcore.Entry, to *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if strings.Contains(e.LoggerName, "test-env") {
		return to
	}
	return c.Core.Check(e, to)
}
