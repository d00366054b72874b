package browser

import (
	"context"
	"os/exec"
	"runtime"
	"strings"

	"github.com/svcctl/svcctl/internal/svc"
)

// Open starts the user's browser: the program in BROWSER, or else that of the desktop.
// It does not wait for the program's end. environ is that of the program.
//
// Errors: Unprocessable, browser_missing.
func Open(ctx context.Context, environ []string, url string) error {
	for _, name := range programs(environ) {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		cmd := exec.CommandContext(context.WithoutCancel(ctx), path, url)
		cmd.Env = environ
		if err := cmd.Start(); err != nil {
			continue
		}
		go func() { _ = cmd.Wait() }() // a browser may run for days
		return nil
	}
	return svc.Errorf(svc.Unprocessable, svc.CodeBrowserMissing, "no browser was found to open %s", url).
		WithHint("open the address by hand, or set BROWSER to a program that takes a URL")
}

// programs are what opens a URL, in the order of preference.
func programs(environ []string) (names []string) {
	for _, entry := range environ {
		if name, value, _ := strings.Cut(entry, "="); name == "BROWSER" && value != "" {
			names = append([]string{value}, names...)
		}
	}
	if runtime.GOOS == "darwin" {
		return append(names, "open")
	}
	return append(names, "xdg-open", "wslview", "x-www-browser")
}
