package trace

import (
	"reflect"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

// remembered is how many events a Tracer knows the beginning of. One that is
// older starts again at zero.
const remembered = 10_000

// Tracer is told of every step by the wrappers and tells its sink. It may be used
// by any number of goroutines, and for any number of managers.
type Tracer struct {
	sink func(Event)

	// mu guards what follows. It is held while sink is called, so that lines come
	// in the order of their times; a slow sink slows the layers.
	mu      sync.Mutex
	entered map[identity]time.Time
	// oldest is a ring of the keys of entered, in the order of entry; next is the
	// place of the oldest.
	oldest []identity
	next   int
}

// New makes a tracer that calls sink for every step, one call at a time.
func New(sink func(Event)) *Tracer {
	return &Tracer{sink: sink, entered: map[identity]time.Time{}}
}

// identity tells one state of one object from all others. The Go type is part of
// it because a kind may be watched as structs and as metadata at once.
type identity struct {
	goType             reflect.Type
	kind, key, version string
}

// identify takes what goes through the layers: an object or a tombstone.
func identify(obj any) identity {
	var id identity
	if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		id, id.key = identify(tombstone.Obj), tombstone.Key
		return id.withDashes()
	}
	id.goType = reflect.TypeOf(obj)
	if o, ok := obj.(runtime.Object); ok && id.goType != nil {
		id.kind = o.GetObjectKind().GroupVersionKind().Kind
	}
	if id.kind == "" && id.goType != nil && id.goType.Kind() == reflect.Pointer {
		id.kind = id.goType.Elem().Name() // a typed object is decoded without its kind
	}
	if _, ok := obj.(*metav1.PartialObjectMetadata); ok {
		id.kind += "(meta)"
	}
	if o, err := meta.Accessor(obj); err == nil {
		id.key, id.version = cache.MetaObjectToName(o).String(), o.GetResourceVersion()
	}
	return id.withDashes()
}

// withDashes makes of each text one field of a line.
func (id identity) withDashes() identity {
	for _, text := range []*string{&id.kind, &id.key, &id.version} {
		*text = field(*text)
	}
	return id
}

func field(text string) string {
	if text == "" {
		return "-"
	}
	return strings.Join(strings.Fields(text), "_")
}

// enter is step for the first layer: time begins again if this state has been
// seen before, in an earlier list for example.
func (t *Tracer) enter(layer Layer, verb string, id identity) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.begin(id)
	t.tell(layer, verb, id, "")
}

// step tells that the state id has come to the layer; request is what is made of
// it there, or empty.
func (t *Tracer) step(layer Layer, verb string, id identity, request string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, known := t.entered[id]; !known {
		t.begin(id)
	}
	t.tell(layer, verb, id, request)
}

// begin is called with mu held, and so is tell.
func (t *Tracer) begin(id identity) {
	if _, known := t.entered[id]; !known {
		if len(t.oldest) < remembered {
			t.oldest = append(t.oldest, id)
		} else {
			delete(t.entered, t.oldest[t.next])
			t.oldest[t.next] = id
			t.next = (t.next + 1) % remembered
		}
	}
	t.entered[id] = time.Now()
}

func (t *Tracer) tell(layer Layer, verb string, id identity, request string) {
	if request == id.key {
		request = ""
	}
	t.sink(Event{
		Layer: layer, Verb: field(verb), Kind: id.kind, Key: id.key, ResourceVersion: id.version,
		Since: time.Since(t.entered[id]), Request: request,
	})
}
