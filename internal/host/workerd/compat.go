package workerd

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// MaxCompatibilityDate is the newest compatibility date that the pinned binary
// knows.
const MaxCompatibilityDate = "2026-11-24"

// compatFlags lists every compatibility flag of the pinned binary: field,
// enabling name, disabling name, date from which it is on, "experimental".
//
//go:embed compatflags.tsv
var compatFlags string

type compatFlag struct {
	enable, disable string
	experimental    bool
}

// flagTable maps both names of a flag to it.
//
//nolint:gochecknoglobals // a constant table, parsed once
var flagTable = sync.OnceValue(func() map[string]*compatFlag {
	table := map[string]*compatFlag{}
	for line := range strings.Lines(compatFlags) {
		cols := strings.Split(strings.TrimRight(line, "\r\n"), "\t")
		f := &compatFlag{enable: cols[1], disable: cols[2], experimental: cols[4] != ""}
		table[f.enable] = f
		if f.disable != "" {
			table[f.disable] = f
		}
	}
	return table
})

// breaksBindings are flags that change how a binding speaks to its server, so
// that ours would not understand it. Experimental today; refused by name so
// that a newer binary does not let them in.
//
//nolint:gochecknoglobals // a constant table
var breaksBindings = []string{"d1_binding_jsrpc", "kv_direct_binding", "r2_binding_jsrpc"}

// python makes workerd fetch its Python runtime from the internet at start.
const python = "python_workers"

// CheckCompat refuses what a worker may not ask of the pinned binary: a date
// that is malformed (compat_date_invalid), newer than the binary or than today
// in UTC (compat_date_future), and flags that are unknown (compat_flag_unknown),
// experimental or harmful to bindings (compat_flag_experimental), of no use here
// (compat_flag_unsupported), or in contradiction (compat_flag_conflict). The
// errors are *svc.Error.
func CheckCompat(date string, flags []string) error {
	if err := checkDate(date, time.Now().UTC()); err != nil {
		return err
	}
	seen := map[*compatFlag]string{}
	for _, name := range flags {
		f, err := checkFlag(name)
		if err != nil {
			return err
		}
		if other, twice := seen[f]; twice {
			return svc.Errorf(svc.Unprocessable, svc.CodeCompatFlagConflict,
				"compatibility flags %q and %q set the same thing", other, name).
				WithHint("keep one of them")
		}
		seen[f] = name
	}
	return nil
}

func checkDate(date string, now time.Time) error {
	if _, err := time.Parse(time.DateOnly, date); err != nil {
		return svc.Errorf(svc.Unprocessable, svc.CodeCompatDateInvalid,
			"compatibility date %q is not a date", date).WithHint("write it as YYYY-MM-DD")
	}
	newest := min(MaxCompatibilityDate, now.Format(time.DateOnly))
	if date > newest {
		return svc.Errorf(svc.Unprocessable, svc.CodeCompatDateFuture,
			"compatibility date %s is too new", date).WithHint("use %s or earlier", newest)
	}
	return nil
}

func checkFlag(name string) (*compatFlag, error) {
	f := flagTable()[name]
	switch {
	case f == nil:
		return nil, svc.Errorf(svc.Unprocessable, svc.CodeCompatFlagUnknown,
			"compatibility flag %q is unknown to workerd %s", name, Version).
			WithHint("check its spelling, or remove it")
	case slices.Contains(breaksBindings, name):
		return nil, svc.Errorf(svc.Unprocessable, svc.CodeCompatFlagExperimental,
			"compatibility flag %q is experimental and would break bindings", name).
			WithHint("remove it")
	case name == python:
		return nil, svc.Errorf(svc.Unprocessable, svc.CodeCompatFlagUnsupported,
			"compatibility flag %q is refused: Python workers do not run here", name).
			WithHint("remove it")
	case f.experimental && name == f.enable:
		return nil, svc.Errorf(svc.Unprocessable, svc.CodeCompatFlagExperimental,
			"compatibility flag %q is experimental", name).WithHint("remove it")
	}
	return f, nil
}
