package assembly_test

import (
	"testing"

	"github.com/go-logr/logr"
	"go.uber.org/goleak"

	"github.com/informer-walkthrough/informer-walkthrough/full/runtime/ctrl"
	"github.com/informer-walkthrough/informer-walkthrough/internal/controlplane"
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	// The metadata watches of controller-runtime's cache leave a goroutine behind when they are stopped
	// while an event is on its way; ours do not (chapter 1, gvk_fixup_watcher.go).
	controlplane.Main(m, goleak.IgnoreTopFunction("k8s.io/apimachinery/pkg/watch.(*filteredWatch).loop"))
}
