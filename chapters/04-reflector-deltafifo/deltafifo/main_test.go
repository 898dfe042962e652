package deltafifo

import (
	"flag"
	"os"
	"testing"

	"github.com/go-logr/logr"
	"go.uber.org/goleak"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
)

// How many random programs each differential test runs, and how many where -short
// asks for haste; go test -args -rapid.checks=100 overrides both.
const programs, fewPrograms = "10000", "1000"

func TestMain(m *testing.M) {
	// Its rate limit sleeps for years when a bubble's clock meets the real one.
	utilruntime.ErrorHandlers = nil
	klog.SetLogger(logr.Discard())
	flag.Parse()
	given := map[string]bool{}
	flag.Visit(func(f *flag.Flag) { given[f.Name] = true })
	checks := programs
	if testing.Short() {
		checks = fewPrograms
	}
	for name, value := range map[string]string{"rapid.checks": checks, "rapid.nofailfile": "true"} {
		if given[name] {
			continue
		}
		if err := flag.Set(name, value); err != nil {
			println(err.Error())
			os.Exit(2)
		}
	}
	goleak.VerifyTestMain(m)
}
