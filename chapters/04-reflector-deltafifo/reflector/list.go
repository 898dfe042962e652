package reflector

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/pager"
)

const defaultPageSize = 500

// list gives the store the whole state, at least as new as what it was told
// before.
func (r *Reflector) list(ctx context.Context) error {
	start, from := time.Now(), r.version.forList()
	limit := r.pageSize(from)
	list, paged, err := r.fetch(ctx, from, limit)
	if isUnavailable(err) {
		// At once: only without a version is there any way forward.
		r.version.setUnavailable(true)
		list, paged, err = r.fetch(ctx, r.version.forList(), limit)
	}
	if ctx.Err() != nil {
		return nil
	}
	if err == nil {
		err = refuseTable(list, r.typeDescription)
	}
	if err != nil {
		return fmt.Errorf("failed to list %v: %w", r.typeDescription, err)
	}
	if from == "0" && paged {
		r.paged = true
	}
	r.version.setUnavailable(false)
	listMeta, err := meta.ListAccessor(list)
	if err != nil {
		return fmt.Errorf("unable to understand list result %T: %w", list, err)
	}
	items, err := r.extract(list)
	if err != nil {
		return err
	}
	r.metrics.listed(time.Since(start), len(items))
	if err := r.store.Replace(items, listMeta.GetResourceVersion()); err != nil {
		return fmt.Errorf("unable to sync list result: %w", err)
	}
	r.setVersion(listMeta.GetResourceVersion())
	return nil
}

// pageSize returns the limit of list requests from a version; zero means none. A
// limit makes of "not older than this version" exactly this version, except at
// "0": the past, which an API server has to read from etcd if it has no snapshot
// of it. So there is none for a relist, unless the first list has shown that
// there is no watch cache.
func (r *Reflector) pageSize(from string) int64 {
	switch {
	case r.options.PageSize != 0:
		return r.options.PageSize
	case !r.paged && from != "" && from != "0":
		return 0
	}
	return defaultPageSize
}

// fetch requests the list, page by page if there is a limit.
func (r *Reflector) fetch(ctx context.Context, from string, limit int64) (runtime.Object, bool, error) {
	p := pager.New(func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
		return r.lw.ListWithContext(ctx, opts)
	})
	p.PageSize = limit
	var paged bool
	list, err := request(ctx, "the list of "+r.typeDescription, func() (list runtime.Object, err error) {
		list, paged, err = p.ListWithAlloc(ctx, metav1.ListOptions{ResourceVersion: from})
		return list, err
	}, func(runtime.Object) {})
	if ctx.Err() != nil {
		return nil, false, ctx.Err()
	}
	return list, paged, err
}

// extract takes a list apart, each object in memory of its own, so that one
// that stays doesn't keep the whole list.
func (r *Reflector) extract(list runtime.Object) ([]any, error) {
	items := make([]any, 0, meta.LenList(list))
	var failed error
	err := meta.EachListItemWithAlloc(list, func(obj runtime.Object) error {
		var item any
		item, failed = r.transform(obj)
		items = append(items, item)
		return failed
	})
	switch {
	case failed != nil:
		return nil, fmt.Errorf("unable to sync list result: couldn't transform object: %w", failed)
	case err != nil:
		return nil, fmt.Errorf("unable to understand list result %T: %w", list, err)
	}
	return items, nil
}
