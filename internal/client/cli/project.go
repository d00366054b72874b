package cli

import (
	"path/filepath"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/client/project"
)

// projectOr gives the named project, else the one of the worker directory that
// the command runs in.
func projectOr(k *kit.Kit, name string) (string, error) {
	if name != "" {
		return name, nil
	}
	file, _, err := project.Load(workDir(k, ""), project.Options{})
	if err != nil || file.Name == "" {
		return "", kit.Usagef("%v", errNoProject)
	}
	return file.Name, nil
}

// versionOf reads "[project/]version", with the project of --project or of the
// worker directory.
func versionOf(k *kit.Kit, arg, named string) (inProject, id string, err error) {
	if named, id, err = splitRef(arg, named); err != nil {
		return "", "", err
	}
	inProject, err = projectOr(k, named)
	return inProject, id, err
}

// workDir is dir as seen from --cwd and the working directory.
func workDir(k *kit.Kit, dir string) string {
	for _, base := range []string{k.CWD, k.Dir} {
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(base, dir)
		}
	}
	return dir
}
