package project

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/svcctl/svcctl/internal/svc"
)

// adapters are packages whose build writes the project file that is deployed, with main in it. The
// project's own file may lack main, or may be missing.
//
//nolint:gochecknoglobals // a constant table
var adapters = []string{"@astrojs/cloudflare", "@cloudflare/vite-plugin", "nitro-cloudflare-dev"}

// adapter is the package of the project whose build writes the project file; "" for none.
func adapter(dir string) string {
	i := slices.IndexFunc(adapters, manifestOf(dir).uses)
	if i < 0 {
		return ""
	}
	return adapters[i]
}

// unbuiltProject is the project of a directory whose project file its build writes. A check accepts
// it, and a deploy asks for the build. It has no File for any other directory.
func unbuiltProject(dir string, opts Options) (foundFile, []Notice, error) {
	for !isFile(filepath.Join(dir, "package.json")) {
		if dir == filepath.Dir(dir) {
			return foundFile{}, nil, nil
		}
		dir = filepath.Dir(dir)
	}
	by, command := adapter(dir), BuildCommand(dir)
	if by == "" || command == "" {
		return foundFile{}, nil, nil
	}
	if !opts.Unbuilt {
		return foundFile{}, nil, svc.Errorf(svc.Unprocessable, svc.CodeConfigNotFound, "no wrangler.jsonc, wrangler.json or wrangler.toml in %s: the build of the project writes one (%s)", dir, by).
			WithHint("build the project first: %s", command)
	}
	notice := Notice{Info, dir, fmt.Sprintf("the project file is what the build of the project writes (%s): run %s before a deploy", by, command)}
	return foundFile{File: &File{Dir: dir, Root: dir, ToBuild: command}}, []Notice{notice}, nil
}
