package controller

import (
	"fmt"
	"sync"
)

// claimed has every name that a controller of this process has. Two controllers
// of one name would write the same metrics. A name is never free again, as
// upstream has it: the time series of a controller outlive it.
var claimed sync.Map

func claimName(name string) error {
	if _, taken := claimed.LoadOrStore(name, nil); taken {
		return fmt.Errorf("there is a controller named %q already and both would write the same metrics: choose another name, or set SkipNameValidation", name)
	}
	return nil
}
