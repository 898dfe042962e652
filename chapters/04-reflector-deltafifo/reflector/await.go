package reflector

import (
	"context"
	"time"

	"k8s.io/klog/v2"
)

// sayEvery is how often a wait says what it waits for.
const sayEvery = 10 * time.Second

// await waits for done and says every ten seconds what for. It reports false if
// ctx ended first.
func await[T any](ctx context.Context, what string, done <-chan T) (T, bool) {
	start := time.Now()
	ticker := time.NewTicker(sayEvery)
	defer ticker.Stop()
	for {
		select {
		case v := <-done:
			return v, true
		case <-ctx.Done():
			var none T
			return none, false
		case <-ticker.C:
			klog.FromContext(ctx).Info("Still waiting", "for", what, "since", time.Since(start).Round(time.Second))
		}
	}
}

type answer[T any] struct {
	value    T
	err      error
	panicked any
}

// request makes a call that should end with ctx and is left alone if it doesn't:
// a lister that ignores its context must not keep the reflector from ending.
// drop gets the value that nobody waits for any more. A panic of the call
// reaches the caller.
func request[T any](ctx context.Context, what string, call func() (T, error), drop func(T)) (T, error) {
	answers := make(chan answer[T])
	go func() {
		var a answer[T]
		defer func() {
			a.panicked = recover()
			select {
			case answers <- a:
			case <-ctx.Done():
				if a.err == nil && a.panicked == nil {
					drop(a.value)
				}
			}
		}()
		a.value, a.err = call()
	}()
	a, ok := await(ctx, what, answers)
	if !ok {
		return a.value, ctx.Err()
	}
	if a.panicked != nil {
		panic(a.panicked)
	}
	return a.value, a.err
}
