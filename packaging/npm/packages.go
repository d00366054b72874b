package main

import (
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"

	"github.com/svcctl/svcctl/internal/host/provision"
)

// launcher are the files of the package that has the command.
//
//go:embed svcctl.js install.js svcctl.md client.md
var launcher embed.FS

// product is a program for which there are packages.
type product struct {
	build  string // the id of its builds in goreleaser.yaml
	name   string // of the package that has the command
	prefix string // of the packages that have the program: PREFIX-OS-CPU
	readme string
	server bool // it needs workerd
}

func products() []product {
	return []product{
		{"svcctl", "svcctl", "@svcctl/full", "svcctl.md", true},
		{"svcctl-client", "@svcctl/client", "@svcctl/client", "client.md", false},
	}
}

// program is an entry of goreleaser's artifacts.json.
type program struct {
	Type, Path, Goos, Goarch string
	Extra                    struct{ ID string }
}

// manifest is the package.json of a package.
type manifest struct {
	Name                 string            `json:"name"`
	Version              string            `json:"version"`
	Description          string            `json:"description"`
	License              string            `json:"license"`
	Homepage             string            `json:"homepage"`
	Repository           map[string]string `json:"repository"`
	OS                   []string          `json:"os,omitempty"`
	CPU                  []string          `json:"cpu,omitempty"`
	PreferUnplugged      bool              `json:"preferUnplugged,omitempty"`
	Bin                  map[string]string `json:"bin,omitempty"`
	Engines              map[string]string `json:"engines,omitempty"`
	Scripts              map[string]string `json:"scripts,omitempty"`
	Dependencies         map[string]string `json:"dependencies,omitempty"`
	OptionalDependencies map[string]string `json:"optionalDependencies,omitempty"`
}

func newManifest(name, version string) manifest {
	const home = "https://github.com/svcctl/svcctl"
	return manifest{
		Name: name, Version: version, Description: "Self-hosted, versioned deployments for Workers", License: "Apache-2.0",
		Homepage: home, Repository: map[string]string{"type": "git", "url": "git+" + home + ".git"},
	}
}

// packages returns the packages of a product. The paths of programs begin at root.
func (p product) packages(version string, built []program, root string) ([]pkg, error) {
	platforms := map[string]pkg{}
	for _, b := range built {
		if b.Type != "Binary" || b.Extra.ID != p.build {
			continue
		}
		one, err := p.platform(version, b, root)
		if err != nil {
			return nil, err
		}
		platforms[one.manifest.Name] = one
	}
	if len(platforms) == 0 {
		return nil, fmt.Errorf("no program of the build %s is among the artifacts", p.build)
	}
	command := newManifest(p.name, version)
	command.Bin = map[string]string{"svcctl": "svcctl.js"}
	command.Engines = map[string]string{"node": ">=18"}
	command.Scripts = map[string]string{"postinstall": "node install.js"}
	command.OptionalDependencies = map[string]string{}
	for name := range platforms {
		command.OptionalDependencies[name] = version
	}
	out := pkg{manifest: command}
	for _, f := range []struct{ from, name string }{{"svcctl.js", "svcctl.js"}, {"install.js", "install.js"}, {p.readme, "README.md"}} {
		text, err := launcher.ReadFile(f.from)
		if err != nil {
			return nil, fmt.Errorf("read a file of the launcher: %w", err)
		}
		out.files = append(out.files, file{f.name, text, false})
	}
	all := []pkg{out}
	for one := range maps.Values(platforms) {
		all = append(all, one)
	}
	return all, nil
}

// platform returns the package that has one program.
func (p product) platform(version string, b program, root string) (pkg, error) {
	data, err := os.ReadFile(filepath.Join(root, b.Path))
	if err != nil {
		return pkg{}, fmt.Errorf("read a program: %w", err)
	}
	cpu := cmp.Or(map[string]string{"amd64": "x64"}[b.Goarch], b.Goarch) // as Node.js calls it
	m := newManifest(p.prefix+"-"+b.Goos+"-"+cpu, version)
	m.OS, m.CPU, m.PreferUnplugged = []string{b.Goos}, []string{cpu}, true
	release := provision.Pinned()
	if workerd, ok := release.Packages[b.Goos+"/"+b.Goarch]; ok && p.server {
		m.Dependencies = map[string]string{workerd.Name: release.Version}
	}
	return pkg{manifest: m, files: []file{{"bin/svcctl", data, true}, {"README.md", []byte("The program of the package " + p.name + " for " + b.Goos + " on " + cpu + ".\n"), false}}}, nil
}

func (m manifest) text() ([]byte, error) {
	text, err := json.MarshalIndent(m, "", "  ")
	return append(text, '\n'), err
}
