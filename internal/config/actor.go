package config

import (
	"cmp"
	"os"
	"os/user"
	"strconv"
)

// actor names who svcctl acts for, for the audit record of the server: what the environment says, else
// the run of a pipeline, else the user of this machine.
func actor(env map[string]string) string {
	switch {
	case env["SVCCTL_ACTOR"] != "":
		return env["SVCCTL_ACTOR"]
	case env["GITHUB_ACTOR"] != "":
		return run(env["GITHUB_ACTOR"], env["GITHUB_REPOSITORY"], env["GITHUB_RUN_ID"])
	case env["GITLAB_USER_LOGIN"] != "":
		return run(env["GITLAB_USER_LOGIN"], env["CI_PROJECT_PATH"], env["CI_PIPELINE_ID"])
	}
	return cmp.Or(env["USER"], env["LOGNAME"], env["USERNAME"], account())
}

// run names the person and the run of a pipeline.
func run(person, repository, id string) string {
	if id == "" {
		return person
	}
	return person + ", " + repository + " run " + id
}

// account is the name of the user that runs the process, or its number: containers often have no
// name for it.
func account() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	if id := os.Getuid(); id >= 0 {
		return "user " + strconv.Itoa(id)
	}
	return ""
}
