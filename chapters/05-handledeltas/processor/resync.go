package processor

import "time"

// minimumResyncPeriod is what shorter wishes are raised to.
const minimumResyncPeriod = time.Second

// Who is shown all objects again, and when: a handler wishes for a period, the
// informer's reflector asks ShouldResync every check period, and a resync that
// is due is met at the first check that finds it so.

// grantPeriod needs mu. A shorter wish makes the check period shorter, unless
// the reflector has taken the check period already.
func (p *Processor) grantPeriod(l *listener, wish time.Duration) {
	if wish > 0 && wish < minimumResyncPeriod {
		l.logger.Info("Warning: the resync period is too short, using the minimum", "resyncPeriod", wish, "minimum", minimumResyncPeriod)
		wish = minimumResyncPeriod
	}
	switch {
	case wish <= 0:
		wish = 0
	case p.checkPeriod <= 0:
		l.logger.Info("Warning: the handler wants resyncs, but its informer does none; give the informer a resync period", "resyncPeriod", wish)
		wish = 0
	case wish < p.checkPeriod && p.running:
		l.logger.Info("Warning: the resync period is shorter than the check period of an informer that has started, using the check period", "resyncPeriod", wish, "checkPeriod", p.checkPeriod)
		wish = p.checkPeriod
	case wish < p.checkPeriod:
		p.checkPeriod = wish
	}
	l.period = wish
	l.nextResync = time.Now().Add(wish)
}

// ResyncCheckPeriod is how often ShouldResync has to be asked. It is settled
// when Run begins.
func (p *Processor) ResyncCheckPeriod() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.checkPeriod
}

// ShouldResync reports whether the resync of any handler is due. The resync
// notifications from now to the next ShouldResync are for these handlers only.
func (p *Processor) ShouldResync() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	needed := false
	now := time.Now()
	for _, l := range p.listeners {
		l.syncing = l.period > 0 && !now.Before(l.nextResync)
		if l.syncing {
			needed = true
			l.nextResync = now.Add(l.period)
		}
	}
	return needed
}
