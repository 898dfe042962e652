package informer

import (
	"context"

	"k8s.io/client-go/tools/cache"
)

// GetController returns a view of the informer that can't be run: who starts a
// shared informer is not decided by those who share it.
func (s *sharedIndexInformer) GetController() cache.Controller { return dummyController{s} }

// dummyController stands for client-go's type of that name.
type dummyController struct{ informer *sharedIndexInformer }

func (dummyController) Run(<-chan struct{})            {}
func (dummyController) RunWithContext(context.Context) {}

func (d dummyController) HasSynced() bool { return d.informer.HasSynced() }

func (d dummyController) HasSyncedChecker() cache.DoneChecker { return d.informer.HasSyncedChecker() }

func (d dummyController) LastSyncResourceVersion() string {
	return d.informer.LastSyncResourceVersion()
}
