package deltafifo

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"k8s.io/client-go/tools/cache"
)

// item is what the tests queue: a value, so that formatting shows all of it.
type item struct {
	Key         string
	Version     int
	Transformed bool
}

var errNoKey = errors.New("no key")

func itemKey(obj any) (string, error) {
	if i, ok := obj.(item); ok && i.Key != "" {
		return i.Key, nil
	}
	return "", errNoKey
}

var errTransform = errors.New("can't transform")

// stamp refuses every seventh version, and objects it has seen before.
func stamp(obj any) (any, error) {
	i, ok := obj.(item)
	if !ok || i.Transformed || i.Version%7 == 6 {
		return nil, errTransform
	}
	i.Transformed = true
	return i, nil
}

// known is the consumer's store. Keys are listed in order, so that two queues
// can be compared; reading "broken" fails and "ghost" is listed but not there.
type known struct {
	mu    sync.Mutex
	items map[string]item
	ghost bool
}

func (k *known) ListKeys() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	keys := slices.Sorted(maps.Keys(k.items))
	if k.ghost {
		keys = append(keys, "ghost")
	}
	return keys
}

func (k *known) GetByKey(key string) (any, bool, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if key == "broken" {
		return nil, false, errors.New("can't read")
	}
	i, ok := k.items[key]
	return i, ok, nil
}

// apply does what an informer's consumer does with deltas.
func (k *known) apply(deltas []cache.Delta) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, d := range deltas {
		switch o := d.Object.(type) {
		case cache.DeletedFinalStateUnknown:
			delete(k.items, o.Key)
		case item:
			if d.Type == cache.Deleted {
				delete(k.items, o.Key)
			} else {
				k.items[o.Key] = o
			}
		case cache.ReplacedAllInfo:
			clear(k.items)
			for _, obj := range o.Objects {
				if i, ok := obj.(item); ok {
					k.items[i.Key] = i
				}
			}
		}
	}
}

func show(deltas []cache.Delta) string {
	out := ""
	for _, d := range deltas {
		out += fmt.Sprintf("%s%+v ", d.Type, d.Object)
	}
	return out
}
