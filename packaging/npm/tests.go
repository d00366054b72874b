package main

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
)

// helper are the files of @svcctl/test, which has no program: it is the same for all platforms.
//
//go:embed test
var helper embed.FS

// helperPackage is @svcctl/test of a version.
func helperPackage(version string) (pkg, error) {
	p := pkg{manifest: newManifest("@svcctl/test", version)}
	err := fs.WalkDir(helper, "test", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := helper.ReadFile(path)
		if err != nil {
			return err
		}
		if d.Name() == "package.json" {
			p.text = bytes.Replace(text, []byte(`"version": "0.0.0"`), fmt.Appendf(nil, `"version": %q`, version), 1)
			return nil
		}
		p.files = append(p.files, file{d.Name(), text, false})
		return nil
	})
	if err != nil {
		return pkg{}, fmt.Errorf("read the files of @svcctl/test: %w", err)
	}
	return p, nil
}
