package reflector

import (
	"flag"
	"os"
	"testing"

	"github.com/go-logr/logr"
	"go.uber.org/goleak"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
)

// programs is how many random programs the differential test runs; go test
// -args -rapid.checks=10000 overrides it.
const programs = "500"

func TestMain(m *testing.M) {
	// Its rate limit sleeps for years when a bubble's clock meets the real one.
	utilruntime.ErrorHandlers = nil
	klog.SetLogger(logr.Discard())
	flag.Parse()
	given := map[string]bool{}
	flag.Visit(func(f *flag.Flag) { given[f.Name] = true })
	for name, value := range map[string]string{"rapid.checks": programs, "rapid.nofailfile": "true"} {
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
