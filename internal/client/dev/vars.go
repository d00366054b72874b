package dev

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"

	"github.com/svcctl/svcctl/internal/client/dotenv"
	"github.com/svcctl/svcctl/internal/svc"
)

// vars reads the developer's variables as wrangler does: .dev.vars.ENV, or else
// .dev.vars; without either, .env, .env.local, .env.ENV and .env.ENV.local, of which
// later ones win. Config.Vars win over files.
func (w *worker) vars() (map[string]string, error) {
	vars := map[string]string{}
	for _, group := range varFiles(w.request.Env) {
		found := false
		for _, name := range group {
			values, err := w.varFile(name)
			if err != nil {
				return nil, err
			}
			found = found || values != nil
			maps.Copy(vars, values)
		}
		if found {
			break
		}
	}
	maps.Copy(vars, w.cfg.Vars)
	return vars, nil
}

// varFiles lists the groups of files in the order of preference.
func varFiles(env string) [][]string {
	if env == "" {
		return [][]string{{".dev.vars"}, {".env", ".env.local"}}
	}
	return [][]string{{".dev.vars." + env}, {".dev.vars"}, {".env", ".env.local", ".env." + env, ".env." + env + ".local"}}
}

// varPaths are the paths of all files that vars may read.
func (w *worker) varPaths() (paths []string) {
	for _, group := range varFiles(w.request.Env) {
		for _, name := range group {
			paths = append(paths, filepath.Join(w.configDir, name))
		}
	}
	return paths
}

// varFile reads one file; nil if it does not exist.
func (w *worker) varFile(name string) (map[string]string, error) {
	data, err := os.ReadFile(filepath.Join(w.configDir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	values, err := dotenv.Parse(data)
	if err != nil {
		return nil, svc.Errorf(svc.Unprocessable, svc.CodeVarsInvalid, "%s: %v", name, err)
	}
	return values, nil
}
