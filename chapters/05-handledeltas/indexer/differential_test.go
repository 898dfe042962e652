package indexer_test

import (
	"flag"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
	"pgregory.net/rapid"

	"github.com/informer-walkthrough/informer-walkthrough/chapters/05-handledeltas/indexer"
)

// programs is how many random programs run on both implementations; fewer where -short asks for haste.
func programs() int {
	if testing.Short() {
		return 1000
	}
	return 10_000
}

func TestDifferential(t *testing.T) {
	checks := flag.Lookup("rapid.checks")
	if checks.Value.String() == checks.DefValue {
		require.NoError(t, flag.Set("rapid.checks", fmt.Sprint(programs())))
		defer func() { require.NoError(t, flag.Set("rapid.checks", checks.DefValue)) }()
	}
	rapid.Check(t, func(t *rapid.T) {
		p := &program{
			ours:     newIndexer(valueIndexers()),
			upstream: cache.NewIndexer(cache.DeletionHandlingMetaNamespaceKeyFunc, valueIndexers()),
		}
		t.Repeat(map[string]func(*rapid.T){
			"Add":         p.add,
			"Update":      p.update,
			"Delete":      p.delete,
			"Replace":     p.replace,
			"Transaction": p.transaction,
			"Apply":       p.apply,
			"Bookmark":    p.bookmark,
			"AddIndexers": p.addIndexers,
			"Index":       p.index,
		})
		// Once: a program that would show a difference halfway has a prefix that
		// is a program too.
		p.compare(t)
	})
}

// program is one random sequence of calls on both, everything observable compared.
type program struct {
	ours     *indexer.Indexer
	upstream cache.Indexer
	version  int
}

func (p *program) pod(t *rapid.T) *corev1.Pod {
	p.version++
	return pod(
		rapid.SampledFrom([]string{"a", "b", "c", "d", "e"}).Draw(t, "name"),
		fmt.Sprint(p.version),
		rapid.SampledFrom([]string{"", "x", "y", "z", "x,y", "y,x", "x,x", "x,y,z", "y,z,y"}).Draw(t, "values"),
	)
}

// object is mostly a pod, sometimes nothing that has a key.
func (p *program) object(t *rapid.T) any {
	if rapid.IntRange(0, 19).Draw(t, "bad") == 0 {
		return "no object"
	}
	return p.pod(t)
}

func (p *program) deleted(t *rapid.T) any {
	if rapid.Bool().Draw(t, "tombstone") {
		return cache.DeletedFinalStateUnknown{Key: "ns/" + p.pod(t).Name}
	}
	return p.object(t)
}

func (p *program) add(t *rapid.T) {
	obj := p.object(t)
	require.Equal(t, p.upstream.Add(obj), p.ours.Add(obj))
}

func (p *program) update(t *rapid.T) {
	obj := p.object(t)
	require.Equal(t, p.upstream.Update(obj), p.ours.Update(obj))
}

func (p *program) delete(t *rapid.T) {
	obj := p.deleted(t)
	require.Equal(t, p.upstream.Delete(obj), p.ours.Delete(obj))
}

func (p *program) replace(t *rapid.T) {
	list := rapid.SliceOfN(rapid.Custom(p.object), 0, 5).Draw(t, "list")
	p.version++
	version := fmt.Sprint(p.version)
	require.Equal(t, p.upstream.Replace(slices.Clone(list), version), p.ours.Replace(list, version))
}

func (p *program) transaction(t *rapid.T) {
	var txns []cache.Transaction
	for range rapid.IntRange(0, 4).Draw(t, "n") {
		txns = append(txns, cache.Transaction{
			Type:   rapid.SampledFrom([]cache.TransactionType{cache.TransactionTypeAdd, cache.TransactionTypeUpdate, cache.TransactionTypeDelete}).Draw(t, "type"),
			Object: p.object(t), // no tombstones: see TestTransactionThatEndsWithATombstone
		})
	}
	want := p.upstream.(cache.TransactionStore).Transaction(txns...)
	got := p.ours.Transaction(txns...)
	require.Equal(t, want, got)
}

