package controller_test

import (
	"testing"

	"github.com/go-logr/logr"
	"go.uber.org/goleak"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
)

func TestMain(m *testing.M) {
	// They log every panic with its stack.
	utilruntime.PanicHandlers = nil
	logf.SetLogger(logr.Discard())
	goleak.VerifyTestMain(m)
}
