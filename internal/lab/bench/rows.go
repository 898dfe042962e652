package main

import (
	"regexp"
	"time"
)

// What is compared: upstream as it comes, our chapters on the article's DeltaFIFO,
// which is their default, and on their in-order queue.
const (
	upstream = "upstream"
	chapters = "chapters"
	inOrder  = "chapters-inorder"
)

var (
	two   = []string{upstream, chapters}
	three = []string{upstream, chapters, inOrder}
)

// row is one line of the table: one unit of one benchmark.
type row struct {
	layer string // the chapter that the text shows it in; "full" for the whole system
	what  string
	// bench names the benchmark; its last part, impl=…, is left out.
	bench string
	times string // for -test.benchtime; in iterations, so that all implementations do the same
	unit  string
	impls []string
	goal  goal
	// most is the gate: a higher ratio fails. Zero: only what is slower than upstream fails.
	most float64
	// why the goal is missed, if it is: what profiles say.
	why string
}

// goal is what the ratio shall be at most.
type goal struct{ deltaFIFO, inOrder float64 }

func both(ratio float64) goal { return goal{ratio, ratio} }

func (g goal) of(impl string) float64 {
	if impl == inOrder {
		return g.inOrder
	}
	return g.deltaFIFO
}

// Why goals are missed: what the profiles of both say, see docs/BENCHMARKS.md.
const (
	sameKey    = "Two thirds of our Get is the key, which client-go's own function makes for both."
	sameCopies = "The copies that both make of each object, and the garbage collector that they keep busy, are most of what is left of ours."
	deepCopy   = "The deep copy is the same code in both; only what is around it is ours."
	oneMap     = "Our CPU time is three quarters of upstream's, and most of it is one map that grows to 100,000 items. But upstream spreads its work over two goroutines, the one that adds and the one that waits, and the row measures time."
	decoding   = "A third of the peak are the program's own pages, and of what is allocated on the heap six sevenths (upstream) to nine tenths (ours) is decoding: the objects and the buffers of the stream. It is the same code in both."
	trickle    = "Events come one by one, 0.2 s of CPU time in 3 s. A profile has few samples of that (14 of ours): a third are in the layers' goroutines, the rest is decoding, HTTP, the garbage collector and goroutines that wake one another."
	shared     = "Not from a profile: start of the process, TLS, HTTP and decoding, and the time that the API server takes for its answer, are the same in both."
	wakeUps    = "With few events under way the time is that of goroutines that wake one another, and those that are left are needed."
	mapOfKeys  = "A quarter of the time of ours is the garbage collector, and most of the rest goes into reading objects that no cache holds yet: names, namespaces, versions. DeltaFIFO groups by key, besides: to build the key and to put it into a map is about a third of its time, and why the in-order queue is faster."
	callersOwn = "The walk over the set is a sixth of our time. Four fifths are the slice that the caller gets for its own: to allocate it, and the collector's scan of it."
	oneLock    = "Two fifths of our time, and with 8 workers nearly half, is the lock, taken once by each of Add, Get and Done; most of the rest is the one map, which hashes the two strings of a request four times on its way."
	theirTypes = "Of our 32 allocations 19 are what a reconcile gets by its interface: a logger with the request's values, a context that carries it, an ID."
	caches     = "The collector's share is the same in both lists. What grows is the share of the maps that a list goes through (three with DeltaFIFO: the listed keys, the queue's, the store's): with 100,000 keys the processor's caches no longer hold them."
)

