package controlplane

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// process is a program that runs beside what envtest starts.
type process struct {
	cmd   *exec.Cmd
	ended chan struct{}
}

// startControllerManager starts the controllers that need no node and no cloud,
// and returns without waiting for them: what they do shows in the objects.
func (c *ControlPlane) startControllerManager(path string) error {
	log, err := os.Create(c.logFile(controllerManager))
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(path,
		"--kubeconfig="+c.Kubeconfig(),
		"--authentication-kubeconfig="+c.Kubeconfig(),
		"--authorization-kubeconfig="+c.Kubeconfig(),
		"--controllers=namespace-controller,garbage-collector-controller,serviceaccount-controller",
		"--leader-elect=false",
		"--secure-port=0")
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start kube-controller-manager: %w", err)
	}
	p := &process{cmd: cmd, ended: make(chan struct{})}
	go func() {
		defer close(p.ended)
		_ = cmd.Wait()
	}()
	c.manager = p
	return nil
}

// stop ends the process; a nil process is none.
func (p *process) stop() {
	if p == nil {
		return
	}
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.ended:
	case <-time.After(stopLimit):
		_ = p.cmd.Process.Kill()
		<-p.ended
	}
}
