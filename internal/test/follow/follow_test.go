package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/host/workerd"
	"github.com/svcctl/svcctl/internal/host/workerd/workerdtest"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

func TestMain(m *testing.M) { svctest.Main(m, nil) }

const repository = "../../.."

// TestFlagsOfThePinnedProgram: the table of flags is read from the schema in the program.
func TestFlagsOfThePinnedProgram(t *testing.T) {
	t.Parallel()
	program, err := os.ReadFile(workerdtest.Binary(t))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := flagsOf(program)
	if err != nil {
		t.Fatal(err)
	}
	table, err := os.ReadFile(filepath.Join(repository, flagsFile))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(strings.TrimRight(string(table), "\n"), "\n"), rows); diff != "" {
		t.Errorf("(-table +program):\n%s", diff)
	}
	if _, err := flagsOf([]byte("no schema")); err == nil {
		t.Error("a program without a schema has flags")
	}
}

// TestAsk: version and date are what the program says.
func TestAsk(t *testing.T) {
	t.Parallel()
	line, date, err := ask(t.Context(), workerdtest.Binary(t), svctest.ShortDir(t))
	if err != nil || line != workerd.VersionLine || date != workerd.MaxCompatibilityDate {
		t.Errorf("%q, %q, %v", line, date, err)
	}
}

// TestPinsOfThisRepository: the pins are found where they are.
func TestPinsOfThisRepository(t *testing.T) {
	t.Parallel()
	p, err := tree{repository}.read()
	if err != nil || p.Workerd != workerd.Version || p.Wrangler == "" || p.VitePlugin == "" {
		t.Errorf("%+v, %v", p, err)
	}
}

// TestFollow moves the pins of a copy of the repository to a release of a registry of its own, and says what differs.
func TestFollow(t *testing.T) {
	t.Parallel()
	root := copyOfPins(t)
	var out bytes.Buffer
	o := options{root: root, npm: registryOf(t, "9.9.9"), gate: "none", report: "build/follow.md", out: &out}
	green, err := run(t.Context(), o)
	if err != nil || !green {
		t.Fatal(green, err, out.String())
	}
	for file, want := range map[string]string{
		versionFile: `const Version = "9.9.9"`, compatFile: `const MaxCompatibilityDate = "2031-01-08"`,
		"bench/package.json": `"workerd": "9.9.9"`, "bench/differential/package.json": `"wrangler": "9.9.9"`, projectFile: `"@cloudflare/vite-plugin": "9.9.9"`,
		"docs/reference/wrangler-dev.md": "under `wrangler dev` 9.9.9",
	} {
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s has no %s: %v", file, want, err)
		}
	}
	line, _ := os.ReadFile(filepath.Join(root, versionFile))
	if !strings.Contains(string(line), `const VersionLine = "workerd 2031-01-01"`) {
		t.Error("the version line is not moved")
	}
	before, _ := os.ReadFile(filepath.Join(repository, releaseFile))
	after, _ := os.ReadFile(filepath.Join(root, releaseFile))
	if n := strings.Count(string(after), "==\","); n != 4 || bytes.Equal(before, after) {
		t.Errorf("%d checksums:\n%s", n, after)
	}
	report, _ := os.ReadFile(filepath.Join(root, "build/follow.md"))
	for _, want := range []string{"# Follow: not asked", "| workerd | " + workerd.Version + " | 9.9.9 |", "- gone: `formDataParserSupportsFiles", "- new: `RawConfig.key_of_9.9.9`", "- new: `version v9`", "- gone: `version v4`"} {
		if !strings.Contains(string(report), want) {
			t.Errorf("the report has no %q:\n%s", want, report)
		}
	}
	out.Reset()
	if green, err := run(t.Context(), o); err != nil || !green || !strings.HasPrefix(out.String(), "nothing to follow: workerd 9.9.9") {
		t.Errorf("again: %v, %v, %s", green, err, out.String())
	}
}

// TestGate: a part that fails makes the verdict red, and its output is in the report.
func TestGate(t *testing.T) {
	t.Parallel()
	r := report{Gate: []result{gate(t.Context(), t.TempDir(), "differential", pins{}), gate(t.Context(), t.TempDir(), "moon", pins{})}}
	if text := r.text(); !strings.Contains(text, "# Follow: red") || !strings.Contains(text, "| moon | red: there is no part \"moon\"") || !strings.Contains(text, "### differential\n\n```\nmake") {
		t.Errorf("%s", text)
	}
}

// copyOfPins copies the files with pins. The table of flags has one row more than the program of the registry.
func copyOfPins(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for _, pattern := range append([]string{versionFile, compatFile, flagsFile, releaseFile, "docs/reference/wrangler-dev.md"}, pinned...) {
		files, err := filepath.Glob(filepath.Join(repository, pattern))
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err == nil {
				err = write(filepath.Join(root, strings.TrimPrefix(file, repository)), string(text))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	return root
}

// registryOf is an npm whose registry has one version of everything. Its workerd is a script with the schema of the pinned
// program behind it, without the first field.
func registryOf(t *testing.T, version string) (npm string) {
	t.Helper()
	dir := t.TempDir()
	program := "#!/bin/sh\n[ \"$1\" = --version ] && echo 'workerd 2031-01-01' && exit\necho 'but the newest date supported by this server binary is \"2031-01-08\".' >&2\nexit 1\n"
	program += strings.Repeat(" ", word-len(program)%word) + string(schemaOfPinned(t))
	tarball(t, filepath.Join(dir, "workerd.tgz"), map[string]string{"package/bin/workerd": program})
	for _, v := range []string{version, "old"} {
		tarball(t, filepath.Join(dir, "wrangler-"+v+".tgz"), map[string]string{
			"package/config-schema.json": `{"definitions": {"RawConfig": {"properties": {"name": {}, "key_of_` + v + `": {}}}}}`, "package/wrangler-dist/cli.js": `BUILD_OUTPUT_VERSION = "v` + map[bool]string{true: "4", false: "9"}[v == "old"] + `"`,
		})
	}
	script := `#!/bin/sh
case "$1 $2" in
"view "*/workerd-*) cat ` + dir + `/integrity;;
view*) echo '"` + version + `"';;
"pack wrangler@` + version + `") cp ` + dir + `/wrangler-` + version + `.tgz "$4/x.tgz";;
"pack wrangler@"*) cp ` + dir + `/wrangler-old.tgz "$4/x.tgz";;
pack*) cp ` + dir + `/workerd.tgz "$4/x.tgz";;
esac
`
	data, err := os.ReadFile(filepath.Join(dir, "workerd.tgz"))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "integrity"), fmt.Appendf(nil, "%q", checksum(data)), 0o600)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "npm"), []byte(script), 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "npm")
}

// schemaOfPinned is the schema of the pinned program, whose first flag has another name.
func schemaOfPinned(t *testing.T) []byte {
	t.Helper()
	f, err := os.Open(workerdtest.Binary(t))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	program, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	s, err := findSchema(program, flagSchema)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Replace(bytes.Clone(s[:256<<10]), []byte("formDataParserSupportsFiles"), []byte("formDataParserSupportsOther"), 1)
}
