package assembly_test

import (
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	informer "github.com/informer-walkthrough/informer-walkthrough/chapters/03-informer-run"
	. "github.com/informer-walkthrough/informer-walkthrough/full/runtime/assembly"
	"github.com/informer-walkthrough/informer-walkthrough/full/runtime/builder"
	"github.com/informer-walkthrough/informer-walkthrough/full/runtime/parts"
)

// choice is one way to take a seat; nil leaves it to ours.
type choice struct {
	name string
	take func(*Layers)
}

// axis is one seat and all that can sit there.
type axis struct {
	name    string
	choices []choice
	inner   bool // it is a part of our informer
}

const (
	ours     = "ours"
	clientGo = "client-go"
	ctrlRun  = "controller-runtime"
	onePiece = "its own" // the inner parts of client-go's informer
)

var axes = []axis{
	{name: "manager", choices: []choice{{ours, nil}, {ctrlRun, func(l *Layers) { l.NewManager = manager.New }}}},
	{name: "cache", choices: []choice{{ours, nil}, {ctrlRun, func(l *Layers) { l.NewCache = cache.New }}}},
	{name: "informer", choices: []choice{{ours, nil}, {clientGo, func(l *Layers) { l.Informer = ClientGoInformer }}}},
	{name: "queue", inner: true, choices: []choice{
		{"our DeltaFIFO", nil},
		{"our InOrder", func(l *Layers) { l.Queue = OurInOrder }},
		{"our InOrder, atomic", func(l *Layers) { l.Queue = OurAtomicInOrder }},
		{"client-go DeltaFIFO", func(l *Layers) { l.Queue = ClientGoDeltaFIFO }},
		{"RealFIFO", func(l *Layers) { l.Queue = ClientGoRealFIFO }},
		{"RealFIFO, atomic", func(l *Layers) { l.Queue = ClientGoAtomicRealFIFO }},
		{onePiece, nil},
	}},
	{name: "reflector", inner: true, choices: []choice{
		{ours, nil}, {clientGo, func(l *Layers) { l.NewReflector = informer.NewClientGoReflector }}, {onePiece, nil}}},
	{name: "indexer", inner: true, choices: []choice{
		{ours, nil}, {clientGo, func(l *Layers) { l.NewIndexer = parts.ClientGoIndexer }}, {onePiece, nil}}},
	{name: "HandleDeltas, processor", inner: true, choices: []choice{
		{ours, nil},
		{"naive", func(l *Layers) {
			l.HandleDeltas, l.NewProcessor = informer.NaiveHandleDeltas, informer.NewNaiveProcessor
		}},
		{onePiece, nil},
	}},
	{name: "Kind", choices: []choice{
		{ours, nil}, {ctrlRun, func(l *Layers) { l.NewKind = source.TypedKind[client.Object, reconcile.Request] }}}},
	{name: "workqueue", choices: []choice{
		{ours, nil},
		{"our priority queue", func(l *Layers) { l.Workqueue = OurPriorityQueue }},
		{clientGo, func(l *Layers) { l.Workqueue = ClientGoWorkqueue }},
		{"controller-runtime priority queue", func(l *Layers) { l.Workqueue = ControllerRuntimePriorityQueue }},
	}},
	{name: "builder, controller", choices: []choice{
		{ours, nil},
		{"our builder, controller-runtime controller", func(l *Layers) { l.NewController = controller.NewTyped[reconcile.Request] }},
		{ctrlRun, func(l *Layers) { l.Build = builder.ControllerRuntime[reconcile.Request] }},
	}},
}

// unwireable is what no combination holds, and why.
var unwireable = [][2]string{
	{"client-go's informer with any queue, reflector, indexer, HandleDeltas or processor but its own",
		"its constructor takes none of them: they are made inside (RealFIFO in atomic mode, its reflector, indexer and shared processor)"},
	{"client-go's HandleDeltas (processDeltas) and processor (sharedProcessor) in our informer",
		"they are not exported; the naive ones of chapter 3 stand in their place"},
	{"controller-runtime's builder with our controller",
		"its field newController is not exported; it always calls controller-runtime's NewTyped"},
	{"controller-runtime's builder with our Kind for For, Owns and Watches",
		"it always makes its own; ours sits in WatchesRawSource only, where the Mirror operator watches its second cache, and so it does in the combinations above"},
	{"EnableReadYourWritesConsistency over either DeltaFIFO",
		"DeltaFIFO brings changes of one object together, so the highest resourceVersion seen says nothing of the others; our cluster refuses it (TestReadYourWritesIsRefusedOverDeltaFIFO)"},
}

// combination has the index of a choice for each axis.
type combination []int

func (c combination) choice(axis int) choice { return axes[axis].choices[c[axis]] }

func (c combination) layers() Layers {
	var l Layers
	for i := range axes {
		if take := c.choice(i).take; take != nil {
			take(&l)
		}
	}
	return l
}

// String names every choice, so that -run finds them.
func (c combination) String() string {
	var s []string
	for i, a := range axes {
		s = append(s, a.name+"="+c.choice(i).name)
	}
	return strings.NewReplacer(", ", "-", " ", "-").Replace(strings.Join(s, ";"))
}

// wireable: client-go's informer has its own inner parts, and ours has not.
func (c combination) wireable() bool {
	var ofClientGo bool
	for i, a := range axes {
		if a.name == "informer" {
			ofClientGo = c.choice(i).name == clientGo
		}
		if a.inner && (c.choice(i).name == onePiece) != ofClientGo {
			return false
		}
	}
	return true
}

// combinations are all that can be wired.
func combinations() []combination {
	all := []combination{{}}
	for _, a := range axes {
		var longer []combination
		for _, c := range all {
			for i := range a.choices {
				longer = append(longer, append(c[:len(c):len(c)], i))
			}
		}
		all = longer
	}
	var wired []combination
	for _, c := range all {
		if c.wireable() {
			wired = append(wired, c)
		}
	}
	return wired
}
