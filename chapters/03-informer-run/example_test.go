package informer_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	informer "github.com/informer-walkthrough/informer-walkthrough/chapters/03-informer-run"
	"github.com/informer-walkthrough/informer-walkthrough/internal/lwtest"
)

// A handler is told what is there and then what comes; the indexer is always ahead of it.
func Example() {
	server := lwtest.New(pod("a")) // stands for an API server

	i := informer.NewSharedIndexInformer(server, &corev1.Pod{}, 0, cache.Indexers{})
	seen := make(chan string)
	registration, err := i.AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(obj any, isInInitialList bool) {
			_, stored, _ := i.GetIndexer().Get(obj)
			seen <- fmt.Sprintf("add %s, initial %t, in the indexer %t", name(obj), isInInitialList, stored)
		},
		DeleteFunc: func(obj any) { seen <- "delete " + name(obj) },
	})
	if err != nil {
		fmt.Println(err)
		return
	}

	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); i.RunWithContext(ctx) }()

	fmt.Println(<-seen)
	fmt.Println("synced:", cache.WaitFor(ctx, "", registration.HasSyncedChecker()))
	server.Add(pod("b"))
	fmt.Println(<-seen)
	server.Delete(pod("a"))
	fmt.Println(<-seen)

	cancel()
	<-done
	fmt.Println("stopped:", i.IsStopped())

	// Output:
	// add a, initial true, in the indexer true
	// synced: true
	// add b, initial false, in the indexer true
	// delete a
	// stopped: true
}
