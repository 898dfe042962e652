package manager

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// errGroupStopped has controller-runtime's words, which programs look for.
var errGroupStopped = errors.New("can't accept new runnable as stop procedure is already engaged")

// member is one runnable of a group.
type member struct {
	manager.Runnable
	// check blocks until the runnable is ready; false means that it never will be. nil: ready at once.
	check func(context.Context) bool
	// ready is closed when check has returned true.
	ready chan struct{}
}

// runnableGroup runs the runnables that start and stop together; it stands for controller-runtime's
// runnableGroup.
//
// A member that is added before Start waits for it, one added later starts at once, one added after Stop
// is refused. A group that never started starts nothing when it is stopped.
type runnableGroup struct {
	name   string
	logger logr.Logger
	// fail takes the error of a runnable. It must not block.
	fail func(error)
	// ctx is what the members run under. It is not the context of Start: members end when Stop says so.
	ctx    context.Context
	cancel context.CancelFunc

	// mu guards the rest. It is never held while a runnable's code runs.
	mu      sync.Mutex
	started bool
	stopped bool
	waiting []*member // added before Start
	// running counts each member's goroutines; Stop names those that are left.
	running map[*member]int
	// idle is closed when the group has stopped and nothing runs any more.
	idle chan struct{}
}

func newRunnableGroup(name string, base context.Context, logger logr.Logger, fail func(error)) *runnableGroup {
	g := &runnableGroup{
		name:    name,
		logger:  logger.WithValues("group", name),
		fail:    fail,
		running: map[*member]int{},
		idle:    make(chan struct{}),
	}
	g.ctx, g.cancel = context.WithCancel(base)
	return g
}

// Add takes a runnable at any time before Stop. A nil check means that the runnable is ready as soon as
// it has started.
func (g *runnableGroup) Add(r manager.Runnable, check func(context.Context) bool) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	m := &member{Runnable: r, check: check, ready: make(chan struct{})}
	switch {
	case g.stopped:
		return errGroupStopped
	case g.started:
		g.launch(m)
	default:
		g.waiting = append(g.waiting, m)
	}
	return nil
}

// Start launches all members and blocks until each is ready. It gives up when ctx ends and returns why.
func (g *runnableGroup) Start(ctx context.Context) error {
	g.mu.Lock()
	if g.stopped {
		g.mu.Unlock()
		return errGroupStopped
	}
	g.started = true
	members := g.waiting
	g.waiting = nil
	for _, m := range members {
		g.launch(m)
	}
	g.mu.Unlock()

	for i, m := range members {
		if err := await(ctx, m.ready, func() {
			g.logger.Info("Still waiting for runnables to be ready", "runnables", unready(members[i:]))
		}); err != nil {
			return err
		}
	}
	return nil
}

// Stop cancels the members and blocks until all have returned, or until ctx ends; then the error names
// those that still run.
func (g *runnableGroup) Stop(ctx context.Context) error {
	g.mu.Lock()
	if !g.stopped {
		g.stopped = true
		g.waiting = nil
		g.closeIfIdle()
	}
	g.mu.Unlock()
	g.cancel()

	if err := await(ctx, g.idle, func() {
		g.logger.Info("Still waiting for runnables to stop", "runnables", g.left())
	}); err != nil {
		return fmt.Errorf("%s: still running: %v: %w", g.name, g.left(), err)
	}
	return nil
}

// launch is called under mu.
func (g *runnableGroup) launch(m *member) {
	if m.check == nil {
		close(m.ready)
	} else {
		g.running[m]++
		go func() {
			defer g.leave(m)
			if m.check(g.ctx) {
				close(m.ready)
			} else if g.ctx.Err() == nil {
				g.fail(fmt.Errorf("%s: %s started but will not become ready", g.name, describe(m.Runnable)))
			}
		}()
	}
	g.running[m]++
	go func() {
		defer g.leave(m)
		if err := m.Start(g.ctx); err != nil {
			g.fail(err)
		}
	}()
}

func (g *runnableGroup) leave(m *member) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.running[m]--; g.running[m] == 0 {
		delete(g.running, m)
	}
	if g.stopped {
		g.closeIfIdle()
	}
}

// closeIfIdle is called under mu after the group has stopped. Nothing is launched from then on, so the
// number of running members only falls and idle is closed once.
func (g *runnableGroup) closeIfIdle() {
	if len(g.running) == 0 {
		close(g.idle)
	}
}

// left names the members that still run.
func (g *runnableGroup) left() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	var names []string
	for m := range g.running {
		names = append(names, describe(m.Runnable))
	}
	return names
}

func unready(members []*member) []string {
	var names []string
	for _, m := range members {
		select {
		case <-m.ready:
		default:
			names = append(names, describe(m.Runnable))
		}
	}
	return names
}

// describe names a runnable in logs and errors.
func describe(r manager.Runnable) string {
	switch r := r.(type) {
	case fmt.Stringer:
		return r.String()
	case *manager.Server:
		return r.Name + " server"
	default:
		return fmt.Sprintf("%T", r)
	}
}
