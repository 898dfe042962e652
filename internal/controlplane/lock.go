package controlplane

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"
)

// errLocked is tryLock's answer when another process has the lock.
var errLocked = errors.New("locked by another process")

// tryLock opens path and locks it. The lock belongs to the open file: it goes
// when that is closed or its process ends, in whatever way, and a child does not
// inherit it. The caller closes the file.
func tryLock(path string, flags int) (*os.File, error) {
	f, err := os.OpenFile(path, flags|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err == nil {
		return f, nil
	}
	f.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = errLocked
	}
	return nil, err
}

// waitForLock locks path, which it makes if need be; it calls waiting once if
// another process has the lock. It asks again and again since a blocking flock
// could not be ended by ctx.
func waitForLock(ctx context.Context, path string, waiting func()) (*os.File, error) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for first := true; ; first = false {
		f, err := tryLock(path, os.O_CREATE)
		if !errors.Is(err, errLocked) {
			return f, err
		}
		if first {
			waiting()
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-tick.C:
		}
	}
}
