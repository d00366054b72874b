package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// newestDate is how workerd refuses a date that it does not know.
var newestDate = regexp.MustCompile(`newest date supported by this server binary is \\?"(\d{4}-\d{2}-\d{2})\\?"`)

// ask runs a workerd for its version and the newest compatibility date that it knows.
func ask(ctx context.Context, program, temp string) (line, date string, err error) {
	out, err := exec.CommandContext(ctx, program, "--version").Output()
	if err != nil {
		return "", "", fmt.Errorf("asking workerd for its version: %w", err)
	}
	const config = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (services = [(name = "a", worker = (modules = [(name = "a", esModule = "export default {}")], compatibilityDate = "2999-01-01"))],
  sockets = [(name = "s", address = "unix:%s", service = "a", http = ())]);`
	path := filepath.Join(temp, "date.capnp")
	if err := os.WriteFile(path, fmt.Appendf(nil, config, filepath.Join(temp, "s")), 0o600); err != nil {
		return "", "", err
	}
	cmd := exec.CommandContext(ctx, program, "serve", path)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err == nil {
		return "", "", fmt.Errorf("workerd accepted the compatibility date 2999-01-01: %s", said.String())
	}
	m := newestDate.FindStringSubmatch(said.String())
	if m == nil {
		return "", "", fmt.Errorf("workerd does not say its newest compatibility date: %s", said.String())
	}
	return strings.TrimSpace(string(out)), m[1], nil
}