// rows are all lines, in the order of the table. Rows that share a benchmark share its runs.
var rows = []row{
	{layer: "01", what: "client.Get from the cache", bench: "ClientGet", times: "100000x", unit: "ns/op", impls: two, goal: both(0.9), why: deepCopy},
	{layer: "01", what: "client.List of 100 of 10,000, by namespace", bench: "ClientList/by=namespace", times: "2000x", unit: "ns/op", impls: two, goal: both(0.9), why: deepCopy},
	{layer: "01", what: "client.List of 100 of 10,000, by field index", bench: "ClientList/by=field", times: "2000x", unit: "ns/op", impls: two, goal: both(0.9), why: deepCopy},

	{layer: "02", what: "Kind: an update through predicate and handler to the queue", bench: "Kind", times: "1000000x", unit: "ns/op", impls: two},

	{layer: "03", what: "watch updates of all objects in turn, 1 handler", bench: "Watch/handlers=1", times: "200000x", unit: "ns/op", impls: three, goal: goal{0.25, 0.18}, most: 0.4, why: mapOfKeys},
	{layer: "03", what: "watch updates of one hot object, 1 handler", bench: "HotObject", times: "20000x", unit: "ns/op", impls: three, goal: both(0.05), most: 0.05},
	{layer: "03", what: "watch updates, 8 handlers", bench: "Watch/handlers=8", times: "50000x", unit: "ns/op", impls: three, goal: both(0.15), most: 0.4, why: mapOfKeys},
	{layer: "03", what: "watch updates, 1 handler, beside one that is blocked", bench: "BlockedHandler", times: "100000x", unit: "ns/op", impls: three, goal: goal{0.25, 0.18}, why: mapOfKeys},
	{layer: "03", what: "initial list to the last OnAdd, 1,000 objects", bench: "List/objects=1000", times: "100x", unit: "ns/object", impls: three, goal: both(0.5), why: sameCopies},
	{layer: "03", what: "initial list to the last OnAdd, 10,000 objects", bench: "List/objects=10000", times: "15x", unit: "ns/object", impls: three, goal: both(0.5), most: 0.8, why: sameCopies},
	{layer: "03", what: "initial list to the last OnAdd, 100,000 objects", bench: "List/objects=100000", times: "1x", unit: "ns/object", impls: three, goal: both(0.5), most: 0.8, why: sameCopies},
	{layer: "03", what: "heap per cached object, 100,000 pods, 1 handler", bench: "Heap", times: "1x", unit: "B/object", impls: three, goal: both(1)},

	{layer: "04", what: "reflector alone: a watch event to the store", bench: "Reflector", times: "300000x", unit: "ns/op", impls: two},
	{layer: "04", what: "reflector alone: a list of 1,000 objects to the store", bench: "ReflectorList", times: "300x", unit: "ns/object", impls: two},
	{layer: "04", what: "queue alone: Update to the consumer, 1,000 objects in turn", bench: "DeltaQueue/objects=1000", times: "300000x", unit: "ns/op", impls: three},
	{layer: "04", what: "queue alone: Update to the consumer, one hot object", bench: "DeltaQueue/objects=1", times: "300000x", unit: "ns/op", impls: three},

	{layer: "05", what: "chapter 5 on client-go's reflector and queue, 1 handler", bench: "Chapter5/handlers=1", times: "100000x", unit: "ns/op", impls: two},
	{layer: "05", what: "chapter 5 on client-go's reflector and queue, 8 handlers", bench: "Chapter5/handlers=8", times: "50000x", unit: "ns/op", impls: two},
	{layer: "05", what: "Indexer: Get", bench: "IndexerGet", times: "3000000x", unit: "ns/op", impls: two, goal: both(0.9), why: sameKey},
	{layer: "05", what: "Indexer: Get under a writer", bench: "IndexerGetUnderWriter", times: "2000000x", unit: "ns/op", impls: two, goal: both(0.65), why: sameKey},
	{layer: "05", what: "Indexer: Update", bench: "IndexerUpdate", times: "1000000x", unit: "ns/op", impls: two, goal: both(0.6)},
	{layer: "05", what: "Indexer: Replace", bench: "IndexerReplace", times: "60x", unit: "ns/object", impls: two, goal: both(0.45)},
	{layer: "05", what: "Indexer: ByIndex of 100", bench: "IndexerByIndex", times: "200000x", unit: "ns/op", impls: two, goal: both(0.33), why: callersOwn},
	{layer: "05", what: "Indexer: ByIndex of 100, under a writer", bench: "IndexerByIndexUnderWriter", times: "100000x", unit: "ns/op", impls: two, goal: both(0.33), why: callersOwn},
	{layer: "05", what: "Indexer: ByIndex of 100, parallel", bench: "IndexerByIndexParallel", times: "200000x", unit: "ns/op", impls: two, goal: both(0.33), why: callersOwn},

	{layer: "06", what: "workqueue: Add, Get, Forget, Done, 1 worker", bench: "Workqueue/workers=1", times: "1000000x", unit: "ns/op", impls: two, goal: both(0.5), why: oneLock},
	{layer: "06", what: "workqueue: Add, Get, Forget, Done, 8 workers", bench: "Workqueue/workers=8", times: "1000000x", unit: "ns/op", impls: two, goal: both(0.5), why: oneLock},
	{layer: "06", what: "priority queue: the same, 1 worker", bench: "PriorityQueue/workers=1", times: "200000x", unit: "ns/op", impls: two, goal: both(0.5)},
	{layer: "06", what: "priority queue: the same, 8 workers", bench: "PriorityQueue/workers=8", times: "200000x", unit: "ns/op", impls: two, goal: both(0.5)},
	{layer: "06", what: "AddAfter of 100,000 items, all due", bench: "AddAfter", times: "4x", unit: "ns/item", impls: two, goal: both(0.5), why: oneMap},

	{layer: "full", what: "event to the start of Reconcile, 1 worker, p50", bench: "Latency/workers=1", times: "20000x", unit: "ns/p50", impls: three, goal: both(0.5), why: wakeUps},
	{layer: "full", what: "event to the start of Reconcile, 1 worker, p99", bench: "Latency/workers=1", times: "20000x", unit: "ns/p99", impls: three, goal: both(0.5), why: wakeUps},
	{layer: "full", what: "event to the start of Reconcile, 10 workers, p50", bench: "Latency/workers=10", times: "20000x", unit: "ns/p50", impls: three, goal: both(0.5), why: wakeUps},
	{layer: "full", what: "event to the start of Reconcile, 10 workers, p99", bench: "Latency/workers=10", times: "20000x", unit: "ns/p99", impls: three, goal: both(0.5), why: wakeUps},
	{layer: "full", what: "event to Reconcile at saturation, 1 worker", bench: "Saturation/workers=1", times: "25000x", unit: "ns/op", impls: three, goal: both(0.5), why: theirTypes},
	{layer: "full", what: "event to Reconcile at saturation, 10 workers", bench: "Saturation/workers=10", times: "25000x", unit: "ns/op", impls: three, goal: both(0.5), why: theirTypes},

	{layer: "full", what: "envtest: manager start to the first reconcile, 10,000 ConfigMaps", bench: "EnvtestStart", times: "1x", unit: "s-to-first", impls: three, goal: both(0.8), why: shared},
	{layer: "full", what: "envtest: peak memory of that", bench: "EnvtestStart", times: "1x", unit: "peak-MB", impls: three, goal: both(0.8), why: decoding},
	{layer: "full", what: "envtest: 2,000 objects created, all reconciled once: CPU of the operator", bench: "EnvtestCreate", times: "1x", unit: "cpu-s", impls: three, goal: both(0.8), why: trickle},
}

// The points of the plot.
var (
	scaleObjects  = []int{1000, 10_000, 100_000, 1_000_000}
	scaleHandlers = []int{1, 2, 4, 8, 16, 32, 64}
)

const (
	scaleTimes        = "50000x"
	objectsOfHandlers = 10_000
	// perObjectAt100k: what an object of a list of 100,000 may cost of ours, compared
	// with one of a list of 10,000.
	perObjectAt100k = 1.4
	// timeLimit is for one run of one benchmark.
	timeLimit = 2 * time.Minute
)

// choose returns the rows whose benchmark or description matches.
func choose(expr string) ([]row, error) {
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, err
	}
	var chosen []row
	for _, r := range rows {
		if re.MatchString(r.bench) || re.MatchString(r.what) {
			chosen = append(chosen, r)
		}
	}
	return chosen, nil
}
