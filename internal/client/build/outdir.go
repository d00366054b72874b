package build

import (
	"fmt"
	"os"
	"path"
)

// WriteModules writes the modules of the worker and their source maps below dir, which is
// created. Other files of the directory stay.
func (r *Result) WriteModules(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // as the sources beside it
		return err
	}
	root, err := os.OpenRoot(dir) // a name of a module cannot lead out of it
	if err != nil {
		return err
	}
	defer root.Close()
	for _, m := range r.Modules {
		files := map[string][]byte{m.Name: m.Content}
		if m.SourceMap != nil {
			files[m.Name+".map"] = m.SourceMap
		}
		for name, content := range files {
			err := root.MkdirAll(path.Dir(name), 0o755)
			if err == nil {
				err = root.WriteFile(name, content, 0o644)
			}
			if err != nil {
				return fmt.Errorf("write the module %s: %w", name, err)
			}
		}
	}
	return nil
}
