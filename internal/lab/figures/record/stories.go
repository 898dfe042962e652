package record

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/informer-walkthrough/informer-walkthrough/full/runtime/assembly"
	"github.com/informer-walkthrough/informer-walkthrough/full/runtime/builder"
	"github.com/informer-walkthrough/informer-walkthrough/full/trace"
)

var idle = reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) { return reconcile.Result{}, nil })

// firstGet: chapter 1. A Get makes the informer and waits for its first list; the
// next Get only reads.
func firstGet(ctx context.Context, w *world) error {
	if err := w.create(ctx, "red", "blue"); err != nil {
		return err
	}
	mgr, err := w.demo()
	if err != nil {
		return err
	}
	return during(ctx, mgr, func(ctx context.Context) error {
		get := func() (time.Duration, error) {
			began := time.Now()
			err := mgr.GetClient().Get(ctx, client.ObjectKeyFromObject(secret("red")), &corev1.Secret{})
			return time.Since(began), err
		}
		w.begin(nil)
		w.note("client.Get(demo/red)：map 里还没有 Secret 的 informer，造一个，启动它，等它同步",
			"client.Get(demo/red): no informer for Secret in the map yet; make one, start it, wait until it has synced")
		took, err := get()
		if err != nil {
			return err
		}
		w.note(fmt.Sprintf("Get 返回，用了 %s", inMilliseconds(took)), fmt.Sprintf("Get returns; it took %s", inMilliseconds(took)))
		took, err = get()
		w.note(fmt.Sprintf("再 Get 一次：%.0f µs，没有请求发往 API server", float64(took)/1e3),
			fmt.Sprintf("Get once more: %.0f µs, and no request to the API server", float64(took)/1e3))
		return err
	})
}

func inMilliseconds(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d)/1e6) }

// predicates: chapter 2. One change is filtered out, the next one becomes a request.
func predicates(ctx context.Context, w *world) error {
	mgr, err := w.demo()
	if err != nil {
		return err
	}
	err = assembly.ControllerManagedBy(mgr, w.layers).Named("filtered").
		For(&corev1.Secret{}, builder.WithPredicates(predicate.LabelChangedPredicate{})).Complete(idle)
	if err != nil {
		return err
	}
	return during(ctx, mgr, func(ctx context.Context) error {
		w.begin(nil)
		w.note("创建 Secret demo/red", "create Secret demo/red")
		if err := errors.Join(w.create(ctx, "red"), w.await(ctx, 1, trace.Reconcile, "Done")); err != nil {
			return err
		}
		w.note("改它的 data：LabelChangedPredicate 说 false", "change its data: LabelChangedPredicate says false")
		if err := errors.Join(w.change(ctx, namespace, "red", "1"), w.await(ctx, 1, trace.Processor, "OnUpdate")); err != nil {
			return err
		}
		time.Sleep(5 * time.Millisecond) // long enough to see that nothing comes
		w.note("改它的 label：predicate 说 true", "change its labels: the predicate says true")
		return errors.Join(w.label(ctx, "red"), w.await(ctx, 1, trace.Reconcile, "Done"))
	})
}

// lateHandler: chapter 3. A handler that joins a running informer gets what is
// there, without a second list.
func lateHandler(ctx context.Context, w *world) error {
	if err := w.create(ctx, "red", "blue"); err != nil {
		return err
	}
	mgr, err := w.demo()
	if err != nil {
		return err
	}
	join := func(name string) error {
		return assembly.ControllerManagedBy(mgr, w.layers).Named(name).
			Watches(&corev1.Secret{}, enqueue("for-"+name, 0)).Complete(idle)
	}
	if err := join("early"); err != nil {
		return err
	}
	w.begin(nil)
	w.note("manager 启动，controller early 的 handler 已经注册", "the manager starts; the handler of controller early is registered")
	return during(ctx, mgr, func(ctx context.Context) error {
		if err := w.await(ctx, 2, trace.Kind, "Create"); err != nil {
			return err
		}
		if err := w.await(ctx, 1, trace.Reconcile, "Done"); err != nil {
			return err
		}
		time.Sleep(20 * time.Millisecond)
		w.note("controller late 加入正在运行的 informer：不再 list，由存储合成 Add", "controller late joins the running informer: no second list, the Adds are made from the store")
		if err := join("late"); err != nil {
			return err
		}
		if err := errors.Join(w.await(ctx, 2, trace.Kind, "Create"), w.await(ctx, 1, trace.Reconcile, "Done")); err != nil {
			return err
		}
		w.note("改 demo/red：两个 handler 都收到", "change demo/red: both handlers hear of it")
		return errors.Join(w.change(ctx, namespace, "red", "1"), w.await(ctx, 2, trace.Reconcile, "Done"))
	})
}

