package assembly_test

import (
	"context"
	"flag"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
	"pgregory.net/rapid"

	informer "github.com/informer-walkthrough/informer-walkthrough/chapters/03-informer-run"
	. "github.com/informer-walkthrough/informer-walkthrough/full/runtime/assembly"
	"github.com/informer-walkthrough/informer-walkthrough/full/runtime/parts"
)

// informerPrograms is how many random programs each test runs; -rapid.checks overrides it.
const informerPrograms = 500

// Over the atomic in-order queue, which is what client-go runs on, nothing may differ.
func TestInformerLikeClientGos(t *testing.T) {
	checkInformers(t, OurAtomicInOrder, false, func(o observation) observation { return o })
}

// Over the plain in-order queue the store does not hear of bookmarks.
func TestInformerOverPlainInOrderLikeClientGos(t *testing.T) {
	checkInformers(t, OurInOrder, true, func(o observation) observation {
		o.stored = ""
		return o
	})
}

// Over DeltaFIFO these differences are allowed, and no other:
//   - events of different objects come in another order;
//   - what waits for one object is given together: see deletions;
//   - a deletion of an object that is unknown or deleted already is not reported;
//   - the store does not hear of bookmarks, nor of the version of a list.
//
// Syncs would be another: none comes for an object that has something queued. A program that gates the
// consumer has no resync (see anyProgram), and without a gate every sync is compared.
func TestInformerOverDeltaFIFOLikeClientGos(t *testing.T) {
	checkInformers(t, OurDeltaFIFO, true, func(o observation) observation {
		o.stored = ""
		return o
	})
}

func checkInformers(t *testing.T, queue Queue, relistsWait bool, allow func(observation) observation) {
	quiet(t)
	checks := flag.Lookup("rapid.checks")
	if checks.Value.String() == checks.DefValue {
		require.NoError(t, flag.Set("rapid.checks", fmt.Sprint(informerPrograms)))
		defer func() { require.NoError(t, flag.Set("rapid.checks", checks.DefValue)) }()
	}
	rapid.Check(t, func(rt *rapid.T) {
		p := anyProgram(rt, relistsWait)
		layers := Layers{Queue: queue}
		switch rapid.SampledFrom([]string{"none", "none", "none", "reflector", "indexer"}).Draw(rt, "of client-go's") {
		case "reflector":
			layers.NewReflector = informer.NewClientGoReflector
		case "indexer":
			layers.NewIndexer = parts.ClientGoIndexer
		}
		upstream := playOut(t, NewInformer(Layers{Informer: ClientGoInformer}), p, relistsWait)
		ours := playOut(t, NewInformer(layers), p, relistsWait)
		if d := difference(upstream, ours, order{byKey: !queue.InOrder, streamed: p.watchList}, relistsWait, allow); d != "" {
			rt.Fatal(d)
		}
	})
}

// Programs in which the consumer does not run into the gate at once, so that one of the two would go on
// further than the other. Random programs found them.
func TestGateThatTheConsumerHasToMeet(t *testing.T) {
	quiet(t)
	for name, p := range map[string]program{
		// Only client-go asks the index function about a deletion, and would be stopped by it.
		"the watch is ahead of a restored server": {
			watchList: true,
			initial:   []change{{name: gatekeeper}, {name: "a"}, {name: "b"}},
			steps: []step{
				{what: "add handler", resync: own, pace: look},
				{what: "restore", n: 2, pace: settled},
				{what: "gate", pace: settled},
				{what: "change", changes: []change{{name: "a"}, {name: "b"}, {name: "c"}}, pace: settled},
				{what: "change", changes: []change{{name: gatekeeper, delete: true}}, pace: look},
			},
		},
		// What stands before the gatekeeper in a batch is reported with it here, and before it upstream.
		"the gatekeeper is gone before the next list": {
			initial: []change{{name: gatekeeper}},
			steps: []step{
				{what: "add handler", resync: own, pace: settled},
				{what: "expire", pace: atOnce},
				{what: "gate", changes: []change{{name: gatekeeper, delete: true}}, pace: settled},
				{what: "stray", changes: []change{{name: gatekeeper}}, pace: atOnce},
				{what: "change", changes: []change{{name: gatekeeper}}, pace: look},
			},
		},
	} {
		for indexer, layers := range map[string]Layers{
			"our indexer":         {Queue: OurAtomicInOrder},
			"client-go's indexer": {Queue: OurAtomicInOrder, NewIndexer: parts.ClientGoIndexer},
		} {
			t.Run(name+"/"+indexer, func(t *testing.T) {
				upstream := playOut(t, NewInformer(Layers{Informer: ClientGoInformer}), p, false)
				ours := playOut(t, NewInformer(layers), p, false)
				require.Empty(t, difference(upstream, ours, order{streamed: p.watchList}, false, func(o observation) observation { return o }))
			})
		}
	}
}

// quiet drops logs, and the error handlers whose rate limit would make a bubble sleep for years.
func quiet(t *testing.T) {
	handlers := utilruntime.ErrorHandlers
	utilruntime.ErrorHandlers = []utilruntime.ErrorHandler{func(context.Context, error, string, ...any) {}}
	klog.SetLogger(klog.Logger{})
	t.Cleanup(func() {
		utilruntime.ErrorHandlers = handlers
		klog.ClearLogger()
	})
}
