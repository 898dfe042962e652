package deltafifo

import "time"

// awaitBatch waits until no batch is processed: what calls it compares with the
// known objects, where the batch is not yet. It expects mu held.
func (b *base) awaitBatch(call string) {
	if b.working {
		b.await(call, func() bool { return b.working })
	}
}

// awaitRoom waits while too much has gathered beside a batch. It expects mu held.
func (b *base) awaitRoom(call string, queued func() int) {
	if b.working && queued() >= maxBeside {
		b.await(call, func() bool { return b.working && queued() >= maxBeside })
	}
}

// await waits while blocked, and says so every ten seconds.
func (b *base) await(call string, blocked func() bool) {
	start, stop := time.Now(), make(chan struct{})
	defer close(stop)
	go func() {
		ticker := time.NewTicker(10 * time.Second)
		defer ticker.Stop()
		for {
			select {
			case <-stop:
				return
			case <-ticker.C:
				b.logger.Info("Still waiting for the batch that is being processed: is an event handler or index function stuck?",
					"call", call, "since", time.Since(start).Round(time.Second))
			}
		}
	}()
	b.waiters++
	for blocked() {
		b.changed.Wait()
	}
	b.waiters--
	b.changed.Broadcast() // the consumer may go on, after this call
}
