package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// machine is where and when it was measured.
type machine struct {
	CPU     string  `json:"cpu"`
	Cores   int     `json:"cores"`
	Memory  string  `json:"memory"`
	System  string  `json:"system"`
	Go      string  `json:"go"`
	Date    string  `json:"date"`
	Minutes float64 `json:"minutes"` // that all of it took
}

func describeMachine(ctx context.Context) machine {
	release, _ := exec.CommandContext(ctx, "uname", "-sr").Output()
	m := machine{
		CPU:    first(`model name\s*:\s*(.+)`, "/proc/cpuinfo"),
		Cores:  runtime.NumCPU(),
		System: strings.TrimSpace(string(release)) + " " + runtime.GOARCH,
		Go:     runtime.Version(),
		Date:   time.Now().UTC().Format(time.DateOnly),
	}
	if kB, err := strconv.Atoi(first(`MemTotal:\s*(\d+) kB`, "/proc/meminfo")); err == nil {
		m.Memory = fmt.Sprintf("%.0f GiB", float64(kB)/(1<<20))
	}
	if m.CPU == "" { // macOS
		name, _ := exec.CommandContext(ctx, "sysctl", "-n", "machdep.cpu.brand_string").Output()
		m.CPU = strings.TrimSpace(string(name))
	}
	return m
}

// first finds an expression in a file; "" if file or match is not there.
func first(expr, file string) string {
	text, _ := os.ReadFile(file)
	if m := regexp.MustCompile(expr).FindSubmatch(text); m != nil {
		return string(m[1])
	}
	return ""
}

func (m machine) String() string {
	var parts []string
	for _, part := range []string{m.CPU, fmt.Sprintf("%d cores", m.Cores), m.Memory, m.System, m.Go, m.Date} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ", ")
}
