package informermap

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/informer-walkthrough/informer-walkthrough/chapters/01-informermap/cachetest"
)

// both are the implementations that must not differ.
var both = map[string]cache.NewCacheFunc{
	"controller-runtime": cache.New,
	"informermap":        New,
}

func onBoth(t *testing.T, scenarios ...string) {
	for name, newCache := range both {
		t.Run(name, func(t *testing.T) { cachetest.Run(t, newCache, scenarios...) })
	}
}

func TestConformance(t *testing.T) { onBoth(t) }

func TestB01_ListReplacesWhatTheListHeld(t *testing.T)      { onBoth(t, "B01") }
func TestB02_ClusterScopedInNamespacedCache(t *testing.T)   { onBoth(t, "B02") }
func TestB03_ListedItemsHaveTheirKind(t *testing.T)         { onBoth(t, "B03") }
func TestB05_LimitAndContinue(t *testing.T)                 { onBoth(t, "B05") }
func TestB06_FieldSelectorsNeedAnIndex(t *testing.T)        { onBoth(t, "B06") }
func TestB08_IndexFieldDoesNotBlock(t *testing.T)           { onBoth(t, "B08") }
func TestB09_ReadBeforeSyncIsNeverNotFound(t *testing.T)    { onBoth(t, "B09") }
func TestB11_RemovedInformerStops(t *testing.T)             { onBoth(t, "B11") }
func TestB13_ReadersGetCopiesAndHandlersDoNot(t *testing.T) { onBoth(t, "B13") }
