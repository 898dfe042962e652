package recorder

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// broadcasters are the running halves of a Provider, one for each event API. Each writes its events
// to the API server and, at log level 1, to the logger.
type broadcasters struct {
	core         record.EventBroadcaster
	coreIsShared bool
	coreWatches  []watch.Interface

	events     events.EventBroadcaster
	stopEvents []func()
}

func startBroadcasters(p *Provider) *broadcasters {
	b := &broadcasters{core: p.shared, coreIsShared: p.shared != nil}
	if b.core == nil {
		b.core = record.NewBroadcaster()
	}
	b.coreWatches = []watch.Interface{
		b.core.StartRecordingToSink(&corev1client.EventSinkImpl{Interface: p.core}),
		b.core.StartEventWatcher(func(e *corev1.Event) {
			p.logger.V(1).Info(e.Message, "type", e.Type, "object", e.InvolvedObject, "reason", e.Reason)
		}),
	}

	ctx, cancel := context.WithCancel(log.IntoContext(context.Background(), p.logger))
	b.events = events.NewBroadcaster(&events.EventSinkImpl{Interface: p.events})
	b.stopEvents = append(b.stopEvents, cancel)
	if err := b.events.StartRecordingToSinkWithContext(ctx); err != nil {
		p.logger.Error(err, "Events of events.k8s.io/v1 are not written to the API server")
	}
	stopLogging, err := b.events.StartLogging(p.logger.V(1))
	if err != nil {
		p.logger.Error(err, "Events of events.k8s.io/v1 are not logged")
	} else {
		b.stopEvents = append(b.stopEvents, stopLogging)
	}
	return b
}

func (b *broadcasters) stop() {
	b.events.Shutdown()
	for _, stop := range b.stopEvents {
		stop()
	}
	if b.coreIsShared {
		// The broadcaster goes on for others, but what we attached to it must not.
		for _, w := range b.coreWatches {
			w.Stop()
		}
		return
	}
	b.core.Shutdown()
}
