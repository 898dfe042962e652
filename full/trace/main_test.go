package trace

import (
	"testing"

	"github.com/informer-walkthrough/informer-walkthrough/internal/controlplane"
)

func TestMain(m *testing.M) { controlplane.Main(m) }
