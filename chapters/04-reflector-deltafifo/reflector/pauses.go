package reflector

import (
	"math"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	firstPause, maxPause = 800 * time.Millisecond, 30 * time.Second
	// pausesReset is how long there must have been no pause for them to begin anew.
	pausesReset = 2 * time.Minute
)

// pauses says how long to wait before the next attempt: from 0.8 s to 30 s,
// doubled each time, and stretched by chance up to twofold so that the clients
// of a server that comes back don't come together.
//
// It stands for client-go's use of wait.Backoff.DelayWithReset, which begins
// anew every two minutes in the middle of an outage.
type pauses struct {
	initial, current wait.Backoff
	lastEnd          time.Time
}

func newPauses(custom *wait.Backoff) *pauses {
	if custom == nil {
		custom = &wait.Backoff{
			Duration: firstPause, Cap: maxPause, Factor: 2, Jitter: 1,
			Steps: int(math.Ceil(float64(maxPause) / float64(firstPause))),
		}
	}
	return &pauses{initial: *custom}
}

// next returns how long the pause that begins now is.
func (p *pauses) next() time.Duration {
	now := time.Now()
	if now.Sub(p.lastEnd) > pausesReset {
		p.current = p.initial
	}
	pause := p.current.Step()
	p.lastEnd = now.Add(pause)
	return pause
}
