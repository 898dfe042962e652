package processor_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-walkthrough/informer-walkthrough/chapters/05-handledeltas/processor"
)

// A stop in the pause after a panic drops the call that would have come next. If
// that was the last of the initial list, the handler has not seen all of it.
func TestHandlerThatIsStoppedInThePauseIsNotSynced(t *testing.T) {
	for name, end := range map[string]func(p *processor.Processor, r cache.ResourceEventHandlerRegistration, stop func()) error{
		"removed": func(p *processor.Processor, r cache.ResourceEventHandlerRegistration, _ func()) error {
			return p.Remove(r)
		},
		"stopped": func(_ *processor.Processor, _ cache.ResourceEventHandlerRegistration, stop func()) error {
			stop()
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, p *processor.Processor) {
				dontCrash(t)
				h := &recorder{before: func(event string) {
					if event == "add 1 initial=true" {
						panic("not this one")
					}
				}}
				registration := addHandler(p, h)
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan struct{})
				go func() { defer close(done); p.Run(ctx) }()
				p.OnAdd(1, true)
				p.OnAdd(2, true)
				p.Synced()
				synctest.Wait()
				assert.NoError(t, end(p, registration, cancel))
				synctest.Wait()
				assert.Empty(t, h.got(), "2 was dropped")
				assert.False(t, registration.HasSynced())
				cancel()
				<-done
			})
		})
	}
}
