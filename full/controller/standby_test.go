package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/informer-walkthrough/informer-walkthrough/full/api/v1alpha1"
)

// A standby's cache has what somebody asked for before the start: the kinds with an index. The kinds of the
// sources alone come when the controller starts, or with its warm-up.
func TestStandbyWatchesWhatHasAnIndex(t *testing.T) {
	indexed := []string{"configmaps", "mirrors", "secrets"}
	for name, c := range map[string]struct {
		warmup *bool
		want   []string
	}{
		"by default":     {nil, indexed},
		"with a warm-up": {new(true), []string{"configmaps", "mirrors", "namespaces", "secrets"}},
	} {
		t.Run(name, func(t *testing.T) {
			inEachWorld(t, func(w *world) {
				lock := &takenLock{asked: make(chan struct{})}
				w.start(func(o *manager.Options) {
					o.LeaderElection, o.LeaderElectionResourceLockInterface = true, lock
					o.Controller.EnableWarmup = c.warmup
				})
				<-lock.asked
				w.eventually("it lists", func() error {
					if got := w.op.listed(); len(got) < len(c.want) {
						return fmt.Errorf("only %v", got)
					}
					return nil
				})
				w.quiet()
				assert.Equal(w, c.want, w.op.listed())
				w.stop()
			})
		})
	}
}

// listed are the resources that were listed or watched in all namespaces.
func (t *traffic) listed() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var found []string
	for _, s := range t.sent {
		for _, group := range []string{"/api/v1/", "/apis/" + v1alpha1.GroupVersion.String() + "/"} {
			if resource, ok := strings.CutPrefix(s.path, group); ok && !s.write() && !strings.Contains(resource, "/") {
				found = append(found, resource)
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// takenLock is a lease that another manager holds and renews.
type takenLock struct {
	once  sync.Once
	asked chan struct{} // closed by the first try to get the lease
}

func (l *takenLock) Get(context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	l.once.Do(func() { close(l.asked) })
	now := metav1.Now()
	return &resourcelock.LeaderElectionRecord{HolderIdentity: "another", LeaseDurationSeconds: 15, RenewTime: now}, []byte(now.String()), nil
}

func (l *takenLock) Create(context.Context, resourcelock.LeaderElectionRecord) error {
	return errors.New("it exists")
}

func (l *takenLock) Update(context.Context, resourcelock.LeaderElectionRecord) error {
	return errors.New("it is another's")
}

func (l *takenLock) RecordEvent(string) {}
func (l *takenLock) Identity() string   { return "standby" }
func (l *takenLock) Describe() string   { return "taken/lease" }
