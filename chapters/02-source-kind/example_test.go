package source_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cache/informertest"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	source "github.com/informer-walkthrough/informer-walkthrough/chapters/02-source-kind"
)

// An event of an informer becomes a request in a queue.
func Example() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	cache := &informertest.FakeInformers{}
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	defer queue.ShutDown()

	var watches source.Watches[reconcile.Request]
	labelled := predicate.NewTypedPredicateFuncs(func(p *corev1.Pod) bool { return p.Labels["watch"] == "me" })
	src := source.Kind(cache, &corev1.Pod{}, &handler.TypedEnqueueRequestForObject[*corev1.Pod]{}, labelled)
	if err := watches.Watch(src); err != nil {
		fmt.Println(err)
	}
	if err := watches.Start(ctx, queue); err != nil {
		fmt.Println(err)
	}

	informer, err := cache.FakeInformerFor(ctx, &corev1.Pod{})
	if err != nil {
		fmt.Println(err)
	}
	informer.Add(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "silent"}})
	informer.Add(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", Labels: map[string]string{"watch": "me"}}})

	request, _ := queue.Get()
	fmt.Println(request)
	queue.Done(request)
	fmt.Println(queue.Len(), "left")
	// Output:
	// default/web
	// 0 left
}
