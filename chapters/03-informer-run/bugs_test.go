package informer_test

import (
	"testing"

	"k8s.io/client-go/tools/cache"

	informer "github.com/informer-walkthrough/informer-walkthrough/chapters/03-informer-run"
	"github.com/informer-walkthrough/informer-walkthrough/chapters/03-informer-run/informertest"
)

// onBoth plays the scenarios of one bug report with ours and with client-go's. What is open in client-go
// is in informertest.ClientGo: there the scenario expects the fault.
func onBoth(t *testing.T, id string) {
	t.Run("ours", func(t *testing.T) {
		informertest.Run(t, informer.NewSharedIndexInformer, informertest.Capabilities{HandlersInPlace: true}, id)
	})
	t.Run("client-go", func(t *testing.T) {
		informertest.Run(t, cache.NewSharedIndexInformer, informertest.ClientGo, id)
	})
}

func TestB24_RegistrationIsSyncedWhenItsHandlerHasSeenAll(t *testing.T) { onBoth(t, "B24") }
func TestB25_SettingsWhileTheInformerStarts(t *testing.T)               { onBoth(t, "B25") }
func TestB27_InformerThatComesAfterTheFactorysStart(t *testing.T)       { onBoth(t, "B27") }
func TestB29_LateHandlerMissesNothing(t *testing.T)                     { onBoth(t, "B29") }
func TestB30_HandlersAfterTheEnd(t *testing.T)                          { onBoth(t, "B30") }
func TestB54_ChangeThatOnlyAListShows(t *testing.T)                     { onBoth(t, "B54") }
func TestB55_ListThatShowsNoChange(t *testing.T)                        { onBoth(t, "B55") }
func TestB58_PanicReachesTheCallerOfRun(t *testing.T)                   { onBoth(t, "B58") }
func TestB60_TombstonesReachHandlersOfAllKinds(t *testing.T)            { onBoth(t, "B60") }
func TestB67_IndexesBeforeAndAfterTheStart(t *testing.T)                { onBoth(t, "B67") }
func TestB69_HandlerThatPanicsInItsFirstList(t *testing.T)              { onBoth(t, "B69") }
func TestB70_ManyEventsBeforeTheProcessorRuns(t *testing.T)             { onBoth(t, "B70") }
func TestB72_HandlersAreRemovedAtAnyTime(t *testing.T)                  { onBoth(t, "B72") }
func TestB74_HandlersAddedWhileTheInformerStarts(t *testing.T)          { onBoth(t, "B74") }
func TestB75_HandlerThatBlocks(t *testing.T)                            { onBoth(t, "B75") }
