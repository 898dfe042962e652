package reflectordeltafifo

import (
	"testing"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/informer-walkthrough/informer-walkthrough/internal/controlplane"
)

func TestMain(m *testing.M) {
	// Its rate limit sleeps for years when a bubble's clock meets the real one.
	utilruntime.ErrorHandlers = nil
	controlplane.Main(m)
}
