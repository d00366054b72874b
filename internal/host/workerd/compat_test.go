package workerd_test

import (
	_ "embed"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/host/workerd"
	"github.com/svcctl/svcctl/internal/host/workerd/workerdtest"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

func TestCheckCompat(t *testing.T) {
	t.Parallel()
	newest, err := time.Parse(time.DateOnly, workerd.MaxCompatibilityDate)
	if err != nil {
		t.Fatal(err)
	}
	today := newest.AddDate(0, 0, -3) // the dates move with the pinned binary
	day := func(t time.Time) string { return t.Format(time.DateOnly) }
	tests := map[string]struct {
		date  string
		flags []string
		code  string
		text  string
	}{
		"good":              {day(today.AddDate(0, 0, -1)), []string{"nodejs_compat", "urlpattern_original"}, "", ""},
		"no flags":          {"2023-01-01", nil, "", ""},
		"today":             {day(today), nil, "", ""},
		"tomorrow":          {day(today.AddDate(0, 0, 1)), nil, "compat_date_future", day(today) + " or earlier"},
		"not a date":        {"latest", nil, "compat_date_invalid", "YYYY-MM-DD"},
		"no such month":     {"2026-13-01", nil, "compat_date_invalid", ""},
		"short":             {"2026-1-1", nil, "compat_date_invalid", ""},
		"empty":             {"", nil, "compat_date_invalid", ""},
		"typing error":      {"2026-11-01", []string{"nodejs_compta"}, "compat_flag_unknown", `"nodejs_compta"`},
		"empty flag":        {"2026-11-01", []string{""}, "compat_flag_unknown", ""},
		"experimental":      {"2026-11-01", []string{"unsafe_module"}, "compat_flag_experimental", `"unsafe_module"`},
		"breaks bindings":   {"2026-11-01", []string{"kv_direct_binding"}, "compat_flag_experimental", "break bindings"},
		"off experimental":  {"2026-11-01", []string{"no_precise_timers"}, "", ""},
		"python":            {"2026-11-01", []string{"python_workers"}, "compat_flag_unsupported", "Python"},
		"in contradiction":  {"2026-11-01", []string{"url_standard", "url_original"}, "compat_flag_conflict", ""},
		"twice":             {"2026-11-01", []string{"url_standard", "url_standard"}, "compat_flag_conflict", ""},
		"both nodejs flags": {"2026-11-01", []string{"no_nodejs_compat", "no_nodejs_compat_v2"}, "", ""},
	}
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(today.Add(12 * time.Hour)))
		for name, tt := range tests {
			err := workerd.CheckCompat(tt.date, tt.flags)
			if svc.CodeOf(err) != tt.code || (err != nil && !strings.Contains(err.Error(), tt.text)) {
				t.Errorf("%s: %v; want code %q and %q", name, err, tt.code, tt.text)
			}
		}
		time.Sleep(30 * 24 * time.Hour)
		if err := workerd.CheckCompat(workerd.MaxCompatibilityDate, nil); err != nil {
			t.Errorf("the newest date, past: %v", err)
		}
		if err := workerd.CheckCompat(day(newest.AddDate(0, 0, 1)), nil); svc.CodeOf(err) != "compat_date_future" {
			t.Errorf("newer than the binary, past: %v", err)
		}
	})
}

//go:embed compatflags.tsv
var flagTable string

// TestFlagTableIsTheBinarys asks the real binary about all flags in one run.
func TestFlagTableIsTheBinarys(t *testing.T) {
	t.Parallel()
	var c workerd.Config
	want := map[string]bool{} // experimental
	for line := range strings.Lines(flagTable) {
		cols := strings.Split(strings.TrimRight(line, "\n"), "\t")
		for i, name := range cols[1:3] {
			if name == "" || strings.Contains(name, "python") {
				continue // a Python flag makes the binary look for the internet
			}
			want[name] = cols[4] != "" && i == 0
			w := script("export default {}")
			w.CompatibilityFlags = []string{name}
			c.Services = append(c.Services, workerd.Service{Name: name, Worker: w})
			if code := svc.CodeOf(workerd.CheckCompat("2026-11-01", []string{name})); (code != "") != want[name] {
				t.Errorf("CheckCompat(%s) = %q", name, code)
			}
		}
	}
	dir := svctest.ShortDir(t)
	w := script("export default {}")
	w.CompatibilityFlags = []string{"no_such_flag"} // so that the binary ends
	c.Services = append(c.Services, workerd.Service{Name: "no_such_flag", Worker: w})
	c.Sockets = []workerd.Socket{{Name: "s", Address: "unix:" + filepath.Join(dir, "s"), Service: workerd.ServiceRef{Name: "no_such_flag"}}}
	text, err := workerd.Render(c)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "c.capnp")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), workerdtest.Binary(t), "serve", path) // without --experimental
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Run(); err == nil {
		t.Fatal("the binary took an unknown flag")
	}
	got := map[string]bool{}
	for name := range want {
		got[name] = false
	}
	for line := range strings.Lines(stderr.String()) {
		var entry struct {
			Level   string `json:"level"`
			Message string `json:"message"`
		}
		if json.Unmarshal([]byte(line), &entry) != nil || entry.Level != "error" {
			continue
		}
		name, rest, _ := strings.Cut(strings.TrimPrefix(entry.Message, "service "), ": ")
		if strings.Contains(rest, "experimental") {
			got[name] = true
		} else if name != "no_such_flag" {
			t.Errorf("%s", entry.Message)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("experimental flags (-table +binary):\n%s", diff)
	}
}
