package reflector

import "sync"

// version is how far the store was told everything, and whether a server still
// knows that version. It guards itself.
type version struct {
	mu   sync.RWMutex
	last string
	// unavailable is true after a request at last was refused because the server
	// has forgotten it, or doesn't know it yet.
	unavailable bool
}

func (v *version) synced() string {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.last
}

func (v *version) set(last string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.last = last
}

func (v *version) setUnavailable(unavailable bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.unavailable = unavailable
}

// forList returns the version that the next list must not be older than: "0"
// takes whatever a server has cached, "" asks etcd. A server that lags behind
// must not take the store back in time.
func (v *version) forList() string {
	v.mu.RLock()
	defer v.mu.RUnlock()
	switch {
	case v.unavailable:
		return ""
	case v.last == "":
		return "0"
	}
	return v.last
}

// forStream is forList for a streamed list, where "" is the latest in any case.
func (v *version) forStream() string {
	v.mu.RLock()
	defer v.mu.RUnlock()
	if v.unavailable {
		return ""
	}
	return v.last
}
