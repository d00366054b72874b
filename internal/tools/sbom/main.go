// Command sbom writes the bill of materials of a Go binary as CycloneDX 1.5: the modules
// that are linked into it, as the binary itself names them, and its digest. For a Linux svcd
// it adds the workerd of its package.
//
//	sbom -o OUT [-workerd DIR] BINARY
//
// DIR is what scripts/fetch-workerd filled.
package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

type hash struct {
	Alg     string `json:"alg"`
	Content string `json:"content"`
}

type component struct {
	Type    string `json:"type"`
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	PURL    string `json:"purl,omitempty"`
	Hashes  []hash `json:"hashes,omitempty"`
}

type document struct {
	Format      string      `json:"bomFormat"`
	SpecVersion string      `json:"specVersion"`
	Version     int         `json:"version"`
	Metadata    metadata    `json:"metadata"`
	Components  []component `json:"components"`
}

type metadata struct {
	Component component `json:"component"`
}

func main() {
	out := flag.String("o", "", "file to write")
	workerd := flag.String("workerd", "", "directory of the fetched workerd")
	flag.Parse()
	if err := run(*out, *workerd, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func run(out, workerd string, args []string) error {
	if out == "" || len(args) != 1 {
		return errors.New("want -o OUT BINARY")
	}
	info, err := buildinfo.ReadFile(args[0])
	if err != nil {
		return err
	}
	digest, err := sum(args[0])
	if err != nil {
		return err
	}
	d := document{Format: "CycloneDX", SpecVersion: "1.5", Version: 1, Components: modules(info)}
	d.Metadata.Component = component{Type: "application", Name: filepath.Base(info.Path), Version: info.Main.Version, Hashes: digest}
	if filepath.Base(info.Path) == "svcd" && workerd != "" {
		packaged, err := packagedWorkerd(filepath.Join(workerd, setting(info, "GOOS")+"-"+setting(info, "GOARCH")))
		if err != nil {
			return err
		}
		d.Components = append(d.Components, packaged...)
	}
	text, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(out, append(text, '\n'), 0o644) //nolint:gosec // a public document
}

// modules lists what is linked in, Go's own library first.
func modules(info *buildinfo.BuildInfo) []component {
	all := []component{{Type: "library", Name: "stdlib", Version: info.GoVersion, PURL: "pkg:golang/stdlib@" + info.GoVersion[len("go"):]}}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		all = append(all, component{Type: "library", Name: m.Path, Version: m.Version, PURL: "pkg:golang/" + m.Path + "@" + m.Version})
	}
	return all
}

// packagedWorkerd is the workerd of a platform; none for one without a package.
func packagedWorkerd(dir string) ([]component, error) {
	found, err := filepath.Glob(filepath.Join(dir, "workerd", "*", "workerd"))
	if err != nil || len(found) == 0 {
		return nil, err
	}
	digest, err := sum(found[0])
	if err != nil {
		return nil, err
	}
	name := "workerd-linux-64"
	if filepath.Base(dir) == "linux-arm64" {
		name = "workerd-linux-arm64"
	}
	version := filepath.Base(filepath.Dir(found[0]))
	return []component{{Type: "application", Name: "workerd", Version: version, PURL: "pkg:npm/%40cloudflare/" + name + "@" + version, Hashes: digest}}, nil
}

func setting(info *buildinfo.BuildInfo, key string) string {
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}

func sum(path string) ([]hash, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return nil, err
	}
	return []hash{{"SHA-256", hex.EncodeToString(h.Sum(nil))}}, nil
}
