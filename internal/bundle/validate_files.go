package bundle

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/svcctl/svcctl/internal/svc"
)

// badText reports whether s is too long, not UTF-8 or has control characters, which
// break headers and terminals.
func badText(s string) bool {
	return len(s) > maxNameBytes || !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl)
}

// badLine reports whether a text of a rule cannot be a part of a header.
func badLine(s string) bool {
	return len(s) > maxRuleBytes || !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl)
}

func (p *problems) migrations(m Manifest) {
	seen := map[string]bool{}
	for i, mig := range m.Migrations {
		at := "/migrations/" + strconv.Itoa(i)
		p.filesFor(m, mig.Binding, at, "migrations", seen)
		if !tablePattern().MatchString(mig.Table) {
			p.add(at+"/table", svc.CodeManifestInvalid, "%q is not a table name of letters, digits and '_'", mig.Table)
		}
		for j, f := range mig.Files {
			p.file(at+"/files/"+strconv.Itoa(j), f, MigrationPath(mig.Binding, ""))
		}
	}
}

func (p *problems) seeds(m Manifest) {
	seen := map[string]bool{}
	for i, s := range m.Seeds {
		at := "/seeds/" + strconv.Itoa(i)
		p.filesFor(m, s.Binding, at, "seeds", seen)
		for j, f := range s.Files {
			p.seed(at+"/files/"+strconv.Itoa(j), f, s.Binding)
		}
	}
}

// filesFor checks that files are listed for a binding of m, and once.
func (p *problems) filesFor(m Manifest, binding, at, files string, seen map[string]bool) {
	bound := slices.ContainsFunc(m.Bindings, func(b Binding) bool { return b.Name == binding })
	switch {
	case !bound:
		p.add(at+"/binding", svc.CodeManifestInvalid, "unknown binding %q", binding)
	case seen[binding]:
		p.add(at+"/binding", svc.CodeManifestInvalid, "the %s of %q are listed twice", files, binding)
	}
	seen[binding] = true
}

// seed checks that f is seed/<binding>.<ext> or below seed/<binding>/.
func (p *problems) seed(at string, f File, binding string) {
	p.file(at, f, seedsDir)
	rest, below := strings.CutPrefix(f.Path, seedsDir)
	if !below {
		return // reported by file
	}
	name, isDir := strings.CutPrefix(rest, binding+"/")
	ext, isFile := strings.CutPrefix(rest, binding+".")
	if (!isDir || name == "") && (!isFile || ext == "" || strings.Contains(ext, "/")) {
		p.add(at+"/path", svc.CodeManifestInvalid, "the path %q is neither seed/%s.<ext> nor below seed/%s/", f.Path, binding, binding)
	}
}

func (p *problems) sourceMaps(m Manifest) {
	for i, f := range m.SourceMaps {
		at := "/source_maps/" + strconv.Itoa(i)
		p.file(at, f, sourceMapsDir)
		if module, ok := strings.CutSuffix(strings.TrimPrefix(f.Path, sourceMapsDir), ".map"); !ok || !m.hasModule(module) {
			p.add(at+"/path", svc.CodeManifestInvalid, "%q belongs to no module: want sourcemaps/<module>.map", f.Path)
		}
	}
}

func (m Manifest) hasModule(name string) bool {
	return slices.ContainsFunc(m.Modules, func(mod Module) bool { return mod.Name == name })
}

func (p *problems) file(at string, f File, dir string) {
	why := badPath(f.Path)
	switch {
	case why != "":
		p.add(at+"/path", svc.CodeManifestInvalid, "the path %q %s", f.Path, why)
	case !strings.HasPrefix(f.Path, dir):
		p.add(at+"/path", svc.CodeManifestInvalid, "the path %q is not below %s", f.Path, dir)
	}
	p.content(at, f.SHA256, f.Size)
}

// paths reports paths that cannot be files of one directory: duplicates, and files
// below another file.
func (p *problems) paths(m Manifest) {
	files := m.files()
	seen := make(map[string]bool, len(files))
	for _, f := range files {
		if seen[f.Path] {
			p.add(f.pointer, svc.CodeManifestInvalid, "%q is listed twice", f.Path)
		}
		seen[f.Path] = true
	}
	for _, f := range files {
		for dir := path.Dir(f.Path); dir != "." && dir != "/"; dir = path.Dir(dir) {
			if seen[dir] {
				p.add(f.pointer, svc.CodeManifestInvalid, "%q is a file, so %q cannot be one", dir, f.Path)
				break
			}
		}
	}
}

// listed is a file of the manifest and the JSON pointer to it.
type listed struct {
	File
	pointer string
}

func (m Manifest) files() []listed {
	var all []listed
	for i, mod := range m.Modules {
		all = append(all, listed{File{ModulePath(mod.Name), mod.SHA256, mod.Size}, "/modules/" + strconv.Itoa(i) + "/name"})
	}
	for i, s := range m.Seeds {
		for j, f := range s.Files {
			all = append(all, listed{f, "/seeds/" + strconv.Itoa(i) + "/files/" + strconv.Itoa(j) + "/path"})
		}
	}
	for i, mig := range m.Migrations {
		for j, f := range mig.Files {
			all = append(all, listed{f, "/migrations/" + strconv.Itoa(i) + "/files/" + strconv.Itoa(j) + "/path"})
		}
	}
	for i, f := range m.SourceMaps {
		all = append(all, listed{f, "/source_maps/" + strconv.Itoa(i) + "/path"})
	}
	if m.Assets != nil {
		for i, f := range m.Assets.Files {
			all = append(all, listed{f, "/assets/files/" + strconv.Itoa(i) + "/path"})
		}
	}
	return all
}

// Files lists every file of the version except the manifest.
func (m Manifest) Files() []File {
	all := m.files()
	files := make([]File, len(all))
	for i, f := range all {
		files[i] = f.File
	}
	return files
}

// detached reports whether the assets are not in the bundle.
func (m Manifest) detached() bool { return m.Assets != nil && m.Assets.Detached }

// packed lists the files that are in the bundle.
func (m Manifest) packed() []File {
	if m.detached() {
		attached := *m.Assets
		attached.Files = nil
		m.Assets = &attached
	}
	return m.Files()
}
