package source_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/go-logr/logr/funcr"
	"go.uber.org/goleak"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/informer-walkthrough/informer-walkthrough/internal/controlplane"
)

func TestMain(m *testing.M) {
	log.SetLogger(funcr.New(func(_, args string) { logged.add(args) }, funcr.Options{}))
	// controller-runtime's metadata informers read their watch through watch.Filter,
	// whose loop stays behind if the stream ends with an error nobody reads any more.
	// And its cache of several namespaces waits for ever for a handler that was stopped
	// before it had synced.
	controlplane.Main(m, goleak.IgnoreAnyFunction("k8s.io/apimachinery/pkg/watch.(*filteredWatch).loop"),
		goleak.IgnoreTopFunction("sigs.k8s.io/controller-runtime/pkg/cache.newMultiNamespaceInformerHandlerRegistration.func1"))
}

// logged is what the package's loggers said.
var logged lines

// lines collects log lines.
type lines struct {
	mu  sync.Mutex
	all []string
}

func (l *lines) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, line)
}

// with counts the lines that contain all the words.
func (l *lines) with(words ...string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
next:
	for _, line := range l.all {
		for _, w := range words {
			if !strings.Contains(line, w) {
				continue next
			}
		}
		n++
	}
	return n
}
