package controlplane

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// killProcesses ends the control plane's processes that live in the folder, and
// waits until they are gone. They get no time to say goodbye: what they would
// save is about to be removed.
func killProcesses(folder string) error {
	deadline := time.Now().Add(5 * time.Second)
	for {
		pids, err := findProcesses(folder)
		if err != nil || len(pids) == 0 {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("processes %v do not end: end them with kill -9", pids)
		}
		for _, pid := range pids {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
				return fmt.Errorf("end process %d: %w", pid, err)
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// findProcesses returns the etcd, kube-apiserver and kube-controller-manager
// that have a file or folder below the folder in a flag. Something else that
// names it, such as a pager on a log in it, is not ours.
func findProcesses(folder string) ([]int, error) {
	ours := regexp.MustCompile(commandIn + regexp.QuoteMeta(folder) + `/`)
	commands, err := commandLines()
	if err != nil {
		return nil, err
	}
	var pids []int
	for pid, command := range commands {
		if ours.MatchString(command) {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// commandIn matches the command line of a process of a control plane up to the
// path in a flag.
const commandIn = `^(?:.*/)?(?:etcd|kube-apiserver|kube-controller-manager) .*--[a-z-]+=`

var inhabited = regexp.MustCompile(commandIn + `(/[^ ]*/` + folderPrefix + `[0-9]+)/`)

// inhabitedFolders returns the folders of all control planes that run.
func inhabitedFolders() ([]string, error) {
	commands, err := commandLines()
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, command := range commands {
		if match := inhabited.FindStringSubmatch(command); match != nil {
			paths = append(paths, match[1])
		}
	}
	return paths, nil
}

// commandLines returns the arguments of every process, by spaces, from /proc
// where there is one (ps is missing from small images), else from ps.
func commandLines() (map[int]string, error) {
	commands := map[int]string{}
	if files, _ := filepath.Glob("/proc/[0-9]*/cmdline"); len(files) > 0 {
		for _, file := range files {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			if err != nil {
				continue
			}
			if line, err := os.ReadFile(file); err == nil { // else it has ended
				commands[pid] = strings.ReplaceAll(string(line), "\x00", " ")
			}
		}
		return commands, nil
	}
	out, err := exec.Command("ps", "-axww", "-o", "pid=,command=").Output()
	if err != nil {
		return nil, fmt.Errorf("list processes: ps: %w", err)
	}
	for line := range strings.Lines(string(out)) {
		pid, command, _ := strings.Cut(strings.TrimSpace(line), " ")
		if n, err := strconv.Atoi(pid); err == nil {
			commands[n] = strings.TrimSpace(command)
		}
	}
	return commands, nil
}
