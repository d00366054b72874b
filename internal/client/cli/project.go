package cli

import (
	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/client/project"
	"github.com/svcctl/svcctl/pkg/client"
)

// projectOr gives the named project, else the one of the worker directory that
// the command runs in. On a terminal, the person chooses one if there is neither.
func projectOr(k *kit.Kit, name string) (string, error) {
	if name != "" {
		return name, nil
	}
	file, _, err := project.Load(k.Path(""), project.Options{Environ: k.Environ, Engine: k.Engine})
	if err == nil && file.Name != "" {
		return file.Name, nil
	}
	if k.ChooseProject != nil {
		if chosen, err := k.ChooseProject(); chosen != "" || err != nil {
			return chosen, err
		}
	}
	return "", kit.Usagef("%v", errNoProject)
}

// projectAt is projectOr with the client of the server that has the project.
func projectAt(k *kit.Kit, named string) (c *client.Client, inProject string, err error) {
	if inProject, err = projectOr(k, named); err == nil {
		c, err = k.Client()
	}
	return c, inProject, err
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

// versionAt is versionOf with the client of the server that has the version.
//
//nolint:revive // four results: every caller takes them apart
func versionAt(k *kit.Kit, arg, named string) (c *client.Client, inProject, id string, err error) {
	if inProject, id, err = versionOf(k, arg, named); err == nil {
		c, err = k.Client()
	}
	return c, inProject, id, err
}
