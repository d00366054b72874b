package provision

import (
	"os"
	"path/filepath"
	"strings"
)

// ofNPM returns where npm, and what is like it, may have installed workerd with a program: in the
// directories where Node.js looks for the packages that the program's package needs. Without a
// digest to compare a program that lies about is not used.
func (in *installer) ofNPM(program string) (paths []string) {
	const modules = "node_modules"
	pkg := in.release.Packages[in.platform]
	if pkg.Binary == "" || !strings.Contains(program, string(filepath.Separator)+modules+string(filepath.Separator)) {
		return nil
	}
	for dir := filepath.Dir(program); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		path := filepath.Join(dir, modules, filepath.FromSlash(pkg.Name), "bin", "workerd")
		if _, err := os.Stat(path); err == nil {
			paths = append(paths, path)
		}
	}
	return paths
}
