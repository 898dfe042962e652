package controlplane

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

const (
	folderPrefix = "informer-walkthrough-controlplane-"
	ownerFile    = "owner"
)

// folder is the temporary folder of one control plane. All that the control
// plane writes is below it, and its processes name it in their arguments.
//
// The file owner holds the id of the process that made the folder, for people.
// That this process lives is told by its lock on the file, not by the id, which
// may long belong to another process.
type folder struct {
	path string
	// owner stays open, and thereby locked, until remove.
	owner *os.File
}

func claimFolder() (*folder, error) {
	root, err := tempRoot()
	if err != nil {
		return nil, err
	}
	path, err := os.MkdirTemp(root, folderPrefix)
	if err != nil {
		return nil, err
	}
	// The file gets its name when it is locked: a sweep that comes between the
	// two would take the folder for abandoned.
	unlocked := filepath.Join(path, ".owner")
	owner, err := tryLock(unlocked, os.O_CREATE)
	if err == nil {
		_, err = fmt.Fprintln(owner, os.Getpid())
	}
	if err == nil {
		err = os.Rename(unlocked, filepath.Join(path, ownerFile))
	}
	if err != nil {
		os.RemoveAll(path)
		return nil, err
	}
	return &folder{path: path, owner: owner}, nil
}

// tempRoot is absolute and clean: a folder's path has to be the same text in the
// arguments of its processes and in the sweep that looks for them.
func tempRoot() (string, error) {
	return filepath.Abs(os.TempDir())
}

// subfolder makes and returns one below the folder.
func (f *folder) subfolder(name string) (string, error) {
	path := filepath.Join(f.path, name)
	return path, os.Mkdir(path, 0o700)
}

// remove ends the processes that still run in the folder, and then removes it.
func (f *folder) remove() error {
	err := killProcesses(f.path)
	if removeErr := os.RemoveAll(f.path); err == nil {
		err = removeErr
	}
	return errors.Join(err, f.owner.Close())
}

// sweep removes the folders of processes that did not get to it.
func sweep() error {
	paths, err := folders()
	if err != nil {
		return err
	}
	var errs []error
	for _, path := range paths {
		info, err := os.Lstat(path)
		if errors.Is(err, os.ErrNotExist) {
			_ = killProcesses(path) // something else tidied up; if they are another user's, it can't
			continue
		}
		if err != nil || !info.IsDir() || !mine(info) {
			continue
		}
		owner, err := tryLock(filepath.Join(path, ownerFile), 0)
		switch {
		case err == nil:
			errs = append(errs, (&folder{path, owner}).remove())
		case errors.Is(err, os.ErrNotExist) && time.Since(info.ModTime()) > time.Minute:
			// Its process was ended before it had named the owner, so it started nothing.
			errs = append(errs, os.RemoveAll(path))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("clean up after a process that was killed: %s", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return nil
}

// folders returns the folders of all control planes: those where temporary files
// go, and those that processes live in, since TMPDIR may have been another one.
func folders() ([]string, error) {
	root, err := tempRoot()
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, err
	}
	paths, err := inhabitedFolders()
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), folderPrefix) {
			paths = append(paths, filepath.Join(root, entry.Name()))
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths), nil
}

// mine reports whether the file is this user's: anyone may write to /tmp.
func mine(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid()
}