// enqueue makes one request of that name for every event, and takes its time. It is
// no map function: that is called twice for an update, for the old object, too.
func enqueue(name string, pause time.Duration) handler.EventHandler {
	add := func(q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
		time.Sleep(pause)
		q.Add(reconcile.Request{NamespacedName: types.NamespacedName{Name: name}})
	}
	return handler.Funcs{
		CreateFunc: func(_ context.Context, _ event.CreateEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			add(q)
		},
		UpdateFunc: func(_ context.Context, _ event.UpdateEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			add(q)
		},
	}
}

// relist: chapter 4. A watch that was cut goes on where it was; one whose version
// is too old lists again, and what went meanwhile is found missing.
func relist(ctx context.Context, w *world) error {
	if err := w.create(ctx, "red", "blue"); err != nil {
		return err
	}
	mgr, err := w.demo()
	if err != nil {
		return err
	}
	if err := assembly.ControllerManagedBy(mgr, w.layers).Named("relist").For(&corev1.Secret{}).Complete(idle); err != nil {
		return err
	}
	return during(ctx, mgr, func(ctx context.Context) error {
		if err := w.await(ctx, 2, trace.Reconcile, "Done"); err != nil {
			return err
		}
		// A watch that brought nothing within its first second counts as a failure.
		if err := errors.Join(w.change(ctx, namespace, "red", "0"), w.await(ctx, 1, trace.Reconcile, "Done")); err != nil {
			return err
		}
		w.begin(nil)
		w.note("watch 被切断；断开期间改 demo/red", "the watch is cut; meanwhile demo/red is changed")
		w.wire.Cut()
		if err := w.change(ctx, namespace, "red", "1"); err != nil {
			return err
		}
		w.note("恢复：从上次的 resourceVersion 接着 watch，没有重新 list", "mended: it watches on from the last resourceVersion, without a list")
		w.wire.Mend(false)
		if err := w.await(ctx, 1, trace.Reconcile, "Done"); err != nil {
			return err
		}
		w.note("再切断；改 demo/red，删 demo/blue", "cut again; demo/red is changed and demo/blue deleted")
		w.wire.Cut()
		if err := errors.Join(w.change(ctx, namespace, "red", "2"), w.client.Delete(ctx, secret("blue"))); err != nil {
			return err
		}
		w.note("恢复，但 API server 回答 410 Expired：重新取整个列表", "mended, but the API server answers 410 Expired: the whole list is fetched again")
		w.wire.Mend(true)
		return w.await(ctx, 2, trace.Reconcile, "Done")
	})
}

// slowHandler: chapter 5. One handler takes its time, and nobody waits for it.
func slowHandler(ctx context.Context, w *world) error {
	if err := w.create(ctx, "red"); err != nil {
		return err
	}
	mgr, err := w.demo()
	if err != nil {
		return err
	}
	for name, pause := range map[string]time.Duration{"fast": 0, "slow": 40 * time.Millisecond} {
		err := assembly.ControllerManagedBy(mgr, w.layers).Named(name).Watches(&corev1.Secret{}, enqueue(name, pause)).Complete(idle)
		if err != nil {
			return err
		}
	}
	return during(ctx, mgr, func(ctx context.Context) error {
		if err := w.await(ctx, 2, trace.Reconcile, "Done"); err != nil {
			return err
		}
		w.begin(nil)
		w.note("连改三次 demo/red；handler slow 每次要 40 ms", "demo/red is changed three times; handler slow takes 40 ms for each")
		for _, value := range []string{"1", "2", "3"} {
			if err := w.change(ctx, namespace, "red", value); err != nil {
				return err
			}
		}
		return w.await(ctx, 6, trace.Reconcile, "Done")
	})
}

// backoff: chapter 6. Reconcile fails, waits longer each time, then asks to be
// called later, then is content.
func backoff(ctx context.Context, w *world) error {
	if err := w.create(ctx, "red"); err != nil {
		return err
	}
	mgr, err := w.demo()
	if err != nil {
		return err
	}
	var calls atomic.Int32
	err = assembly.ControllerManagedBy(mgr, w.layers).Named("backoff").For(&corev1.Secret{}).
		Complete(reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
			switch calls.Add(1) {
			case 1, 2, 3:
				return reconcile.Result{}, errors.New("not yet")
			case 4:
				return reconcile.Result{RequeueAfter: 50 * time.Millisecond}, nil
			}
			return reconcile.Result{}, nil
		}))
	if err != nil {
		return err
	}
	w.begin(nil)
	w.note("Reconcile 前三次返回错误，第四次要求 50 ms 后再来", "Reconcile returns an error three times, then asks to be called again after 50 ms")
	return during(ctx, mgr, func(ctx context.Context) error { return w.await(ctx, 1, trace.Reconcile, "Done") })
}
