package processor

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"
)

// notification is one call that handlers are to get. Stands for client-go's
// addNotification, updateNotification and deleteNotification in one: a slice of
// these is one allocation, whatever is in it.
type notification struct {
	verb            verb
	isInInitialList bool
	old, obj        any
}

type verb uint8

const (
	add verb = iota
	update
	// resync is an update in name only: the object is as it was, and only who
	// asked to see it again gets it.
	resync
	remove
)

func (n *notification) call(h cache.ResourceEventHandler) {
	switch n.verb {
	case add:
		h.OnAdd(n.obj, n.isInInitialList)
	case update, resync:
		h.OnUpdate(n.old, n.obj)
	case remove:
		h.OnDelete(n.obj)
	}
}

// updateVerb tells a change from a resync by the resourceVersions alone. Where
// the update comes from says nothing: a relist brings changes that a watch
// missed, and must not bring all the rest as news.
func updateVerb(old, obj any) verb {
	a, err := meta.Accessor(old)
	if err != nil {
		return update
	}
	b, err := meta.Accessor(obj)
	if err != nil || a.GetResourceVersion() != b.GetResourceVersion() {
		return update
	}
	return resync
}
