package peer

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/svcctl/svcctl/bench/internal/proc"
)

// Native starts a fixture in workerd itself, which reads the project file and
// keeps KV and D1 in SQLite files of its own. It has no R2 and no Cache API.
func (p *Peers) Native(ctx context.Context, fixture string) (*Running, error) {
	dir, err := p.dir("native")
	if err != nil {
		return nil, err
	}
	if err := p.unbundled(fixture, dir); err != nil {
		return nil, err
	}
	port, err := proc.FreePort(ctx)
	if err != nil {
		return nil, err
	}
	return run(ctx, proc.Spec{
		Args: []string{p.Workerd, "serve", "--experimental", "wrangler.jsonc", "-s", fmt.Sprintf("http=127.0.0.1:%d", port)}, Dir: dir,
	}, "localhost", port)
}

// unbundled copies a fixture that needs no bundler, and tells workerd so.
func (p *Peers) unbundled(fixture, dir string) error {
	if err := os.CopyFS(dir, os.DirFS(p.fixture(fixture))); err != nil {
		return err
	}
	file := filepath.Join(dir, "wrangler.jsonc")
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var project map[string]any
	if err := json.Unmarshal(text, &project); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	project["no_bundle"] = true
	if text, err = json.Marshal(project); err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o600)
}
