package esbuild

import (
	"slices"
	"strings"
)

// nodeMode is how much of Node a worker has.
type nodeMode int

const (
	nodeNone nodeMode = iota
	nodeALS           // node:async_hooks only
	nodeV1            // the oldest modules, with the prefix node: only
	nodeV2            // all of them
)

const (
	nodeV2Since      = "2024-09-23" // nodejs_compat means v2 from here
	nodeDefaultSince = "2026-08-04" // both are on without a flag from here
)

// nodeSupport is what the compatibility settings of a worker say about Node.
type nodeSupport struct {
	mode    nodeMode
	implied string // the date up to which modules are on by themselves; "" for none
	flags   []string
}

func supportOf(date string, flags []string) nodeSupport {
	has := func(flag string) bool { return slices.Contains(flags, flag) }
	compat := has("nodejs_compat") || date >= nodeDefaultSince && !has("no_nodejs_compat")
	v2 := has("nodejs_compat_v2") ||
		!has("no_nodejs_compat_v2") && (date >= nodeDefaultSince || compat && date >= nodeV2Since)
	s := nodeSupport{flags: flags}
	if compat {
		s.implied = date
	}
	switch {
	case v2:
		s.mode = nodeV2
	case compat:
		s.mode = nodeV1
	case has("nodejs_als"):
		s.mode = nodeALS
	}
	return s
}

// nodeFlag turns on some of Node's modules before their date.
type nodeFlag struct {
	enable, disable string
	since           string
	modules         []string
}

// processFlag brings the whole process object. It is wanted whenever code for
// Node runs, imported or not.
const processFlag = "enable_nodejs_process_v2"

// performanceFlag makes the classes Performance, PerformanceEntry and the like global. With
// node:perf_hooks they are global without it.
const (
	performanceFlag   = "enable_global_performance_classes"
	noPerformanceFlag = "disable_global_performance_classes"
	performanceSince  = "2026-03-17"
)

// nodeFlags were tried one by one against workerd 2026-11-17, at the date and
// the day before.
//
//nolint:gochecknoglobals // a constant table
var nodeFlags = []nodeFlag{
	{processFlag, "disable_nodejs_process_v2", "2025-09-15", []string{"process"}},
	{"enable_nodejs_http_modules", "disable_nodejs_http_modules", "2025-08-15", []string{
		"http", "https", "_http_agent", "_http_client", "_http_common", "_http_incoming", "_http_outgoing", "_http_server",
	}},
	{"enable_nodejs_http_server_modules", "disable_nodejs_http_server_modules", "2025-09-01", []string{"http", "https", "_http_server"}},
	nodeModuleFlag("2025-09-01", "http2"),
	{"enable_nodejs_fs_module", "disable_nodejs_fs_module", "2025-09-15", []string{"fs", "fs/promises"}},
	nodeModuleFlag("2025-09-15", "os"),
	nodeModuleFlag("2025-09-21", "console"),
	nodeModuleFlag("2025-10-01", "vm"),
	nodeModuleFlag("2025-12-04", "cluster"), nodeModuleFlag("2025-12-04", "domain"), nodeModuleFlag("2025-12-04", "punycode"),
	nodeModuleFlag("2025-12-04", "trace_events"), nodeModuleFlag("2025-12-04", "wasi"),
	nodeModuleFlag("2026-01-29", "dgram"), nodeModuleFlag("2026-01-29", "sqlite"),
	{"enable_nodejs_stream_wrap_module", "disable_nodejs_stream_wrap_module", "2026-01-29", []string{"_stream_wrap"}},
	{"enable_nodejs_inspector_module", "disable_nodejs_inspector_module", "2026-01-29", []string{"inspector", "inspector/promises"}},
	nodeModuleFlag("2026-03-17", "child_process"), nodeModuleFlag("2026-03-17", "perf_hooks"),
	{"enable_nodejs_readline_module", "disable_nodejs_readline_module", "2026-03-17", []string{"readline", "readline/promises"}},
	nodeModuleFlag("2026-03-17", "repl"), nodeModuleFlag("2026-03-17", "tty"),
	nodeModuleFlag("2026-03-17", "v8"), nodeModuleFlag("2026-03-17", "worker_threads"),
}

func nodeModuleFlag(since, module string) nodeFlag {
	return nodeFlag{"enable_nodejs_" + module + "_module", "disable_nodejs_" + module + "_module", since, []string{module}}
}

// missing are the flags to add for a worker that uses these modules, in the
// order of the table. Flags that the project sets either way are left alone.
func (s nodeSupport) missing(used map[string]bool, process, performance bool) []string {
	var add []string
	given := func(flag string) bool { return slices.Contains(s.flags, flag) }
	if (s.mode == nodeV1 || s.mode == nodeV2) && performance && !given(performanceFlag) && !given(noPerformanceFlag) && s.implied < performanceSince {
		add = append(add, performanceFlag)
	}
	if s.mode != nodeV2 {
		return add
	}
	for _, f := range nodeFlags {
		wanted := slices.ContainsFunc(f.modules, func(m string) bool { return used[m] }) ||
			f.enable == processFlag && (process || len(used) > 0)
		settled := s.implied >= f.since || slices.Contains(s.flags, f.enable) || slices.Contains(s.flags, f.disable)
		if wanted && !settled {
			add = append(add, f.enable)
		}
	}
	return add
}

// builtin gives the name of one of Node's modules without its prefix, and
// whether path names one. Names that exist with the prefix only are left to
// npm without it.
func builtin(path string) (name string, prefixed, ok bool) {
	if name, prefixed = strings.CutPrefix(path, "node:"); prefixed {
		return name, true, true
	}
	_, ok = slices.BinarySearch(nodeModules, path)
	return path, false, ok
}

// v1Modules are what node:* had before 2024-09-23.
//
//nolint:gochecknoglobals // a constant table
var v1Modules = []string{
	"_stream_duplex", "_stream_passthrough", "_stream_readable", "_stream_transform", "_stream_writable", "_tls_common",
	"_tls_wrap", "assert", "assert/strict", "async_hooks", "buffer", "constants", "crypto", "diagnostics_channel", "dns",
	"dns/promises", "events", "fs/promises", "module", "net", "path", "path/posix", "path/win32", "process", "querystring",
	"stream", "stream/consumers", "stream/promises", "stream/web", "string_decoder", "test", "timers", "timers/promises",
	"tls", "url", "util", "util/types", "zlib",
}

// nodeModules are the names that mean Node's modules without the prefix,
// sorted.
//
//nolint:gochecknoglobals // a constant table
var nodeModules = []string{
	"_http_agent", "_http_client", "_http_common", "_http_incoming", "_http_outgoing", "_http_server",
	"_stream_duplex", "_stream_passthrough", "_stream_readable", "_stream_transform", "_stream_wrap", "_stream_writable",
	"_tls_common", "_tls_wrap", "assert", "assert/strict", "async_hooks", "buffer", "child_process", "cluster", "console",
	"constants", "crypto", "dgram", "diagnostics_channel", "dns", "dns/promises", "domain", "events", "fs", "fs/promises",
	"http", "http2", "https", "inspector", "inspector/promises", "module", "net", "os", "path", "path/posix", "path/win32",
	"perf_hooks", "process", "punycode", "querystring", "readline", "readline/promises", "repl", "stream",
	"stream/consumers", "stream/promises", "stream/web", "string_decoder", "sys", "timers", "timers/promises", "tls",
	"trace_events", "tty", "url", "util", "util/types", "v8", "vm", "wasi", "worker_threads", "zlib",
}