// apply compares a batch with the same deltas one by one.
func (p *program) apply(t *rapid.T) {
	var deltas []cache.Delta
	var olds []any
	failed := false
	for range rapid.IntRange(0, 6).Draw(t, "n") {
		d := cache.Delta{Type: rapid.SampledFrom([]cache.DeltaType{cache.Added, cache.Updated, cache.Sync, cache.Replaced, cache.Deleted}).Draw(t, "type")}
		if d.Type == cache.Deleted {
			d.Object = p.deleted(t)
		} else {
			d.Object = p.object(t)
		}
		deltas = append(deltas, d)
		failed = failed || d.Object == "no object"
	}
	got, err := p.ours.Apply(deltas)
	require.Equal(t, failed, err != nil)
	if failed {
		return // compare finds out if anything was changed
	}
	for _, d := range deltas {
		old, _, _ := p.upstream.Get(d.Object)
		olds = append(olds, old)
		if d.Type == cache.Deleted {
			require.NoError(t, p.upstream.Delete(d.Object))
		} else {
			require.NoError(t, p.upstream.Update(d.Object))
		}
	}
	require.Len(t, got, len(olds))
	for i := range olds {
		require.Same(t, same(olds[i]), same(got[i]))
	}
}

func (p *program) bookmark(t *rapid.T) {
	p.version++
	p.ours.Bookmark(fmt.Sprint(p.version))
	p.upstream.Bookmark(fmt.Sprint(p.version))
}

func (p *program) addIndexers(t *rapid.T) {
	indexers := cache.Indexers{}
	for _, name := range rapid.SliceOfN(rapid.SampledFrom([]string{byValues, "1", "2", "3", "4"}), 0, 2).Draw(t, "names") {
		indexers[name] = firstValues(len(name) + int(name[0]-'0')%3)
	}
	want, got := p.upstream.AddIndexers(indexers), p.ours.AddIndexers(indexers)
	require.Equal(t, want != nil, got != nil)
}

// firstValues indexes by up to n values.
func firstValues(n int) cache.IndexFunc {
	return func(obj any) ([]string, error) {
		values, err := valuesOf(obj)
		return values[:min(n, len(values))], err
	}
}

func (p *program) index(t *rapid.T) {
	obj := p.object(t)
	for _, name := range []string{byValues, "1", "2", "unknown"} {
		want, wantErr := p.upstream.Index(name, obj)
		got, gotErr := p.ours.Index(name, obj)
		require.Equal(t, wantErr, gotErr)
		requireSameObjects(t, want, got)
	}
	want, wantExists, wantErr := p.upstream.Get(obj)
	got, gotExists, gotErr := p.ours.Get(obj)
	require.Equal(t, wantErr, gotErr)
	require.Equal(t, wantExists, gotExists)
	require.Same(t, same(want), same(got))
}

func (p *program) compare(t *rapid.T) {
	require.NoError(t, p.ours.Check())
	require.Equal(t, p.upstream.LastStoreSyncResourceVersion(), p.ours.LastStoreSyncResourceVersion())
	requireSameObjects(t, p.upstream.List(), p.ours.List())
	require.Equal(t, sorted(p.upstream.ListKeys()), sorted(p.ours.ListKeys()))
	for _, key := range []string{"ns/a", "ns/b", "unknown"} {
		want, wantExists, _ := p.upstream.GetByKey(key)
		got, gotExists, err := p.ours.GetByKey(key)
		require.NoError(t, err)
		require.Equal(t, wantExists, gotExists)
		require.Same(t, same(want), same(got))
	}
	require.Len(t, p.ours.GetIndexers(), len(p.upstream.GetIndexers()))
	for name := range p.upstream.GetIndexers() {
		require.Contains(t, p.ours.GetIndexers(), name)
	}
	for _, name := range []string{byValues, "1", "2", "unknown"} {
		require.Equal(t, sorted(p.upstream.ListIndexFuncValues(name)), sorted(p.ours.ListIndexFuncValues(name)))
		for _, value := range []string{"x", "y", "z", "unknown"} {
			wantObjs, wantErr := p.upstream.ByIndex(name, value)
			gotObjs, gotErr := p.ours.ByIndex(name, value)
			require.Equal(t, wantErr, gotErr)
			requireSameObjects(t, wantObjs, gotObjs)
			wantKeys, wantErr := p.upstream.IndexKeys(name, value)
			gotKeys, gotErr := p.ours.IndexKeys(name, value)
			require.Equal(t, wantErr, gotErr)
			require.Equal(t, wantKeys, gotKeys)
		}
	}
}

// same makes what may be nil comparable by identity.
func same(obj any) *corev1.Pod {
	p, _ := obj.(*corev1.Pod)
	return p
}

func requireSameObjects(t *rapid.T, want, got []any) {
	missing := map[*corev1.Pod]bool{}
	for _, obj := range want {
		missing[same(obj)] = true
	}
	for _, obj := range got {
		if !missing[same(obj)] {
			t.Fatalf("%v is not what upstream has, or twice", obj)
		}
		delete(missing, same(obj))
	}
	if len(missing) > 0 || (want == nil) != (got == nil) {
		t.Fatalf("upstream has %v, ours has %v", want, got)
	}
}

func sorted(s []string) []string {
	slices.Sort(s)
	return s
}
