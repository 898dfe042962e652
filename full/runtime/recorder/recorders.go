package recorder

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/tools/record"
)

// coreRecorder emits core/v1 events; the first one starts the provider.
type coreRecorder struct {
	provider *Provider
	name     string
	once     sync.Once
	to       record.EventRecorder
}

func (r *coreRecorder) emit(send func(record.EventRecorder)) {
	r.provider.emit(func(b *broadcasters) {
		r.once.Do(func() {
			r.to = b.core.NewRecorder(r.provider.scheme, corev1.EventSource{Component: r.name})
		})
		send(r.to)
	})
}

func (r *coreRecorder) Event(object runtime.Object, eventtype, reason, message string) {
	r.emit(func(to record.EventRecorder) { to.Event(object, eventtype, reason, message) })
}

func (r *coreRecorder) Eventf(object runtime.Object, eventtype, reason, messageFmt string, args ...any) {
	r.emit(func(to record.EventRecorder) { to.Eventf(object, eventtype, reason, messageFmt, args...) })
}

func (r *coreRecorder) AnnotatedEventf(object runtime.Object, annotations map[string]string, eventtype, reason, messageFmt string, args ...any) {
	r.emit(func(to record.EventRecorder) {
		to.AnnotatedEventf(object, annotations, eventtype, reason, messageFmt, args...)
	})
}

// eventsRecorder emits events.k8s.io/v1 events; the first one starts the provider.
type eventsRecorder struct {
	provider *Provider
	name     string
	once     sync.Once
	to       events.EventRecorderLogger
}

func (r *eventsRecorder) emit(send func(events.EventRecorderLogger)) {
	r.provider.emit(func(b *broadcasters) {
		r.once.Do(func() { r.to = b.events.NewRecorder(r.provider.scheme, r.name) })
		send(r.to)
	})
}

func (r *eventsRecorder) Eventf(regarding, related runtime.Object, eventtype, reason, action, note string, args ...any) {
	r.emit(func(to events.EventRecorderLogger) {
		to.Eventf(regarding, related, eventtype, reason, action, note, args...)
	})
}

func (r *eventsRecorder) AnnotatedEventf(regarding, related runtime.Object, annotations map[string]string, eventtype, reason, action, note string, args ...any) {
	r.emit(func(to events.EventRecorderLogger) {
		// Every recorder of client-go's has this method; only its interface says so in a second place.
		to.(events.AnnotatedEventRecorder).AnnotatedEventf(regarding, related, annotations, eventtype, reason, action, note, args...)
	})
}
