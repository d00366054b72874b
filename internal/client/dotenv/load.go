package dotenv

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Files lists the groups of a developer's files of variables, in the order of preference: the first group that
// exists is read, and of its files later ones win. env is an environment of the project file; "" for its top level.
func Files(env string) [][]string {
	if env == "" {
		return [][]string{{".dev.vars"}, {".env", ".env.local"}}
	}
	return [][]string{{".dev.vars." + env}, {".dev.vars"}, {".env", ".env.local", ".env." + env, ".env." + env + ".local"}}
}

// Load reads a developer's variables in dir, as wrangler does. Only those of .env are expanded. notes are suspect
// lines, with the names of their files and without any value.
func Load(dir, env string) (vars map[string]string, notes []string, err error) {
	groups := Files(env)
	for i, group := range groups {
		var files [][]Var
		for _, name := range group {
			data, err := os.ReadFile(filepath.Join(dir, name))
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return nil, nil, fmt.Errorf("reading %s: %w", name, err)
			}
			list, problems := Read(data)
			for _, p := range problems {
				notes = append(notes, name+": "+p.Error())
			}
			files = append(files, list)
		}
		switch {
		case len(files) == 0:
			continue
		case i == len(groups)-1:
			return Expand(files...), notes, nil
		}
		vars = map[string]string{}
		for _, v := range files[0] {
			vars[v.Name] = v.Value
		}
		return vars, notes, nil
	}
	return map[string]string{}, nil, nil
}
