package upstream_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/informer-walkthrough/informer-walkthrough/internal/lab/upstream"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A ref leads to the declaration's own lines, in today's modules and in the article's.
func TestResolve(t *testing.T) {
	for ref, c := range map[string]struct{ url, first string }{
		"client-go/tools/cache#Reflector.watch":                                                    {"https://github.com/kubernetes/client-go/blob/v0.37.2/tools/cache/reflector.go#L", "func (r *Reflector) watch("},
		"client-go@v0.23.5/tools/cache#DeltaFIFO.Pop":                                              {"https://github.com/kubernetes/client-go/blob/v0.23.5/tools/cache/delta_fifo.go#L515-L", "func (f *DeltaFIFO) Pop("},
		"client-go@v0.23.5/tools/cache#Reflector.watchHandler /case watch.Added/":                  {"https://github.com/kubernetes/client-go/blob/v0.23.5/tools/cache/reflector.go#L500-L504", "case watch.Added:"},
		"controller-runtime@v0.11.2/pkg/cache/internal#specificInformersMap.started":               {"https://github.com/kubernetes-sigs/controller-runtime/blob/v0.11.2/pkg/cache/internal/informers_map.go#L117", "started bool"},
		"controller-runtime@v0.11.2/pkg/internal/controller/controller.go#Controller.startWatches": {"https://github.com/kubernetes-sigs/controller-runtime/blob/v0.11.2/pkg/internal/controller/controller.go#L84", "startWatches []watchDescription"},
		"controller-runtime/pkg/reconcile#Result.Requeue":                                          {"https://github.com/kubernetes-sigs/controller-runtime/blob/v0.25.2/pkg/reconcile/reconcile.go#L", "Requeue bool"},
		"controller-runtime/pkg/handler#TypedEventHandler.Create":                                  {"https://github.com/kubernetes-sigs/controller-runtime/blob/v0.25.2/pkg/handler/eventhandler.go#L", "Create("},
		"apimachinery/pkg/runtime/schema#GroupVersionKind":                                         {"https://github.com/kubernetes/apimachinery/blob/v0.37.2/pkg/runtime/schema/group_version.go#L", "type GroupVersionKind struct"},
	} {
		t.Run(ref, func(t *testing.T) {
			s, err := upstream.Resolve(ref)
			require.NoError(t, err)
			assert.True(t, strings.HasPrefix(s.URL, c.url), s.URL)
			text, err := os.ReadFile(s.File)
			require.NoError(t, err)
			assert.Contains(t, strings.Split(string(text), "\n")[s.Line-1], c.first)
			assert.GreaterOrEqual(t, s.End, s.Line)
			assert.Regexp(t, `^[0-9a-f]{8}$`, s.Hash)
		})
	}
}

// A ref that leads nowhere says which part of it is wrong.
func TestResolveErrors(t *testing.T) {
	for ref, want := range map[string]string{
		"client-go/tools/cache":                                "is not written like client-go/tools/cache#Reflector.watch",
		"kubectl/pkg#X":                                        `module "kubectl" is not one of`,
		"client-go/tools/cash#X":                               "client-go@v0.37.2/tools/cash is no package: no Go declarations in",
		"client-go/tools/cache#Reflector.watchHandler":         "client-go@v0.37.2/tools/cache: no symbol Reflector.watchHandler; nearest: ",
		"client-go/tools/cache/store.go#Reflector":             "client-go@v0.37.2/tools/cache: Reflector is not in store.go but in reflector.go",
		"client-go/tools/cache#Reflector.watch /no such line/": "client-go@v0.37.2/tools/cache#Reflector.watch: no statement begins on a line that matches /no such line/",
	} {
		t.Run(ref, func(t *testing.T) {
			_, err := upstream.Resolve(ref)
			assert.ErrorContains(t, err, want)
		})
	}
}

// The lock names each place whose symbol is new to it, gone or changed, and never accepts a change by itself.
func TestLock(t *testing.T) {
	const same, changed, unknown, gone = "client-go/tools/cache#NewIndexer", "client-go/tools/cache#NewStore", "client-go/tools/cache#Store", "client-go/tools/cache#Gone"
	uses := []upstream.Use{{same, "here"}, {changed, "README.md:7"}, {unknown, "there"}, {gone, "row S001"}}
	lock := upstream.Lock{}
	require.NoError(t, lock.Add(uses[:1]))
	lock[changed] = "00000000"

	file := filepath.Join(t.TempDir(), "lock")
	require.NoError(t, lock.Save(file))
	lock, err := upstream.LoadLock(file)
	require.NoError(t, err)

	faults := lock.Compare(uses)
	require.Len(t, faults, 3)
	assert.ErrorContains(t, faults[0], "README.md:7: client-go/tools/cache#NewStore has changed since this was written")
	assert.ErrorContains(t, faults[1], "there: client-go/tools/cache#Store is not in docs/upstream.lock")
	assert.ErrorContains(t, faults[2], "row S001: client-go@v0.37.2/tools/cache: no symbol Gone")

	assert.ErrorContains(t, lock.Add(uses), "row S001")
	assert.NotEmpty(t, lock[unknown])
	assert.Equal(t, "00000000", lock[changed])
	lock.Prune(uses[2:])
	assert.Len(t, lock, 1)

	none, err := upstream.LoadLock(filepath.Join(t.TempDir(), "none"))
	require.NoError(t, err)
	assert.Empty(t, none)
	require.NoError(t, os.WriteFile(file, []byte("0123abcd\n"), 0o600))
	_, err = upstream.LoadLock(file)
	assert.ErrorContains(t, err, "lock:1: \"0123abcd\" is not a hash and a ref")
}
