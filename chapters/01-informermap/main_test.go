package informermap

import (
	"testing"

	"github.com/go-logr/logr"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/informer-walkthrough/informer-walkthrough/internal/controlplane"
)

func TestMain(m *testing.M) {
	// The handlers behind the first slow errors down by the real clock, which in
	// a synctest bubble means years.
	utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1]
	ctrllog.SetLogger(logr.Discard())
	controlplane.Main(m)
}
