package evaluate

import (
	"fmt"
	"path/filepath"

	"github.com/svcctl/svcctl/internal/client/esbuild"
	"github.com/svcctl/svcctl/internal/lib/sourcemap"
)

// bundled is the files of a request as one module.
type bundled struct {
	name   string // of cloudflare.config.ts, as messages show it
	source []byte
	places *sourcemap.Map
	inputs []string
}

func bundle(req Request) (*bundled, error) {
	files := map[string]string{"config": req.File}
	if req.Tooling != "" {
		files["tooling"] = req.Tooling
	}
	p, err := esbuild.Programs(filepath.Dir(req.File), files)
	if err != nil {
		return nil, err
	}
	b := &bundled{name: filepath.Base(req.File), source: p.Source, inputs: p.Inputs}
	if b.places, err = sourcemap.Parse(p.Map); err != nil {
		return nil, fmt.Errorf("reading the map of %s: %w", b.name, err)
	}
	return b, nil
}
