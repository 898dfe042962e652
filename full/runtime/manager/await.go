package manager

import (
	"context"
	"time"
)

// sayEvery is how long the manager waits for anything without saying what it waits for.
const sayEvery = 10 * time.Second

// await blocks until done is closed or ctx ends, whose cause it returns. Every ten seconds it calls say.
func await(ctx context.Context, done <-chan struct{}, say func()) error {
	ticker := time.NewTicker(sayEvery)
	defer ticker.Stop()
	for {
		select {
		case <-done:
			return nil
		case <-ctx.Done():
			select {
			case <-done: // both: the better news counts
				return nil
			default:
				return context.Cause(ctx)
			}
		case <-ticker.C:
			say()
		}
	}
}
