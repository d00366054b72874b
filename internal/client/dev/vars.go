package dev

import (
	"maps"
	"path/filepath"

	"github.com/svcctl/svcctl/internal/client/dotenv"
	"github.com/svcctl/svcctl/internal/svc"
)

// vars reads the developer's variables as wrangler does. Config.Vars win over files.
func (w *worker) vars() (map[string]string, error) {
	vars, notes, err := dotenv.Load(w.configDir, w.request.Env)
	if err != nil {
		return nil, svc.Errorf(svc.Unprocessable, svc.CodeVarsInvalid, "%v", err).Because(err)
	}
	for _, note := range notes {
		w.out.once(note)
	}
	maps.Copy(vars, w.cfg.Vars)
	return vars, nil
}

// varPaths are the paths of all files that vars may read.
func (w *worker) varPaths() (paths []string) {
	for _, group := range dotenv.Files(w.request.Env) {
		for _, name := range group {
			paths = append(paths, filepath.Join(w.configDir, name))
		}
	}
	return paths
}
