package controller_test

import (
	"testing"

	"go.uber.org/goleak"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

func TestMain(m *testing.M) {
	// They log every panic with its stack.
	utilruntime.PanicHandlers = nil
	goleak.VerifyTestMain(m)
}
